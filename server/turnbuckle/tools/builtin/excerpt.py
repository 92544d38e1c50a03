"""A range of lines, bounded in bytes, with a first line that says what it is."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from turnbuckle.tools.tool import ToolError
from turnbuckle.workspace.process import plain_text
from turnbuckle.workspace.text import Positions

MOST = 64 * 1024
"""Bytes of an excerpt, its first line included."""

_HEADER = 1024
_PIECE = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """Lines `first` to `last` of `total`, counted from 1; `cut` where one alone is too long."""

    text: str
    first: int
    last: int
    total: int
    cut: bool = False

    def titled(self, name: str) -> str:
        """The excerpt as the model reads it; what follows the first line is verbatim."""
        if self.total == 0:
            return f"{name} is empty"
        title = f"{name} lines {self.first}-{self.last} of {self.total}"
        if self.cut:
            title += f", only the first {len(self.text.encode()):,} bytes of that line"
            title += " (search finds what stands in the rest of it)"
        if self.last < self.total:
            title += f"; read on with offset={self.last + 1}"
        return f"{title}\n{self.text}"


def of_text(text: str, name: str, offset: int, limit: int | None) -> Excerpt:
    """So many lines of a text, as many of them as fit.

    Raises:
        ToolError: INVALID_ARGS, for an offset past the end.
    """
    starts = Positions(text).starts
    if starts[-1] == len(text):
        starts = starts[:-1]  # what follows the last line end is no line
    total = len(starts)
    _require_line(name, offset, total)
    if total == 0:
        return Excerpt(text="", first=0, last=0, total=0)
    wanted = min(total, offset - 1 + (limit or total))
    room, last = MOST - _HEADER, offset - 1
    while last < wanted:
        stop = starts[last + 1] if last + 1 < total else len(text)
        room -= len(text[starts[last] : stop].encode())
        if room < 0:
            break
        last += 1
    if last >= offset:
        stop = starts[last] if last < total else len(text)
        return Excerpt(text=text[starts[offset - 1] : stop], first=offset, last=last, total=total)
    stop = starts[offset] if offset < total else len(text)
    line = text[starts[offset - 1] : stop].encode()
    cut = line[: MOST - _HEADER].decode("utf-8", "ignore")
    return Excerpt(text=cut, first=offset, last=offset, total=total, cut=True)


def of_file(path: Path, name: str, offset: int, limit: int | None) -> Excerpt:
    """So many lines of a kept output, made plain; the file may be larger than memory.

    Raises:
        ToolError: INVALID_ARGS, for an offset past the end.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        start, total = _find_line(file, offset)
        _require_line(name, offset, total)
        file.seek(start)
        data = file.read(2 * MOST)
    if len(data) == 2 * MOST and b"\n" in data:
        data = data[: data.rindex(b"\n") + 1]
    shown = of_text(plain_text(data), name, 1, limit)
    last = offset - 1 + shown.last
    return replace(shown, first=min(offset, last), last=last, total=total)


def _find_line(file: BinaryIO, line: int) -> tuple[int, int]:
    """Where a line starts, in bytes, and how many lines there are."""
    start, before, at, ended = 0, 0, 0, True
    while piece := file.read(_PIECE):
        here = piece.count(b"\n")
        if before < line - 1 <= before + here:
            index = -1
            for _ in range(line - 1 - before):
                index = piece.index(b"\n", index + 1)
            start = at + index + 1
        before, at, ended = before + here, at + len(piece), piece.endswith(b"\n")
    return start, before + (not ended)


def _require_line(name: str, offset: int, total: int) -> None:
    if offset > max(total, 1):
        lines = f"{total:,} line{'s' * (total != 1)}"
        raise ToolError("INVALID_ARGS", f"offset {offset} is past the end: {name} has {lines}")
