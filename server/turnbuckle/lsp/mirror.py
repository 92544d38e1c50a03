"""The text of one open document, changed in place as the client changes its own."""

from itertools import islice
from typing import NamedTuple

from turnbuckle.workspace.text import Positions, Splice, Unit, smallest, split_lines


class Spot(NamedTuple):
    """A zero-based line, and a character in units of the client's position encoding."""

    line: int
    character: int


class Mirror:
    r"""A text as its lines, so that a change costs what it touches and not what stands around it.

    Only `\n`, `\r\n` and `\r` end a line. The last line has no line end and may be empty.
    """

    def __init__(self, text: str, unit: Unit) -> None:
        self._unit = unit
        self._lines = _lines(text)

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self._lines)

    def has(self, start: Spot, end: Spot) -> bool:
        """Whether a client that has this text could mean such a range.

        The line after the last one is the end of the text for some; characters are clamped.
        """
        return (0, 0) <= start <= end and max(start.line, end.line) <= len(self._lines)

    def replace(self, start: Spot, end: Spot, new: str) -> Splice:
        """Replace a range, and give what changed as the smallest splice of the text before.

        What lies outside of the text is clamped: to the end of its line, or of the text. Two ends
        in the wrong order are swapped.
        """
        first, last = sorted((self._clamped(start), self._clamped(end)))
        offset = sum(map(len, islice(self._lines, first.line))) + first.character
        old = self._between(first, last)
        self._put(first, last, new)
        trimmed = smallest(old, Splice(0, len(old), new))
        return Splice(offset + trimmed.start, offset + trimmed.end, trimmed.new)

    def _clamped(self, spot: Spot) -> Spot:
        """The same spot as an index into the lines, and an offset into the line."""
        if spot.line < 0:
            return Spot(0, 0)
        if spot.line >= len(self._lines):
            return Spot(len(self._lines) - 1, len(self._lines[-1]))
        line = Positions(self._lines[spot.line])
        return Spot(spot.line, line.offset(0, spot.character, self._unit))

    def _between(self, first: Spot, last: Spot) -> str:
        lines = self._lines[first.line : last.line + 1]
        lines[-1] = lines[-1][: last.character]
        lines[0] = lines[0][first.character :]
        return "".join(lines)

    def _put(self, first: Spot, last: Spot, new: str) -> None:
        lines, line = self._lines, first.line
        piece = lines[line][: first.character] + new + lines[last.line][last.character :]
        if line and piece.startswith("\n") and lines[line - 1].endswith("\r"):
            line -= 1  # the two become one line end
            piece = lines[line] + piece
        whole = last.line + 1 == len(lines)
        lines[line : last.line + 1] = _lines(piece) if whole else split_lines(piece)


def _lines(text: str) -> list[str]:
    lines = split_lines(text)
    return lines if lines and not lines[-1].endswith(("\n", "\r")) else [*lines, ""]
