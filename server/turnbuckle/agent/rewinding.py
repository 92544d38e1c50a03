"""A session taken back to before a turn, and that taken back again; the files, too, if asked."""

from collections.abc import Callable, Sequence

from turnbuckle.agent.opening import OpenSession
from turnbuckle.agent.restoring import Restored, put_back
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import ContextRewound, Fact, TurnStart
from turnbuckle.session.projection import leading_to
from turnbuckle.session.written import Written, taken_back, written


class CannotRewind(Exception):
    """There is no such turn to take back, or nothing to undo; says why."""


class Busy(Exception):
    """A turn runs in the session; nothing was done."""


async def rewind(
    opened: OpenSession,
    turn: int,
    *,
    files: bool,
    recorded: Callable[[], None] = lambda: None,
) -> Restored:
    """Take the model's view back to before a turn, and with `files` what the agent wrote since.

    Only for who holds `opened.changing`, of a session that can be written. `recorded` is called
    when the rewind is on disk, before any file changes.

    Raises:
        CannotRewind: there is no such turn in what the model is shown.
        Busy: a turn runs.
        StoreFailed: the log could not be written.
    """
    entries = opened.session.log.entries
    start = _start_of(turn, entries)
    since = written(entries[_index(entries, start) :]) if files else []
    return await _go(opened, start - 1, since, recorded)


async def undo(opened: OpenSession) -> Restored:
    """Take the last rewind back that was not taken back yet, with the files that it put back.

    Only for who holds `opened.changing`, of a session that can be written.

    Raises:
        CannotRewind: there is none.
        Busy: a turn runs.
        StoreFailed: the log could not be written.
    """
    entries = opened.session.log.entries
    rewinds = standing(entries)
    if not rewinds:
        raise CannotRewind("nothing was rewound that could be taken back")
    last = rewinds[-1]
    return await _go(opened, last - 1, taken_back(_facts_of(last, entries)), lambda: None)


def turns_in_view(entries: Sequence[Entry]) -> list[int]:
    """The turns that the model is shown, in order."""
    return [
        entry.fact.turn
        for entry in leading_to(len(entries), entries)
        if isinstance(entry.fact, TurnStart)
    ]


def standing(entries: Sequence[Entry]) -> list[int]:
    """The seqs of the rewinds that were not taken back, in order.

    One that goes to right before another takes that back.
    """
    rewinds: list[int] = []
    for entry in entries:
        if isinstance(entry.fact, ContextRewound):
            if rewinds and entry.fact.to == rewinds[-1] - 1:
                rewinds.pop()
            else:
                rewinds.append(entry.seq)
    return rewinds


async def _go(
    opened: OpenSession, to: int, files: Sequence[Written], recorded: Callable[[], None]
) -> Restored:
    session = opened.session
    await session.flush()  # a log that cannot be written is told before anything happens
    if opened.driver.busy:
        raise Busy("a turn runs in this session; wait for its end, or cancel it")

    async def record(fact: Fact) -> None:
        session.append(fact)
        await session.flush()

    await record(ContextRewound(to=to))
    recorded()
    return await put_back(opened.agent, files, record)


def _start_of(turn: int, entries: Sequence[Entry]) -> int:
    """The seq of a turn's first fact, if the model is shown that turn."""
    for entry in leading_to(len(entries), entries):
        if isinstance(entry.fact, TurnStart) and entry.fact.turn == turn:
            return entry.seq
    if any(isinstance(e.fact, TurnStart) and e.fact.turn == turn for e in entries):
        raise CannotRewind(f"turn {turn} was taken back already")
    raise CannotRewind(f"the session has no turn {turn}")


def _index(entries: Sequence[Entry], seq: int) -> int:
    return next(index for index, entry in enumerate(entries) if entry.seq == seq)


def _facts_of(rewind: int, entries: Sequence[Entry]) -> list[Entry]:
    """What a rewind did to files: facts behind it, up to the next one."""
    facts: list[Entry] = []
    for entry in entries:
        if entry.seq > rewind:
            if isinstance(entry.fact, ContextRewound):
                break
            facts.append(entry)
    return facts
