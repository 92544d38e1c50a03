"""Which calls may overlap; run them so, and commit them in the model's order."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import anyio

from turnbuckle.session.parts import Call
from turnbuckle.tools.hooks import Execution
from turnbuckle.tools.tool import Outcome


@dataclass(slots=True)
class Slot:
    """One call of a step, and where it stands."""

    call: Call
    parallel: bool
    called: bool = False
    started: bool = False
    execution: Execution | None = None
    outcome: Outcome | None = None
    fault: Exception | None = None
    committed: bool = False


def batches(slots: Sequence[Slot]) -> list[list[Slot]]:
    """Split calls, in order, so that an exclusive call is always alone."""
    result: list[list[Slot]] = []
    for slot in slots:
        if result and slot.parallel and result[-1][-1].parallel:
            result[-1].append(slot)
        else:
            result.append([slot])
    return result


async def schedule(
    slots: Sequence[Slot],
    *,
    work: Callable[[Slot], Awaitable[Outcome]],
    commit: Callable[[Slot], Awaitable[None]],
    abandon: Callable[[Slot], None],
) -> None:
    """Run batch after batch; `abandon` sees every call that was not committed, on every way out.

    Raises:
        Exception: what `work` or `commit` raised; it is a fault, since a tool's failure is an
            outcome. What had its outcome before is committed first, and nothing else begins.
    """
    try:
        for batch in batches(slots):
            await _run(batch, work, commit)
            for slot in batch:
                if slot.fault:
                    raise slot.fault
    finally:
        for slot in slots:
            if not slot.committed:
                abandon(slot)


async def _run(
    batch: Sequence[Slot],
    work: Callable[[Slot], Awaitable[Outcome]],
    commit: Callable[[Slot], Awaitable[None]],
) -> None:
    news = anyio.Event()
    faulty = False

    async def settle(slot: Slot) -> None:
        nonlocal faulty
        try:
            slot.outcome = await work(slot)
        except Exception as error:
            slot.fault, faulty = error, True  # no exception leaves a task group's child
        # Not on cancellation: a waiter that wakes now could commit before it is cancelled itself.
        news.set()

    async with anyio.create_task_group() as tasks:
        for slot in batch:
            tasks.start_soon(settle, slot)
        for slot in batch:
            while slot.outcome is None and not faulty:
                await news.wait()
                news = anyio.Event()
            if slot.outcome is None:
                break  # a fault ends the batch, and what still runs or waits in it
            try:
                await commit(slot)
            except Exception as error:
                slot.fault = error
                break
        else:
            return
        tasks.cancel_scope.cancel()
