"""One file of a change, and where its hunks are in a text that went on changing. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from turnbuckle.lsp.convert import fitted
from turnbuckle.lsp.edits.aiming import begins_line, found_again
from turnbuckle.lsp.edits.trail import Trail
from turnbuckle.workspace.changes import FileChange, Hunk, Span, follow
from turnbuckle.workspace.text import Splice, smallest

Spans: TypeAlias = dict[str, Span]
"""Places in a text by the ids of the hunks that stand there."""


@dataclass(slots=True, eq=False)
class Followed:
    """One file of a change.

    `batches` are hunks that were applied together and stand, the latest last. `spans` are places
    in the text that a `Sheet` holds; they mean nothing without one.
    """

    change: FileChange
    batches: list[tuple[str, ...]] = field(default_factory=list)
    spans: Spans = field(default_factory=dict)
    hunks: dict[str, Hunk] = field(init=False)

    def __post_init__(self) -> None:
        self.hunks = {hunk.hunk_id: hunk for hunk in self.change.hunks}

    @property
    def standing(self) -> set[str]:
        """The hunks that were applied and not undone since."""
        return {hunk_id for batch in self.batches for hunk_id in batch}

    def stand(self, hunk_ids: tuple[str, ...]) -> None:
        """These came to stand, together."""
        if hunk_ids:
            self.batches.append(hunk_ids)

    def fall(self, hunk_ids: Collection[str]) -> None:
        """These stand no longer."""
        rest = (tuple(i for i in batch if i not in hunk_ids) for batch in self.batches)
        self.batches = [batch for batch in rest if batch]


def places(
    change: FileChange, standing: Collection[str], text: str, trail: Trail | None = None
) -> Spans:
    """Where all hunks of a change are in a text that was the base once; `standing` were applied.

    Without a trail from the base, what differs is taken for one splice.
    """
    expected = change.with_hunks(standing)
    told: Sequence[Splice] | None = None
    if text != expected and trail is not None:
        told = trail.since_text(change.digest)
    if told is not None:
        spans = {hunk.hunk_id: Span(hunk.start, hunk.end) for hunk in change.hunks}
    else:
        spans = dict(_spread(change, standing))
        told = () if text == expected else (smallest(expected, Splice(0, len(expected), text)),)
    return moved_on(spans, told, _own(change.hunks, standing))


def _spread(change: FileChange, standing: Collection[str]) -> Iterator[tuple[str, Span]]:
    """The places of all hunks in the base with some of them applied."""
    shift = 0
    for hunk in change.hunks:
        now = hunk.new if hunk.hunk_id in standing else hunk.old
        yield hunk.hunk_id, Span(hunk.start + shift, hunk.start + shift + len(now))
        shift += len(now) - len(hunk.old)


def _own(hunks: Iterable[Hunk], standing: Collection[str]) -> dict[str, str]:
    """What comes to stand where hunks are applied: it is theirs."""
    return {hunk.hunk_id: hunk.new for hunk in hunks if hunk.hunk_id in standing}


def moved_on(spans: Spans, splices: Iterable[Splice], own: Mapping[str, str] = {}) -> Spans:
    """Places after splices that say the smallest change: before shifts, after stays, else widens.

    `own` is text that belongs to a hunk where it comes to stand at its place.
    """
    for splice in splices:
        spans = {hunk_id: _moved(span, splice, own.get(hunk_id)) for hunk_id, span in spans.items()}
    return spans


def _moved(span: Span, splice: Splice, own: str | None) -> Span:
    if own is not None and span.start <= splice.start and splice.end <= span.end:
        # What is the same at both ends is left out of a splice, so that it may seem to stand
        # before or after what it belongs to; then its length tells.
        end = span.end + len(splice.new) - (splice.end - splice.start)
        if end - span.start in lengths(own):
            return Span(span.start, end)
    return follow(span, "", splice)  # nothing is to be trimmed, so no text is needed


def lengths(text: str) -> set[int]:
    """How long a text is, with whatever line ends."""
    bare = text.replace("\r\n", "\n")
    return {len(text), len(bare), len(bare) + bare.count("\n")}


def standing_at(change: FileChange, hunk: Hunk, span: Span, text: str) -> Span | None:
    """Where the text is that an open hunk was made for; None where it is stale.

    It is looked for where it was last, and else between the lines that it stood between, where
    there is only one such place: so undoing what was typed revives it.
    """
    if not change.base:
        return None if text else Span(0, 0)
    if text[span.start : span.end] == hunk.old and (
        begins_line(text, span.start) or not begins_line(change.base, hunk.start)
    ):
        return span
    at = found_again(change.base, hunk, text)
    return None if at is None else Span(at, at + len(hunk.old))


def stands(hunk: Hunk, span: Span, text: str) -> bool:
    """Whether the new text of a hunk is at its place."""
    now = text[span.start : span.end]
    return now == hunk.new or ("\r" in now + hunk.new and now == fitted(hunk.new, text))


def fitted_old(hunk: Hunk, text: str) -> str:
    """The old text of a hunk with the line ends of a text."""
    return hunk.old if "\r" not in text + hunk.old else fitted(hunk.old, text)
