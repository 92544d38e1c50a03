"""Writing into a file the way the file writes its lines."""

import re
from bisect import bisect_left
from collections.abc import Iterable

from turnbuckle.workspace.diff import changed_lines
from turnbuckle.workspace.text import Splice, joined, line_end, split_lines


def plain(text: str, end: str) -> str:
    r"""The text with `\n` for its line ends; a lone `\r` is one only where `end` says so."""
    text = text.replace("\r\n", "\n")
    return text.replace("\r", "\n") if end == "\r" else text


def spliced(base: str, splices: Iterable[Splice]) -> str:
    """The base after splices of its plain text; what lies outside of them stays as it is.

    They stand in order and do not overlap. Each is written as the file writes its lines.
    """
    if "\r" not in base:
        return joined(base, splices)
    end = line_end(base)
    # Where the newlines that are two characters in the base stand in its plain text.
    pairs = [match.start() - nth for nth, match in enumerate(re.finditer("\r\n", base))]
    exact: list[Splice] = []
    for splice in splices:
        start, stop = (at + bisect_left(pairs, at) for at in (splice.start, splice.end))
        new = _written(base[start:stop], splice.new, end)
        exact.append(Splice(start, stop, new))
    return joined(base, exact)


def keep_line_ends(base: str, new: str) -> str:
    r"""The new text of a file as the file would write it.

    `new` has `\n` for line ends. Lines that the base has too keep the ends that they have there;
    the others get the end that most lines of the base have.
    """
    return _written(base, new, line_end(base)) if "\r" in base else new


def _written(base: str, new: str, end: str) -> str:
    """As `keep_line_ends`; `end` is for lines that the base does not have."""
    if new == plain(base, end):
        return base
    kept = _lines(base, end)
    as_plain = [plain(line, end) for line in kept]
    lines = _lines(new, "\n")
    parts: list[str] = []
    at = 0
    for a, b, c, d in [*changed_lines(as_plain, lines), (len(kept), 0, 0, 0)]:
        parts += kept[at:a]
        parts += [line.replace("\n", end) for line in lines[c:d]]
        at = b
    return "".join(parts)


def _lines(text: str, end: str) -> list[str]:
    r"""Lines with their ends; a lone `\r` ends one only where `end` says so."""
    if end == "\r":
        return split_lines(text)
    lines = [line + "\n" for line in text.split("\n")]
    return [*lines[:-1], lines[-1][:-1]] if lines[-1] != "\n" else lines[:-1]
