"""Where the hunks of a change stand in a text that a person goes on typing in."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from turnbuckle.lsp.edits.trail import Trail
from turnbuckle.workspace.changes import FileChange, Hunk, Span, follow
from turnbuckle.workspace.text import Splice, smallest


def aim(
    change: FileChange, hunk_ids: Sequence[str], already: Sequence[str], text: str, trail: Trail
) -> tuple[Hunk, ...] | None:
    """These hunks as they stand in the text, in order; None if one of them is stale.

    A hunk is stale where the text is not what it was made for any more: its own, or that it begins
    a line. Text elsewhere may differ as it likes; but where there was none, there must be none.
    Without a trail from the base, what differs is taken for one splice. What is not where it led to
    is looked for between the lines that it stood between, where there is only one such place.
    """
    wanted = [hunk for hunk in change.hunks if hunk.hunk_id in hunk_ids]
    route = _route(change, already, text, trail)
    if route is None:
        return None
    found: list[Hunk] = []
    for hunk in wanted:
        aimed = _followed(hunk, route)
        if aimed is None or not _stands(aimed, text, begins_line(change.base, hunk.start)):
            at = found_again(change.base, hunk, text)
            if at is None:
                return None
            aimed = replace(hunk, start=at, end=at + len(hunk.old))
        found.append(aimed)
    return tuple(sorted(found, key=lambda hunk: (hunk.start, hunk.end)))


def found_again(base: str, hunk: Hunk, text: str) -> int | None:
    """Where the old text of a hunk is, between the same lines, if that is so in one place only.

    It must have been the only such place before, too: another one that looks alike is not it.
    """
    head = base[base.rfind("\n", 0, max(hunk.start - 1, 0)) + 1 : hunk.start]
    after = base.find("\n", hunk.end)
    tail = base[hunk.end : len(base) if after < 0 else after + 1]
    look = head + hunk.old + tail
    if not look.strip() or _count(base, look) != 1 or _count(text, look) != 1:
        return None
    at = text.find(look)
    if begins_line(base, hunk.start - len(head)) and not begins_line(text, at):
        return None
    return at + len(head)


def _count(text: str, part: str) -> int:
    """How often it is there, 2 for more than once; places that overlap count each."""
    at = text.find(part)
    return 0 if at < 0 else 1 + (text.find(part, at + 1) >= 0)


def put(text: str, hunks: Iterable[Hunk]) -> str:
    """The text with hunks applied that stand in it, in order."""
    parts: list[str] = []
    at = 0
    for hunk in hunks:
        parts += text[at : hunk.start], hunk.new
        at = hunk.end
    return "".join(parts) + text[at:]


def splices_of(text: str, hunks: Sequence[Hunk]) -> list[Splice]:
    """The same as splices, the last hunk first: each is made on the text after the one before."""
    return [
        smallest(text, Splice(hunk.start, hunk.end, hunk.new))
        for hunk in sorted(hunks, key=lambda hunk: -hunk.start)
    ]


def moved(hunk: Hunk, splices: Iterable[Splice]) -> Hunk:
    """A hunk where it stands after splices that say the smallest change."""
    span = Span(hunk.start, hunk.end)
    for splice in splices:
        span = follow(span, "", splice)  # nothing is to be trimmed, so no text is needed
    return replace(hunk, start=span.start, end=span.end)


def _route(
    change: FileChange, already: Sequence[str], text: str, trail: Trail
) -> Sequence[Splice] | None:
    """What led from the base to the text; None where nothing of the base can be found in it."""
    done = [hunk for hunk in change.hunks if hunk.hunk_id in already]
    expected = put(change.base, done)
    ours = splices_of(change.base, done)
    if text == expected:
        return ours
    if not change.base:
        return None
    told = trail.since_text(change.digest)
    return [*ours, smallest(expected, Splice(0, len(expected), text))] if told is None else told


def _followed(hunk: Hunk, splices: Sequence[Splice]) -> Hunk | None:
    """The hunk after these splices; None for an insertion whose place was in what is gone."""
    span = Span(hunk.start, hunk.end)
    for splice in splices:
        if not hunk.old and splice.start < span.start < splice.end:
            return None
        span = follow(span, "", splice)
    return replace(hunk, start=span.start, end=span.end)


def _stands(hunk: Hunk, text: str, begins: bool) -> bool:
    if text[hunk.start : hunk.end] != hunk.old:
        return False
    return begins_line(text, hunk.start) or not begins


def begins_line(text: str, offset: int) -> bool:
    """Whether a line begins there."""
    return offset == 0 or text[offset - 1] in "\r\n"
