"""Sessions on disk as others read them: which there are, what each came to, what it holds.

A file is never trusted: it may be cut, changed, of a newer version, or no session at all.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from turnbuckle.session import codec
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import FACTS

LINE_LIMIT = 64 * 1024 * 1024
"""The most bytes of a line that is read; what is longer is no fact of ours."""

_TELLING = frozenset(
    (b"session/created", b"session/title", b"inbox/added", b"turn/start", b"turn/end")
)
_LATEST = 2**53
_LONGEST = 8_192


class Unreadable(Exception):
    """A session's file cannot be read; says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """One session in short.

    `created` and `updated` are milliseconds since 1970, `size` bytes, `facts` how many there are.
    `end` is how the last turn ended, None while it runs or where there was none. `damaged` says why
    the rest is not known.
    """

    session_id: str
    path: Path
    size: int
    facts: int = 0
    created: int | None = None
    updated: int | None = None
    cwd: str | None = None
    parent: str | None = None
    title: str | None = None
    turns: int = 0
    end: str | None = None
    damaged: str | None = None


@dataclass(slots=True)
class Stored:
    """The facts of a file, each with its line; `damaged` says why there are no more."""

    entries: list[Entry] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)
    damaged: str | None = None


def session_files(state: Path) -> list[Path]:
    """The files of all sessions, the newest first.

    Links, folders and devices are none, whatever they are called.
    """
    return sorted(_walk(state / "sessions"), key=lambda path: path.stem, reverse=True)


def _walk(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield from _walk(Path(entry.path))
                elif entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                    yield Path(entry.path)
    except OSError:
        return  # it is not there, or is not for us


def find_files(state: Path, session_id: str) -> list[Path]:
    """The files of the sessions whose id is this or begins with it."""
    files = session_files(state)
    return [p for p in files if p.stem == session_id] or [
        p for p in files if p.stem.startswith(session_id)
    ]


def outline(path: Path) -> Outline:
    """A session in short; a damaged one as far as it can be read.

    Raises:
        Unreadable: the file cannot be opened.
    """
    known: dict[str, Any] = {}  # Any: fields of an outline
    damaged: str | None = None
    count = size = 0
    try:
        for line in stored_lines(path):
            size += len(line)
            known["updated"] = _note(known, count, line)
            count += 1
    except (ValueError, KeyError, TypeError) as error:
        damaged = f"line {count + 1} is damaged: {error}"
    except Unreadable as error:
        if not count:
            raise
        damaged = str(error)
    return Outline(
        session_id=path.stem, path=path, size=size, facts=count, damaged=damaged, **known
    )


def load(path: Path) -> Stored:
    """All facts of a session; of a damaged one those before the damage.

    Raises:
        Unreadable: the file cannot be opened.
    """
    stored = Stored()
    try:
        for line in stored_lines(path):
            require_number(line, len(stored.lines))
            stored.entries.append(codec.parse(line))
            stored.lines.append(line)
    except codec.UnknownFact as error:
        damage = f"holds {error}, which this version does not know"
        stored.damaged = f"line {len(stored.lines) + 1} {damage}"
    except (ValueError, TypeError) as error:
        damage = f"is damaged: {str(error).partition(chr(10))[0]}"
        stored.damaged = f"line {len(stored.lines) + 1} {damage}"
    except Unreadable as error:
        if not stored.lines:
            raise
        stored.damaged = str(error)
    return stored


def records(path: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:  # Any: JSON
    """Each stored line, and what it says.

    Raises:
        Unreadable: the file cannot be read, or a line is damaged.
    """
    for number, line in enumerate(stored_lines(path), 1):
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise Unreadable(f"line {number} is damaged: {error}") from error
        if not isinstance(record, dict):
            raise Unreadable(f"line {number} is damaged: not an object")
        yield line, record


def stored_lines(path: Path) -> Iterator[bytes]:
    """The whole lines of a file, each with its newline; a torn one at the end does not count.

    Raises:
        Unreadable: the file cannot be read, or a line is too long for a fact.
    """
    try:
        with path.open("rb") as file:
            while (line := file.readline(LINE_LIMIT)).endswith(b"\n"):
                yield line
    except OSError as error:
        raise Unreadable(f"the session log could not be read: {error.strerror}") from error
    if len(line) == LINE_LIMIT:
        raise Unreadable(f"a line is longer than {LINE_LIMIT:,} bytes; this is no session of ours")


def require_number(line: bytes, number: int) -> None:
    """Pass if a line begins as the fact of this number does.

    Raises:
        ValueError: it does not.
    """
    if line.startswith(b'{"seq":%d,' % number):
        return
    seq = seq_of(line)
    if seq is None:
        raise ValueError("it is not a fact")
    raise ValueError(f"it is fact {seq}, where fact {number} was due")


def seq_of(line: bytes) -> int | None:
    """The number of a stored fact; None if the line does not begin as one."""
    head, comma, _ = line[:40].partition(b",")
    digits = head.removeprefix(b'{"seq":')
    return int(digits) if comma and digits != head and digits.isdigit() else None


def tag_of(line: bytes) -> bytes:
    """The type of a stored fact, without reading all of it.

    Raises:
        ValueError: it has none.
    """
    at = line.index(b'"type":"') + 8
    return line[at : line.index(b'"', at)]


def _note(known: dict[str, Any], number: int, line: bytes) -> int:  # Any: fields of an outline
    """Take what a line tells of its session, and give its time."""
    require_number(line, number)
    record = orjson.loads(line)
    tag, time, data = record["type"], record["time"], record["data"]
    _require(isinstance(tag, str), "it is not a fact")
    _require(type(time) is int and abs(time) <= _LATEST * 1000, "its time is none")
    if tag not in FACTS and not tag.startswith("plugin/") and not record.get("ignorable"):
        raise ValueError(f"it holds {tag[:60]!r}, which this version does not know")
    if tag.encode() in _TELLING:
        _tell(known, tag, time, data)
    return int(time)


def _tell(known: dict[str, Any], tag: str, time: int, data: dict[str, Any]) -> None:  # Any: JSON
    match tag:
        case "session/created":
            known["created"] = time
            known["cwd"], known["parent"] = _text(data.get("cwd")), _text(data.get("parent"))
        case "session/title":
            known["title"] = str(data["title"])[:300]
        case "inbox/added":
            if data.get("source", "user") == "user" and not known.get("title"):
                known["title"] = first_line(str(data["input"]))
        case "turn/start":
            turn = int(data["turn"])
            _require(0 < turn < _LATEST, "its turn is none")
            known["turns"], known["end"] = turn, None
        case _:
            known["end"] = str(data["end"]["kind"])


def first_line(prompt: str) -> str | None:
    """What a session is called before it has a title: how its first prompt begins."""
    return next(iter(prompt.strip().splitlines()), "")[:120] or None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and len(value) <= _LONGEST else None


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)
