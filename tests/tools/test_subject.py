"""What a call would touch, as it is shown and approved."""

from collections.abc import Collection
from dataclasses import replace

from turnbuckle.tools.subject import HUNK_TEXT_LIMIT, Change, describe, digest
from turnbuckle.workspace.changes import FileChange, make_change

BASE = "".join(f"{n}\n" for n in range(1, 1001))


class Scanned(str):
    """A text that knows how much of it was searched."""

    __slots__ = ("much",)

    def count(self, *args: object) -> int:
        """Count as ever."""
        _, start, stop = args
        assert isinstance(start, int)
        assert isinstance(stop, int)
        self.much = getattr(self, "much", 0) + stop - start
        return super().count("\n", start, stop)


def edited(lines: Collection[int], base: str = BASE, text: str = "new\n") -> FileChange:
    """A change of these lines, counted from 1."""
    rows = base.splitlines(keepends=True)
    new = "".join(text if n in lines else row for n, row in enumerate(rows, 1))
    return make_change("file:///f", base, new, "edit")


def test_each_hunk_is_described_with_the_line_that_it_begins_in() -> None:
    change = Change(files=(edited((1, 3, 1000)), edited((2,))))
    shown = [[hunk["line"] for hunk in file["hunks"]] for file in describe(change)["files"]]
    assert shown == [[0, 2, 999], [1]]


def test_however_many_hunks_there_are_the_text_is_searched_once() -> None:
    base = Scanned(BASE)
    describe(Change(files=(replace(edited(range(1, 1000, 2)), base=base),)))
    assert base.much <= len(BASE)


def test_a_hunk_that_is_too_large_to_be_kept_is_named_without_its_text_and_still_bound() -> None:
    large = edited((5,), text="x" * HUNK_TEXT_LIMIT + "\n")
    (file,) = describe(Change(files=(large,)))["files"]
    (row,) = file["hunks"]
    assert row == {"hunkId": large.hunks[0].hunk_id, "line": 4, "truncated": True}
    (hunk,) = large.hunks
    other = replace(large, hunks=(replace(hunk, new=hunk.new.replace("x", "y")),))
    assert digest(Change(files=(large,))) != digest(Change(files=(other,)))
