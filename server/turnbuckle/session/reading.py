"""Sessions on disk as others read them: which there are, what each came to, whether it holds."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from turnbuckle.session.rebuild import verify
from turnbuckle.session.store import StoreFailed, read_lines

_TELLING = frozenset(
    (b"session/created", b"session/title", b"inbox/added", b"turn/start", b"turn/end")
)


class Unreadable(Exception):
    """A session's file cannot be read; says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """One session in short.

    `created` and `updated` are milliseconds since 1970, `size` bytes. `end` is how the last turn
    ended, None while it runs or where there was none. `damaged` says why the rest is not known.
    """

    session_id: str
    path: Path
    size: int
    created: int | None = None
    updated: int | None = None
    cwd: str | None = None
    title: str | None = None
    turns: int = 0
    end: str | None = None
    damaged: str | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """How many requests a session made, and the numbers of those that are not as the log says."""

    requests: int
    differing: tuple[int, ...]


def session_files(state: Path) -> list[Path]:
    """The files of all sessions, the newest first."""
    return sorted((state / "sessions").glob("**/*.jsonl"), key=lambda p: p.stem, reverse=True)


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
    lines = _lines(path)
    known: dict[str, Any] = {}  # Any: fields of an outline
    damaged: str | None = None
    for number, line in enumerate(lines, 1):
        try:
            _note(known, _tag(line), line)
        except (ValueError, KeyError, TypeError) as error:
            damaged = f"line {number} is damaged: {error}"
            break
    if lines and damaged is None:
        known["updated"] = _time(lines[-1])
    size = sum(map(len, lines))
    return Outline(session_id=path.stem, path=path, size=size, damaged=damaged, **known)


def verify_file(path: Path) -> Verified:
    """Rebuild every request of a session from its stored lines.

    Raises:
        Unreadable: the file cannot be read, or a line is damaged.
    """
    number, differing = 0, []
    try:
        for number, same in verify(iter(_lines(path))):
            if not same:
                differing.append(number)
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"a line after request {number} is damaged: {error}") from error
    return Verified(number, tuple(differing))


def records(path: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:  # Any: JSON
    """Each stored line, and what it says.

    Raises:
        Unreadable: the file cannot be read, or a line is damaged.
    """
    for number, line in enumerate(_lines(path), 1):
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise Unreadable(f"line {number} is damaged: {error}") from error
        if not isinstance(record, dict):
            raise Unreadable(f"line {number} is damaged: not an object")
        yield line, record


def _lines(path: Path) -> list[bytes]:
    try:
        return read_lines(path)[0]
    except StoreFailed as error:
        raise Unreadable(str(error)) from error


def _tag(line: bytes) -> bytes:
    """The type of a line, without reading all of it."""
    at = line.index(b'"type":"') + 8
    return line[at : line.index(b'"', at)]


def _time(line: bytes) -> int:
    return int(line[line.index(b'"time":') + 7 : line.index(b',"type"')])


def _note(known: dict[str, Any], tag: bytes, line: bytes) -> None:  # Any: fields of an outline
    if tag not in _TELLING:
        return
    record = orjson.loads(line)
    data = record["data"]
    match record["type"]:
        case "session/created":
            known["created"], known["cwd"] = record["time"], data.get("cwd")
        case "session/title":
            known["title"] = data["title"]
        case "inbox/added":
            if data.get("source", "user") == "user" and not known.get("title"):
                known["title"] = next(iter(data["input"].strip().splitlines()), None)
        case "turn/start":
            known["turns"], known["end"] = data["turn"], None
        case _:
            known["end"] = data["end"]["kind"]
