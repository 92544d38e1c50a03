"""How a hunk is shown in few words: its counts, the place that is marked, its lines."""

from turnbuckle.lsp.review.proposals import Sight
from turnbuckle.lsp.subjects import shortened, visible
from turnbuckle.workspace.changes import FileChange, Hunk, Span
from turnbuckle.workspace.text import split_lines

MANY = 200
"""Hunks of a file above which only the file as a whole is shown."""

LINE = 60
"""Characters of the longest line that an editor shows beside code."""

LINES, WIDTH = 60, 200
"""How much of a hunk a hover shows at most."""


def counts(*hunks: Hunk) -> str:
    """How many lines are added and removed, as `+3 −3`."""
    added = sum(hunk.counts[0] for hunk in hunks)
    removed = sum(hunk.counts[1] for hunk in hunks)
    return f"+{added} \N{MINUS SIGN}{removed}"


def deed(change: FileChange, hunk: Hunk) -> str:
    """What a hunk comes to: its counts, or what is done to the whole file."""
    if change.kind == "delete":
        return "delete this file:"
    if change.target is not None:
        return f"rename to {visible(change.target.path.name)}:"
    return counts(hunk)


def summary(change: FileChange, sight: Sight) -> str:
    """A hunk in one line of at most 60 characters: its counts, and its first new line."""
    said = deed(change, sight.hunk).rstrip(":")
    if sight.state == "stale":
        return f"{said}: the text was changed since"
    if change.kind in ("delete", "rename"):
        return said if len(said) <= LINE else said[: LINE - 1] + "…"
    added = (line.strip() for line in split_lines(sight.hunk.new))
    first = visible(next((line for line in added if line), ""))
    said += f": {first}" if first else ": removed" if sight.hunk.old else ""
    return said if len(said) <= LINE else said[: LINE - 1] + "…"


def marked(text: str, span: Span) -> Span:
    """What to mark of a place: no indentation and no blank lines around it.

    Where there is nothing, the text of the line that stands there, or of one before it.
    """
    inner = text[span.start : span.end]
    if inner.strip():
        start = span.start + len(inner) - len(inner.lstrip())
        return Span(start, span.end - (len(inner) - len(inner.rstrip())))
    at = span.start
    while True:
        start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
        ends = [end for end in (text.find("\n", at), text.find("\r", at)) if end >= 0]
        line = text[start : min(ends, default=len(text))]
        if line.strip():
            indent = len(line) - len(line.lstrip())
            return Span(start + indent, start + len(line.rstrip()))
        if start == 0:
            return Span(span.start, span.start)
        at = start - 1


def fenced(hunk: Hunk) -> str:
    """The lines of a hunk as a Markdown block; nothing in them can end it or leave it."""
    lines = [f"-{_plain(line)}" for line in split_lines(hunk.old)]
    lines += [f"+{_plain(line)}" for line in split_lines(hunk.new)]
    if len(lines) > LINES:
        half = LINES // 2
        lines = [*lines[:half], f"[{len(lines) - LINES} more lines]", *lines[-half:]]
    ticks = "```"
    while any(ticks in line for line in lines):
        ticks += "`"
    return "\n".join([f"{ticks}diff", *lines, ticks])


def _plain(line: str) -> str:
    bare = "\t".join(map(visible, line.rstrip("\r\n").split("\t")))
    return shortened(bare, WIDTH)
