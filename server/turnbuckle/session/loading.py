"""The lines of a log as its facts, up to the first line that is not as it should be."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import orjson

from turnbuckle.session import codec
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import FORMAT, SessionCreated
from turnbuckle.session.recovery import open_from


class NewerSession(Exception):
    """A newer version wrote what this one cannot read and may not skip; says what to do."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """Facts with their lines, whole up to the end of the last good turn.

    `damage` names the line that is not as it should be, and says why; None where all are.
    """

    entries: Sequence[Entry]
    lines: Sequence[bytes]
    damage: str | None


def read_log(lines: Sequence[bytes], first: int = 0) -> Loaded:
    """The facts of stored lines; `first` is the number of the first of them.

    Where a line is damaged, missing or doubled, what stands before it is given, without the turn
    that it belongs to.

    Raises:
        NewerSession: a newer version wrote them.
    """
    entries: list[Entry] = []
    for number, line in enumerate(lines, first):
        try:
            entry = codec.parse(line)
        except codec.UnknownFact as error:
            raise NewerSession(
                f"line {number + 1} holds {error}, which this version does not know; "
                f"open it with a newer version of turnbuckle"
            ) from error
        except ValueError as error:
            if number == 0:
                _require_known(line)
            return _cut(entries, lines, f"line {number + 1} is damaged ({_brief(error)})")
        if (entry.seq != number or not number) and (wrong := _out_of_place(entry, number)):
            return _cut(entries, lines, wrong)
        entries.append(entry)
    return Loaded(entries, lines, None)


def respelled(loaded: Loaded) -> Loaded:
    """The same facts, with their lines as this program writes them."""
    lines = [
        codec.line(entry.seq, entry.time, entry.fact, codec.encode_fact(entry.fact))
        for entry in loaded.entries
    ]
    return replace(loaded, lines=lines)


def _out_of_place(entry: Entry, number: int) -> str | None:
    """Why a fact cannot stand on the line of this number, counted from 0."""
    if entry.seq == number:
        if number > 0:
            return None
        if not isinstance(entry.fact, SessionCreated):
            return "line 1 is damaged (it does not say which session this is)"
        _require_version(entry.fact.version)
        return None
    if entry.seq < number:
        return f"line {number + 1} is there twice (it has the number {entry.seq} once more)"
    missing = entry.seq - number
    what = "a line is" if missing == 1 else f"{missing} lines are"
    return f"{what} missing before line {number + 1}"


def _require_known(line: bytes) -> None:
    """A newer version may have changed what the first line looks like."""
    try:
        record = orjson.loads(line)
        version = record["data"]["version"] if record["type"] == "session/created" else 0
    except (ValueError, KeyError, TypeError):
        return
    if isinstance(version, int):
        _require_version(version)


def _require_version(version: int) -> None:
    if version > FORMAT:
        raise NewerSession(
            f"it has the format {version}, and this version knows {FORMAT}; "
            f"open it with a newer version of turnbuckle"
        )


def _cut(entries: list[Entry], lines: Sequence[bytes], damage: str) -> Loaded:
    good = open_from(entries)
    return Loaded(entries[:good], lines[:good], damage)


def _brief(error: ValueError) -> str:
    """The first thing that is wrong, on one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return "; ".join(lines[:3])[:200] or "it cannot be read"
