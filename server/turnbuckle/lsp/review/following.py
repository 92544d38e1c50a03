"""Follow the hunks of proposed changes in a text while it changes, and notice undoing. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from turnbuckle.lsp.edits.aiming import put, splices_of
from turnbuckle.lsp.edits.landing import same
from turnbuckle.lsp.edits.trail import Trail
from turnbuckle.lsp.review.followed import (
    Followed,
    Spans,
    fitted_old,
    lengths,
    moved_on,
    places,
    stands,
)
from turnbuckle.workspace.changes import Hunk
from turnbuckle.workspace.text import Splice


class Sheet:
    """A text and the files of changes whose hunks are followed in it."""

    def __init__(self, text: str, trail: Trail) -> None:
        self.text = text
        self.trail = trail
        self.files: list[Followed] = []
        self._flights = 0
        self._held = 0
        self._before: dict[Followed, Spans] = {}

    def add(self, file: Followed) -> None:
        """Follow one more file of a change, from its base to the text as it is now."""
        file.spans = places(file.change, file.standing, self.text, self.trail)
        self.files.append(file)

    def see(
        self, text: str, splices: Sequence[Splice], *, ours: bool = False
    ) -> list[tuple[Followed, tuple[str, ...]]]:
        """Take over the next text, and what led to it; gives what was undone in that.

        With `ours` an edit of ours is on its way, and nothing is taken for the person's undoing.
        """
        before, self.text = self.text, text
        undone: list[tuple[Followed, tuple[str, ...]]] = []
        if not ours:
            for file in self.files:
                if batch := _undone_batch(file, before, text):
                    splices = splices_of(before, [_inverse(file, i, before) for i in batch])
                    undone.append((file, batch))
                    break
        for splice in splices:
            singles = [] if ours or undone else list(self._singles(before, splice))
            self._follow([splice], {i for _, batch in undone + singles for i in batch})
            undone += singles
            before = splice.on(before) if len(splices) > 1 else text
        for file, batch in undone:
            file.fall(batch)
        for file in self.files if not ours else ():
            if _as_it_was(file, text):
                file.spans = places(file.change, file.standing, text)
        return undone

    def _singles(self, text: str, splice: Splice) -> Iterator[tuple[Followed, tuple[str, ...]]]:
        grown = len(splice.new) - (splice.end - splice.start)
        for file in self.files:
            for hunk_id in file.standing:
                hunk, span = file.hunks[hunk_id], file.spans[hunk_id]
                if span.end - span.start + grown not in lengths(hunk.old):
                    continue  # told first, since this is asked with every key
                inverse = _inverse(file, hunk_id, text)
                differs = inverse.old != inverse.new
                if differs and stands(hunk, span, text) and same(text, inverse, splice):
                    yield file, (hunk_id,)
                    return

    def _follow(self, splices: Sequence[Splice], back: Collection[str] = ()) -> None:
        """Follow all; what falls back takes its old text for its own again."""
        for file in self.files:
            own = {i: file.hunks[i].old for i in back if i in file.hunks}
            file.spans = moved_on(file.spans, splices, own)

    def depart(self) -> None:
        """An edit of ours is on its way from now on."""
        if not self._flights:
            self._hold()
        self._flights += 1

    def land(self, file: Followed, hunk_ids: Collection[str], *, back: bool = False) -> None:
        """It came to its end: these hunks stand now, or with `back` their old text does again.

        What happened meanwhile is known better now than when it was seen.
        """
        if not self._flights or (told := self.trail.since(self._held)) is None:
            file.spans = places(file.change, file.standing, self.text, self.trail)
        else:
            own = {i: h.old if back else h.new for i, h in file.hunks.items() if i in hunk_ids}
            for other in self.files:
                if (spans := self._before.get(other)) is not None:
                    other.spans = moved_on(spans, told, own if other is file else {})
        self._flights = max(0, self._flights - 1)
        if self._flights:
            self._hold()

    def _hold(self) -> None:
        self._held = self.trail.hold()
        self._before = {file: file.spans for file in self.files}


def _as_it_was(file: Followed, text: str) -> bool:
    """Whether a text is the base with what stands of the change, and nothing else."""
    standing = file.standing
    grown = sum(len(h.new) - len(h.old) for h in file.change.hunks if h.hunk_id in standing)
    if len(text) != len(file.change.base) + grown:
        return False
    return text == file.change.with_hunks(standing)


def _inverse(file: Followed, hunk_id: str, text: str) -> Hunk:
    """What takes back an applied hunk where it stands, as a hunk of its own."""
    hunk, span = file.hunks[hunk_id], file.spans[hunk_id]
    old = text[span.start : span.end]
    return replace(hunk, start=span.start, end=span.end, old=old, new=fitted_old(hunk, text))


def _undone_batch(file: Followed, before: str, text: str) -> tuple[str, ...]:
    """Hunks that were applied together and are all taken back in one; nothing else changed."""
    for batch in reversed(file.batches):
        hunks = [file.hunks[hunk_id] for hunk_id in batch]
        grown = sum(len(hunk.old) - len(hunk.new) for hunk in hunks)
        if len(text) - len(before) != grown or text == before:
            continue
        if not all(stands(hunk, file.spans[hunk.hunk_id], before) for hunk in hunks):
            continue
        inverses = sorted((_inverse(file, i, before) for i in batch), key=lambda h: h.start)
        if put(before, inverses) == text:
            return batch
    return ()
