"""Writing into a file the way the file writes its lines."""

from turnbuckle.workspace.diff import changed_lines
from turnbuckle.workspace.text import line_end, split_lines


def plain(text: str, end: str) -> str:
    r"""The text with `\n` for its line ends; a lone `\r` is one only where `end` says so."""
    text = text.replace("\r\n", "\n")
    return text.replace("\r", "\n") if end == "\r" else text


def keep_line_ends(base: str, new: str) -> str:
    r"""The new text of a file as the file would write it.

    `new` has `\n` for line ends. Lines that the base has too keep the ends that they have there;
    the others get the end that most lines of the base have.
    """
    end = line_end(base)
    if "\r" not in base:
        return new
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
