"""A stored session played in the terminal, through what shows a live one."""

from collections.abc import Iterator
from pathlib import Path

import anyio
from anyio import to_thread

from turnbuckle.cli.exits import CANCELLED, COMPLETED, ENDED_OTHERWISE, NOT_RUN
from turnbuckle.cli.lines import line
from turnbuckle.cli.narration import Narration
from turnbuckle.cli.stage import Stage
from turnbuckle.cli.stored import the_file
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import PluginFact, RequestHeader
from turnbuckle.session.reading import Unreadable, load

LONGEST = 2.0
"""Seconds that nothing happens at most, before `speed` counts."""

FASTEST = 1_000_000.0


async def replay(stage: Stage, *, state: Path, session_id: str, speed: float | None) -> int:
    """Play a session and give the exit code; without `speed` nothing is waited for."""
    try:
        stored = await to_thread.run_sync(lambda: load(the_file(state, session_id)))
    except Unreadable as error:
        stage.screen.complain([line(str(error), "bad")])
        return NOT_RUN
    with anyio.CancelScope() as played:
        stage.leave.interrupt = played.cancel
        await _play(stage, stored.entries, speed)
    stage.leave.interrupt = None
    stage.activity.end()
    if played.cancelled_caught:
        return CANCELLED
    if stored.damaged is None:
        return COMPLETED
    stage.screen.complain([line(stored.damaged, "bad")])
    return ENDED_OTHERWISE


async def _play(stage: Stage, entries: list[Entry], speed: float | None) -> None:
    narration = Narration(echo=True, subjects=True)
    for entry, wait in timed(entries):
        # Also where nothing is waited for: Ctrl-C is heeded in between.
        await anyio.sleep(wait / speed if speed is not None else 0)
        if not isinstance(entry.fact, RequestHeader | PluginFact):
            stage.activity.feed(entry.fact)
            stage.screen.show(narration.feed(entry.fact))


def timed(entries: list[Entry]) -> Iterator[tuple[Entry, float]]:
    """Each fact, and how many seconds after the one before it it came, within reason."""
    before: int | None = None
    for entry in entries:
        wait = 0 if before is None else entry.time - before
        before = entry.time
        yield entry, min(max(wait / 1000, 0.0), LONGEST)
