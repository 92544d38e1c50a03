"""Find what an edit means in a text, or say why it cannot be found. Pure."""

import re
from dataclasses import dataclass, replace
from itertools import pairwise

from turnbuckle.tools.tool import ToolError
from turnbuckle.workspace.comparing import get_close_matches
from turnbuckle.workspace.files import LIMIT
from turnbuckle.workspace.text import MARK, Splice, joined

_LISTED = 10
_SHOWN_LINES, _SHOWN = 30, 4096
_COMPARED = 20_000  # lines of a text that are looked through for something similar


@dataclass(frozen=True, slots=True)
class Edit:
    """`new` for `old`, once or everywhere; a line ends with a newline character."""

    old: str
    new: str
    everywhere: bool = False


def matched(text: str, edits: tuple[Edit, ...], name: str) -> list[Splice]:
    """What all edits come to, in order, each matched against the text before.

    Raises:
        ToolError: NOT_FOUND, NOT_UNIQUE, OVERLAP, TOO_LARGE, INVALID_ARGS for what changes nothing.
    """
    if not text and len(edits) == 1 and not edits[0].old:
        spans = [(0, 0, 0)]
    else:
        spans = sorted(
            (start, start + len(edit.old), number)
            for number, edit in enumerate(edits)
            for start in _starts(
                text, edit, f"edit {number + 1}" if len(edits) > 1 else "old", name
            )
        )
    for (_, stop, one), (start, _, other) in pairwise(spans):
        if start < stop:
            message = f"edits {one + 1} and {other + 1} overlap in line {_line(text, start)}"
            raise ToolError("OVERLAP", f"{message}; make one edit of them")
    size = len(text) + sum(len(edits[n].new) - (stop - start) for start, stop, n in spans)
    if size > LIMIT:
        message = f"{name} would have {size:,} characters, and {LIMIT:,} are the most"
        raise ToolError("TOO_LARGE", message)
    splices = [Splice(start, stop, edits[number].new) for start, stop, number in spans]
    if splices and not splices[0].start and not text.startswith(MARK):
        # Whether a file begins with a byte order mark is its own affair.
        splices[0] = replace(splices[0], new=splices[0].new.lstrip(MARK))
    result = joined(text, splices)
    if result.startswith(MARK) and not text.startswith(MARK):
        message = f"{name} would begin with a byte order mark (U+FEFF)"
        raise ToolError("INVALID_ARGS", f"{message}; edit the text around it too")
    if result == text:
        raise ToolError("INVALID_ARGS", f"{name} would be as it is: the edits change nothing")
    return splices


def _starts(text: str, edit: Edit, label: str, name: str) -> list[int]:
    if not edit.old:
        message = f"{label}: an empty old text fits only an empty file; {name} is not empty"
        raise ToolError("INVALID_ARGS", message)
    if edit.old == edit.new:
        raise ToolError("INVALID_ARGS", f"{label} changes nothing: old and new are the same")
    step = len(edit.old) if edit.everywhere else 1
    starts: list[int] = []
    at = text.find(edit.old)
    while at >= 0:
        starts.append(at)
        at = text.find(edit.old, at + step)
    if not starts:
        raise ToolError("NOT_FOUND", f"{label} was not found in {name}{hint(text, edit.old)}")
    if len(starts) > 1 and not edit.everywhere:
        lines = ", ".join(str(_line(text, start)) for start in starts[:_LISTED])
        more = ", \N{HORIZONTAL ELLIPSIS}" * (len(starts) > _LISTED)
        message = f"{label} stands {len(starts)} times in {name} (lines {lines}{more})"
        raise ToolError("NOT_UNIQUE", f"{message}; give more of the text around it, or set all")
    return starts


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def hint(text: str, old: str) -> str:
    """What stands in the text that may have been meant, as the end of a sentence."""
    if old.endswith("\n") and text.endswith(old[:-1]):
        return ": the file ends with this text, but without the newline that ends old"
    lines, wanted = text.split("\n"), old.strip("\n").split("\n")
    bare = [_bare(line) for line in lines]
    at = _find(bare, [_bare(line) for line in wanted])
    if at is not None:
        return f". It differs in white space; {_shown(lines, at, len(wanted))}"
    first = next((line for line in wanted if line.strip()), "")
    close = get_close_matches(first, lines[:_COMPARED], n=1, cutoff=0.6) if first else []
    if not close:
        return ""
    return f". The nearest: {_shown(lines, lines.index(close[0]), len(wanted))}"


def _bare(line: str) -> str:
    return re.sub(r"\s+", "", line)


def _find(lines: list[str], wanted: list[str]) -> int | None:
    if not any(wanted):
        return None
    span = len(wanted)
    for at in range(len(lines) - span + 1):
        if lines[at] == wanted[0] and lines[at : at + span] == wanted:
            return at
    return None


def _shown(lines: list[str], at: int, count: int) -> str:
    count = min(count, _SHOWN_LINES, len(lines) - at)
    where = f"line {at + 1} reads" if count == 1 else f"lines {at + 1}-{at + count} read"
    return f"{where}:\n" + "\n".join(lines[at : at + count])[:_SHOWN]
