"""Which calls may overlap, and in what order they are committed."""

import itertools

import anyio
import anyio.lowlevel
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


async def test_a_commit_that_fails_stops_the_rest_and_every_call_is_accounted_for() -> None:
    run = Run()
    commit = run.commit

    async def broken(slot: Slot) -> None:
        if slot.call.call_id == "1":
            raise RuntimeError("the scheduler's own")
        await commit(slot)

    with pytest.raises(RuntimeError, match="own"):
        await schedule(
            slots_of([True, True, True, False]), work=run.work, commit=broken, abandon=run.abandon
        )
    assert run.events[-4:] == ["commit 0", "abandon 1", "abandon 2", "abandon 3"]
    assert "start 3" not in run.events


async def test_a_fault_waits_for_no_call_that_may_never_end() -> None:
    run = Run()
    run.fault["2"] = RuntimeError("the disk")

    async def hang_first(slot: Slot) -> Outcome:
        if slot.call.call_id == "0":
            run.events.append("start 0")
            await anyio.sleep_forever()
        return await run.work(slot)

    with anyio.fail_after(10), pytest.raises(RuntimeError, match="disk"):
        await schedule(
            slots_of([True, True, True, True]),
            work=hang_first, commit=run.commit, abandon=run.abandon,
        )  # fmt: skip
    assert run.events[-4:] == ["abandon 0", "abandon 1", "abandon 2", "abandon 3"]


async def test_a_call_that_will_not_be_cancelled_keeps_what_it_came_to() -> None:
    run, kept = Run(), list[Outcome | None]()
    run.fault["1"] = RuntimeError("the disk")

    async def stubborn_first(slot: Slot) -> Outcome:
        if slot.call.call_id != "0":
            return await run.work(slot)
        try:
            await anyio.sleep_forever()
        except BaseException:
            return Outcome(content="half")
        raise AssertionError

    with pytest.raises(RuntimeError, match="disk"):
        await schedule(
            slots_of([True, True]), work=stubborn_first, commit=run.commit,
            abandon=lambda slot: kept.append(slot.outcome),
        )  # fmt: skip
    assert kept == [Outcome(content="half"), None]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=1, max_size=8), st.data())
async def test_whatever_happens_each_call_is_committed_or_abandoned_once_and_in_order(
    plan: list[tuple[bool, int]], data: st.DataObject
) -> None:
    """Calls end after some turns of the loop; one may fail; a cancel may come at any turn."""
    fails = data.draw(st.none() | st.integers(0, len(plan) - 1))
    cancel_after = data.draw(st.none() | st.integers(0, 12))
    done: list[str] = []

    async def work(slot: Slot) -> Outcome:
        number = int(slot.call.call_id)
        for _ in range(plan[number][1]):
            await anyio.lowlevel.checkpoint()
        if number == fails:
            raise RuntimeError
        return Outcome(content="ok")

    async def commit(slot: Slot) -> None:
        await anyio.lowlevel.checkpoint()
        slot.committed = True
        done.append(f"commit {slot.call.call_id}")

    async def stop() -> None:
        for _ in range(cancel_after or 0):
            await anyio.lowlevel.checkpoint()
        if cancel_after is not None:
            scope.cancel()

    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stop)
            try:
                await schedule(
                    slots_of([parallel for parallel, _ in plan]), work=work, commit=commit,
                    abandon=lambda slot: done.append(f"abandon {slot.call.call_id}"),
                )  # fmt: skip
            except RuntimeError:
                assert fails is not None
    assert [line.partition(" ")[2] for line in done] == [str(n) for n in range(len(plan))]
    kinds = [line.partition(" ")[0] for line in done]
    assert kinds == sorted(kinds, reverse=True)  # all commits, then all that was abandoned
