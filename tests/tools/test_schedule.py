"""Which calls may overlap, and in what order they are committed."""

import itertools

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.session.parts import Call
from turnbuckle.tools.schedule import Slot, batches, schedule
from turnbuckle.tools.tool import Outcome


def slots_of(modes: list[bool]) -> list[Slot]:
    return [
        Slot(Call(call_id=str(n), name="t", arguments=""), parallel=parallel)
        for n, parallel in enumerate(modes)
    ]


@given(st.lists(st.booleans(), max_size=12))
def test_order_is_kept_exclusive_is_alone_and_batches_are_as_large_as_can_be(
    modes: list[bool],
) -> None:
    slots = slots_of(modes)
    split = batches(slots)
    assert [slot for batch in split for slot in batch] == slots
    for batch in split:
        assert len(batch) == 1 or all(slot.parallel for slot in batch)
    for left, right in itertools.pairwise(split):
        assert not (left[-1].parallel and right[0].parallel)


class Run:
    """Runs slots and writes down what happened."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.gates: dict[str, anyio.Event] = {}
        self.fault: dict[str, Exception] = {}

    async def work(self, slot: Slot) -> Outcome:
        call_id = slot.call.call_id
        self.events.append(f"start {call_id}")
        if gate := self.gates.get(call_id):
            await gate.wait()
        if fault := self.fault.get(call_id):
            raise fault
        for opened in (gate for name, gate in self.gates.items() if name < call_id):
            opened.set()
        return Outcome(content=call_id)

    async def commit(self, slot: Slot) -> None:
        slot.committed = True
        self.events.append(f"commit {slot.call.call_id}")

    def abandon(self, slot: Slot) -> None:
        self.events.append(f"abandon {slot.call.call_id}")

    async def of(self, modes: list[bool]) -> None:
        await schedule(slots_of(modes), work=self.work, commit=self.commit, abandon=self.abandon)


async def test_results_are_committed_in_the_models_order_whatever_settles_first() -> None:
    run = Run()
    run.gates["0"] = anyio.Event()
    await run.of([True, True])
    assert run.events == ["start 0", "start 1", "commit 0", "commit 1"]


async def test_an_exclusive_call_begins_when_all_before_it_are_committed() -> None:
    run = Run()
    await run.of([True, True, False, True])
    assert run.events == [
        "start 0", "start 1", "commit 0", "commit 1",
        "start 2", "commit 2", "start 3", "commit 3",
    ]  # fmt: skip


async def test_a_fault_stops_the_rest_and_every_call_is_accounted_for() -> None:
    run = Run()
    run.fault["1"] = RuntimeError("the scheduler's own")
    with pytest.raises(RuntimeError, match="own"):
        await run.of([True, True, True, False])
    assert run.events[-3:] == ["abandon 1", "abandon 2", "abandon 3"]
    assert "commit 0" in run.events


@pytest.mark.parametrize("cancel_at", ["start 0", "start 1", "commit 0"])
async def test_a_cancel_abandons_what_was_not_committed(cancel_at: str) -> None:
    run = Run()
    run.gates |= {"0": anyio.Event(), "2": anyio.Event()}

    class Watch(list[str]):
        def append(self, event: str) -> None:
            super().append(event)
            if event == cancel_at:
                scope.cancel()

    run.events = Watch()
    with anyio.CancelScope() as scope:
        await run.of([True, True, False])
    committed = {event for event in run.events if event.startswith("commit")}
    abandoned = [event for event in run.events if event.startswith("abandon")]
    assert len(committed) + len(abandoned) == 3
    assert scope.cancelled_caught
