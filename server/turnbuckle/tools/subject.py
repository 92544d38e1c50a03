"""What a call would touch: the thing that is judged, shown and approved."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, assert_never

import orjson

from turnbuckle.session.parts import JsonObject
from turnbuckle.workspace.changes import FileChange, Hunk
from turnbuckle.workspace.paths import Place

HUNK_TEXT_LIMIT = 64 * 1024
"""How much hunk text, in characters, a described subject carries at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """Looks at these places and changes nothing."""

    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Changes these files, hunk by hunk."""

    files: tuple[FileChange, ...]

    @property
    def hunk_ids(self) -> tuple[str, ...]:
        """The ids of all hunks, in order; what is decided once is named once."""
        return tuple(dict.fromkeys(hunk.hunk_id for file in self.files for hunk in file.hunks))


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Runs a command line in a folder; `cwd` is a URI, `timeout` in seconds."""

    command: str
    cwd: str
    timeout: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Asks the person."""

    question: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Internal:
    """Touches nothing but the session."""


Subject: TypeAlias = Read | Change | Command | Question | Internal


def describe(subject: Subject) -> JsonObject:
    """A subject as clients and the log see it: `kind`, and what belongs to that kind.

    A change carries at most 64 KiB of hunk text; a hunk beyond that has `truncated: true` instead
    of its texts.
    """
    match subject:
        case Read(places=places):
            rows = [
                {"uri": p.uri, "shown": p.shown, "inside": p.inside, "secret": p.secret}
                for p in places
            ]
            return {"kind": "read", "places": rows}
        case Change(files=files):
            return {"kind": "change", "files": _files(files)}
        case Command(command=command, cwd=cwd, timeout=timeout):
            return {"kind": "command", "command": command, "cwd": cwd, "timeout": timeout}
        case Question(question=question, choices=choices):
            return {"kind": "question", "question": question, "choices": list(choices)}
        case Internal():
            return {"kind": "internal"}
        case _:
            assert_never(subject)


def _files(files: tuple[FileChange, ...]) -> list[JsonObject]:
    room = HUNK_TEXT_LIMIT
    rows: list[JsonObject] = []
    for file in files:
        hunks: list[JsonObject] = []
        for hunk, line in zip(file.hunks, lines_of(file), strict=True):
            room -= len(hunk.old) + len(hunk.new)
            hunks.append(_hunk(hunk, line, whole=room >= 0))
        row = {"uri": file.uri, "kind": file.kind, "digest": file.digest, "hunks": hunks}
        rows.append(row if file.target is None else row | {"newUri": file.target.uri})
    return rows


def lines_of(file: FileChange) -> Iterator[int]:
    """The line of the base, from 0, in which each hunk begins; all are counted in one go."""
    line = at = 0
    for hunk in file.hunks:
        line += file.base.count("\n", at, hunk.start)
        at = hunk.start
        yield line


def _hunk(hunk: Hunk, line: int, *, whole: bool) -> JsonObject:
    row: JsonObject = {"hunkId": hunk.hunk_id, "line": line}
    if whole:
        return row | {"oldText": hunk.old, "newText": hunk.new}
    return row | {"truncated": True}


def digest(subject: Subject) -> str:
    """What binds an answer to exactly this action: SHA-256 of all of it, in hex."""
    whole = describe(subject)
    if isinstance(subject, Change):
        whole["texts"] = [[h.start, h.old, h.new] for file in subject.files for h in file.hunks]
    return hashlib.sha256(orjson.dumps(whole, option=orjson.OPT_SORT_KEYS)).hexdigest()
