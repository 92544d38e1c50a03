"""The sessions on disk as a list: newest first, in pages, found by words; of no file is too much.

There is no index to be kept: files are looked at when they are wanted, and what was learnt of one
is remembered as long as its size and time stay.
"""

import os
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import anyio
import orjson
from anyio import to_thread

from turnbuckle.session.reading import (
    Outline,
    Unreadable,
    outline,
    session_files,
    stored_lines,
)
from turnbuckle.session.search import Words

REMEMBERED = 8_192
"""Of how many files is remembered what was learnt."""

BATCH = 64
"""How many files are looked at before somebody else's turn comes."""

_END = 64 * 1024
_TIME = re.compile(rb'\{"seq":\d{1,15},"time":(-?\d{1,18}),"type":"')

Place: TypeAlias = tuple[int, str]
"""Where a session stands in the list: `updated` and id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A session in the list; `match` is the line that was found, `damaged` why not all is known."""

    session_id: str
    updated: int
    title: str | None = None
    cwd: str | None = None
    parent: str | None = None
    turns: int = 0
    match: str | None = None
    damaged: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Some sessions, and the place after which the next page begins, if there is more."""

    sessions: tuple[Listed, ...]
    after: Place | None


@dataclass(frozen=True, slots=True)
class Live:
    """A session that is open here, which knows more than its file; `said` is what was said."""

    listed: Listed
    said: Callable[[], Iterable[str]]


@dataclass(slots=True)
class _Known:
    """What was learnt of a file: its beginning and end at once, all of it when it was wanted."""

    path: Path
    stamp: tuple[int, int]
    updated: int
    cwd: str | None
    outline: Outline | None = None

    @property
    def place(self) -> Place:
        return self.updated, self.path.stem


class Index:
    """The sessions below a state folder."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._known: OrderedDict[Path, _Known] = OrderedDict()
        self._looking = anyio.Lock()

    async def page(
        self,
        *,
        live: Sequence[Live] = (),
        wanted: Callable[[str | None], bool] = lambda _: True,
        words: Words | None = None,
        after: Place | None = None,
        size: int = 50,
    ) -> Page:
        """The next sessions whose `cwd` is wanted and that hold all words; the latest first."""
        rows: list[Live | _Known] = [one for one in live if wanted(one.listed.cwd)]
        open_ids = {one.listed.session_id for one in live}
        found: list[Listed] = []
        async with self._looking:
            known = await to_thread.run_sync(self._files)
            rows += [k for k in known if k.path.stem not in open_ids and wanted(k.cwd)]
            rows = sorted((r for r in rows if after is None or _place(r) < after), key=_place)
            while rows and len(found) <= size:
                batch = [rows.pop() for _ in range(min(BATCH, len(rows), size + 1))]
                found += await to_thread.run_sync(_look, batch, words)
        shown = tuple(found[:size])
        last = shown[-1] if len(found) > size else None
        return Page(shown, (last.updated, last.session_id) if last else None)

    def _files(self) -> list[_Known]:
        """Every file that there is, with what its beginning and its end say."""
        files: list[_Known] = []
        for path in session_files(self._state):
            try:
                known = self._file(path)
            except OSError:
                continue  # it went away just now, or is not for us to read
            self._known[path] = known
            self._known.move_to_end(path)
            files.append(known)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return files

    def _file(self, path: Path) -> _Known:
        status = path.stat(follow_symlinks=False)
        stamp = (status.st_size, status.st_mtime_ns)
        known = self._known.get(path)
        if known is not None and known.stamp == stamp:
            return known
        with path.open("rb") as file:
            head = file.read(_END)
            if status.st_size > _END:
                file.seek(-_END, os.SEEK_END)
                tail = file.read(_END)
            else:
                tail = head
        return _Known(path, stamp, _time(tail, status.st_mtime_ns // 1_000_000), _cwd(head))


def _place(row: Live | _Known) -> Place:
    return (row.listed.updated, row.listed.session_id) if isinstance(row, Live) else row.place


def _time(tail: bytes, otherwise: int) -> int:
    """When the last whole line was written."""
    lines = tail.rsplit(b"\n", 2)
    found = _TIME.match(lines[-2]) if len(lines) > 1 else None
    return int(found[1]) if found else otherwise


def _cwd(head: bytes) -> str | None:
    try:
        cwd = orjson.loads(head.partition(b"\n")[0])["data"]["cwd"]
    except (ValueError, KeyError, TypeError):
        return None
    return cwd if isinstance(cwd, str) else None


def _look(batch: Sequence[Live | _Known], words: Words | None) -> list[Listed]:
    """Those of a batch that are no empty sessions and hold the words."""
    return [listed for row in batch if (listed := _listed(row, words)) is not None]


def _listed(row: Live | _Known, words: Words | None) -> Listed | None:
    match = None
    if words is not None:
        said = row.said() if isinstance(row, Live) else said_in_file(row.path, words)
        if (match := words.find(said)) is None:
            return None
    if isinstance(row, Live):
        return replace(row.listed, match=match)
    try:
        known = row.outline = row.outline or outline(row.path)
    except Unreadable as error:
        return Listed(session_id=row.path.stem, updated=row.updated, damaged=str(error))
    if known.facts <= 1 and not known.parent and not known.damaged:
        return None  # nothing has happened in it
    return Listed(
        session_id=known.session_id, updated=row.updated, title=known.title, cwd=known.cwd,
        parent=known.parent, turns=known.turns, match=match, damaged=known.damaged,
    )  # fmt: skip


def said_in_file(path: Path, words: Words) -> Iterator[str]:
    """What was said in a file that may hold all words; damage ends it, and is told elsewhere."""
    try:
        if path.stat().st_size <= words.LIMIT and not words.may_be_in(path.read_bytes()):
            return
        for line in stored_lines(path):
            yield from words.said(line)
    except (OSError, Unreadable):
        return
