"""Exact text: bytes and back, line ends, positions in an editor's units, the smallest splice."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias

from turnbuckle.workspace.errors import WorkspaceError

Encoding: TypeAlias = Literal["utf-8", "utf-16-le", "utf-16-be"]
Unit: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]
"""What a position counts in: bytes, 16-bit units, or characters."""

MARK = "\ufeff"
"""A byte order mark as a character; `decode` takes it off the beginning of a text."""

_BOMS: tuple[tuple[bytes, Encoding], ...] = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_UTF_32 = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_END = re.compile(r"\r\n|\r|\n")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a text is kept in bytes; a new file is utf-8 without a byte order mark."""

    encoding: Encoding = "utf-8"
    bom: bytes = b""


def decode(data: bytes) -> tuple[str, Form]:
    """The text in these bytes, without its byte order mark, and how to write it back exactly.

    Raises:
        WorkspaceError: BINARY for bytes that are no text, ENCODING for text that is not Unicode.
    """
    if data.startswith(_UTF_32):
        raise WorkspaceError("ENCODING", "it is kept in UTF-32, which is not supported")
    form = Form()
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            form = Form(encoding=encoding, bom=bom)
    body = data[len(form.bom) :]
    if form.encoding == "utf-8" and b"\0" in body:
        raise WorkspaceError("BINARY", "it holds NUL bytes, so it is no text")
    try:
        text = body.decode(form.encoding)
    except UnicodeDecodeError as error:
        at = f"byte {len(form.bom) + error.start:,}"
        message = (
            f"it is not valid {form.encoding} (see {at}); it is not touched, lest it be harmed"
        )
        raise WorkspaceError("ENCODING", message) from error
    if "\0" in text:
        raise WorkspaceError("BINARY", "it holds NUL characters, so it is no text")
    return text, form


def encode(text: str, form: Form) -> bytes:
    """The bytes that `decode` reads as this text."""
    return form.bom + text.encode(form.encoding)


def whole(text: str) -> str:
    """The text with pairs of surrogates joined and lone ones replaced, as it may enter."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def split_lines(text: str) -> list[str]:
    r"""Its lines with their ends; only `\n`, `\r\n` and `\r` end a line."""
    if "\r" in text:
        return _LINE.findall(text)
    lines = text.splitlines(keepends=True)
    if len(lines) == text.count("\n") + (not text.endswith("\n")):
        return lines  # nothing else that Python takes for a line end is in it
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def line_end(text: str) -> str:
    r"""How most of its lines end; `\n` where it has no line end at all."""
    crlf = text.count("\r\n")
    counts = {"\n": text.count("\n") - crlf, "\r\n": crlf, "\r": text.count("\r") - crlf}
    return max(counts, key=lambda end: counts[end])


class Positions:
    """Offsets of one text as lines and characters and back, made once for many questions.

    Lines and characters count from 0; an offset counts characters of the Python string. What lies
    outside is clamped as the protocol says: to the end of the line before its line end, and to the
    end of the text. A position inside a character is that character's start.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = _starts(text)
        self._ascii = text.isascii()

    def offset(self, line: int, character: int, unit: Unit) -> int:
        """The offset of a position."""
        if line < 0:
            return 0
        if line >= len(self.starts):
            return len(self.text)
        start, end = self.starts[line], self.line_stop(line)
        if character <= 0:
            return start
        if unit == "utf-32" or self._plain(start, end):
            return min(start + character, end)
        for index in range(start, end):
            character -= _width(self.text[index], unit)
            if character < 0:
                return index
        return end

    def position(self, offset: int, unit: Unit) -> tuple[int, int]:
        """The line and the character of an offset."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self.starts, offset) - 1
        start = self.starts[line]
        offset = min(offset, self.line_stop(line))
        if unit == "utf-32" or self._plain(start, offset):
            return line, offset - start
        return line, sum(_width(character, unit) for character in self.text[start:offset])

    def line_stop(self, line: int) -> int:
        """The offset where a line's own text stops, before its line end."""
        if line + 1 == len(self.starts):
            return len(self.text)
        stop = self.starts[line + 1] - 1
        return stop - 1 if self.text[stop] == "\n" and self.text[stop - 1 : stop] == "\r" else stop

    def _plain(self, start: int, stop: int) -> bool:
        return self._ascii or self.text[start:stop].isascii()


def _starts(text: str) -> list[int]:
    if "\r" in text:
        return [0, *(match.end() for match in _END.finditer(text))]
    return [0, *accumulate(len(line) + 1 for line in text.split("\n")[:-1])]


def _width(character: str, unit: Unit) -> int:
    if unit == "utf-16":
        return 1 + (character > "\uffff")
    return 1 + (character > "\x7f") + (character > "\u07ff") + (character > "\uffff")


@dataclass(frozen=True, slots=True)
class Splice:
    """`new` for the characters `[start, end)` of a text."""

    start: int
    end: int
    new: str

    def on(self, text: str) -> str:
        """The text after it."""
        return text[: self.start] + self.new + text[self.end :]


def joined(text: str, splices: Iterable[Splice]) -> str:
    """The text after splices that stand in order and do not overlap."""
    parts: list[str] = []
    at = 0
    for splice in splices:
        parts += text[at : splice.start], splice.new
        at = splice.end
    return "".join(parts) + text[at:]


def smallest(text: str, splice: Splice) -> Splice:
    """The same splice without what stays as it is at both of its ends."""
    old = text[splice.start : splice.end]
    head = common_start(old, splice.new)
    tail = common_end(old[head:], splice.new[head:])
    stop = len(splice.new) - tail
    return Splice(splice.start + head, splice.end - tail, splice.new[head:stop])


def common_start(one: str, other: str) -> int:
    """How many characters both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_end(one: str, other: str) -> int:
    """How many characters both end with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        start, stop = len(one) - middle, len(one) - low
        if one[start:stop] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
