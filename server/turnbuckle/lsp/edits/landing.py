"""Seeing whether what was sent to an editor came to stand in its text; pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from turnbuckle.lsp.edits.aiming import moved, put, splices_of
from turnbuckle.workspace.changes import Hunk
from turnbuckle.workspace.diff import changed_lines
from turnbuckle.workspace.line_ends import plain
from turnbuckle.workspace.text import Splice, smallest, split_lines


class Landing:
    """Watches a text from when hunks were sent for it, one splice after another.

    Texts are compared, never ranges: editors send the smallest change, whole lines, or one change
    for all that happened in a while. `pending` are the hunks that do not stand there yet, where
    they belong now. `strayed` says that something like them came to stand elsewhere. `story` tells
    the splices that were seen as hunks and what a person did beside them.
    """

    def __init__(self, text: str, hunks: tuple[Hunk, ...]) -> None:
        self.text = text
        self.pending = hunks
        self.strayed = False
        self.story: list[Splice] = []
        self._sent = len(hunks)

    @property
    def landed(self) -> bool:
        """Whether every hunk has come to stand where it belongs."""
        return not self.pending

    @property
    def begun(self) -> bool:
        """Whether at least one has."""
        return len(self.pending) < self._sent

    def see(self, splice: Splice) -> None:
        """Take in one more change of the text, the smallest that says what changed."""
        for group, beside in self._readings(splice):
            if beside is not None:
                self._take(group, [*splices_of(self.text, group), *beside])
                break
        else:
            self.strayed |= any(_resembles(self.text, splice, hunk) for hunk in self.pending)
            self._take((), [splice])
        self.text = splice.on(self.text)

    def _readings(self, splice: Splice) -> Iterator[tuple[tuple[Hunk, ...], list[Splice] | None]]:
        """Hunks that the change may hold, and what else it holds then, None if it does not."""
        text, pending = self.text, self.pending
        if not pending:
            return
        yield pending, _beside(text, pending, splice)
        for hunk in pending if len(pending) > 1 else ():
            yield (hunk,), [] if same(text, hunk, splice) else None
        yield pending, _theirs(text, pending, splice)

    def _take(self, group: tuple[Hunk, ...], told: list[Splice]) -> None:
        self.story += told
        self.pending = tuple(moved(hunk, told) for hunk in self.pending if hunk not in group)


def _beside(text: str, hunks: tuple[Hunk, ...], splice: Splice) -> list[Splice] | None:
    """What an editor added of itself to exactly these hunks: line ends, one at the end of all."""
    ends = sum(hunk.new.count("\n") for hunk in hunks)
    if abs(_growth([splice]) - _growth(splices_of(text, hunks))) > ends + len("\r\n"):
        return None
    low = min(splice.start, hunks[0].start)
    high = max(splice.end, hunks[-1].end)
    expected, now = _both(text, hunks, splice, low, high)
    ended = high == len(text) and now in (expected + "\n", expected + "\r\n")
    if ended or plain(now, "\n") == plain(expected, "\n"):
        rest = smallest(expected, Splice(0, len(expected), now))
        return [Splice(rest.start + low, rest.end + low, rest.new)] if now != expected else []
    return None


def same(text: str, hunk: Hunk, splice: Splice) -> bool:
    """Whether the change is exactly this hunk; in text that repeats, other places say the same."""
    if len(hunk.new) - (hunk.end - hunk.start) != _growth([splice]):
        return False
    low, high = min(splice.start, hunk.start), max(splice.end, hunk.end)
    expected, now = _both(text, (hunk,), splice, low, high)
    return expected == now


def _both(
    text: str, hunks: tuple[Hunk, ...], splice: Splice, low: int, high: int
) -> tuple[str, str]:
    """The part `[low, high)` of the text with the hunks, and with the change."""
    near = text[low:high]
    shifted = [replace(hunk, start=hunk.start - low, end=hunk.end - low) for hunk in hunks]
    return put(near, shifted), Splice(splice.start - low, splice.end - low, splice.new).on(near)


def _theirs(text: str, hunks: tuple[Hunk, ...], splice: Splice) -> list[Splice] | None:
    """What a person did beside these hunks, where one change holds both.

    The new texts stand between the same lines as before, and what is left is less to explain than
    the change without them.
    """
    cores = splices_of(text, hunks)
    if any(len(core.new) > len(splice.new) or _gone(core) > _gone(splice) for core in cores):
        return None
    low = text.rfind("\n", 0, min(splice.start, hunks[0].start)) + 1
    high = text.find("\n", max(splice.end, hunks[-1].end)) + 1 or len(text)
    expected, now = _both(text, hunks, splice, low, high)
    rest = _differences(expected, now)
    growths = (len(hunk.new) - (hunk.end - hunk.start) for hunk in hunks)
    before = accumulate(growths, initial=-low)
    for hunk, shift in zip(hunks, before, strict=False):
        start = hunk.start + shift
        if any(part.start <= start + len(hunk.new) and start <= part.end for part in rest):
            return None
    if _cost(rest) >= _cost(_differences(text[low:high], now)):
        return None
    return [Splice(part.start + low, part.end + low, part.new) for part in rest]


def _differences(old: str, new: str) -> list[Splice]:
    """Lines that differ, the last first, so that each can be made after the one before."""
    old_lines, new_lines = split_lines(old), split_lines(new)
    starts = [0, *accumulate(map(len, old_lines))]
    return [
        smallest(old, Splice(starts[a], starts[b], "".join(new_lines[c:d])))
        for a, b, c, d in reversed(changed_lines(old_lines, new_lines))
    ]


def _gone(splice: Splice) -> int:
    return splice.end - splice.start


def _growth(splices: Sequence[Splice]) -> int:
    return sum(len(splice.new) - _gone(splice) for splice in splices)


def _cost(splices: Sequence[Splice]) -> int:
    return sum(len(splice.new) + _gone(splice) for splice in splices)


def _resembles(text: str, splice: Splice, hunk: Hunk) -> bool:
    """Whether a change brings the hunk's new text, or takes as many lines, somewhere else."""
    wanted = hunk.new.strip()
    if not wanted:
        gone = text[splice.start : splice.end].count("\n")
        return gone > 0 and gone - splice.new.count("\n") == hunk.old.count("\n")
    low = max(0, splice.start - len(wanted))
    before = text[low : splice.end + len(wanted)]
    now = text[low : splice.start] + splice.new + text[splice.end : splice.end + len(wanted)]
    return now.count(wanted) > before.count(wanted)
