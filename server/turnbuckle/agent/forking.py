"""A new session that begins as another one did, up to the end of a turn."""

from collections.abc import Sequence
from pathlib import Path

from turnbuckle.agent.opening import loaded_of, new_session, now
from turnbuckle.session import codec
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    FORMAT,
    Fact,
    GrantAdded,
    GrantRevoked,
    InboxAdded,
    InboxDropped,
    SessionCreated,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.loading import Loaded
from turnbuckle.session.logfiles import write_log
from turnbuckle.session.store import read_lines


class BadBoundary(Exception):
    """A session cannot be forked at this turn; says why."""


def fork_file(state: Path, parent: Path, turn: int) -> str:
    """Write a child with the parent's lines up to the end of this turn, and give its id.

    With turn 0 it has none of them. What waited then is dropped in the child, and what the person
    had allowed for the session is not allowed in it. The parent's file is only read.

    Raises:
        SessionUnreadable: a newer version wrote the parent.
        BadBoundary: it has no such turn, or that is not over; nothing was written.
        StoreFailed: a file could not be read or written; nothing is left of the child.
    """
    loaded = loaded_of(parent.stem, read_lines(parent)[0])
    stop = _end_of(turn, loaded)
    entries, lines = loaded.entries[1:stop], loaded.lines[1:stop]
    first = loaded.entries[0].fact if loaded.entries else None
    cwd = first.cwd if isinstance(first, SessionCreated) else None
    return write_child(state, parent.stem, cwd, entries, lines)


def write_child(
    state: Path,
    parent: str,
    cwd: str | None,
    entries: Sequence[Entry] = (),
    lines: Sequence[bytes] = (),
) -> str:
    """Write a child of the session `parent` with these facts behind its first one; gives its id.

    Raises:
        StoreFailed: it could not be written; nothing is left of it.
    """
    session_id, path = new_session(state)
    begun = now()
    created = SessionCreated(version=FORMAT, id=session_id, cwd=cwd, parent=parent)
    last = len(lines)
    ends = [
        codec.line(last + number, begun, fact, codec.encode_fact(fact))
        for number, fact in enumerate(_not_inherited(entries), 1)
    ]
    first = codec.line(0, begun, created, codec.encode_fact(created))
    write_log(path, [first, *lines, *ends])
    return session_id


def _end_of(turn: int, loaded: Loaded) -> int:
    """How many facts stand up to the end of a turn, that included."""
    if turn == 0:
        return min(1, len(loaded.entries))
    begun = False
    for index, entry in enumerate(loaded.entries):
        match entry.fact:
            case TurnStart(turn=number) if number == turn:
                begun = True
            case TurnEnd(turn=number) if number == turn:
                return index + 1
            case _:
                pass
    if begun:
        raise BadBoundary(f"turn {turn} is not over; wait for its end, or fork an earlier one")
    if loaded.damage is not None:
        raise BadBoundary(f"there is no turn {turn} before the place where {loaded.damage}")
    raise BadBoundary(f"the session has no turn {turn}")


def _not_inherited(entries: Sequence[Entry]) -> list[Fact]:
    """What ends, in the child, what only the parent has: messages that waited, and grants."""
    waiting: dict[str, None] = {}
    granted: dict[str, None] = {}
    for entry in entries:
        match entry.fact:
            case InboxAdded(key=key):
                waiting[key] = None
            case InboxDropped(keys=keys):
                for key in keys:
                    waiting.pop(key, None)
            case UserMessage(key=str(key)):
                waiting.pop(key, None)
            case GrantAdded(grant_id=grant_id):
                granted[grant_id] = None
            case GrantRevoked(grant_id=grant_id):
                granted.pop(grant_id, None)
            case _:
                pass
    dropped = [InboxDropped(keys=tuple(waiting), why="forked")] if waiting else []
    return [*dropped, *(GrantRevoked(grant_id=grant_id) for grant_id in granted)]
