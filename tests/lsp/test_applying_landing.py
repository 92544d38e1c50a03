"""Hunks are followed through whatever is typed, and are seen to land only where they belong."""

import itertools
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.lsp.edits.aiming import aim, put, splices_of
from turnbuckle.lsp.edits.landing import Landing
from turnbuckle.lsp.edits.trail import Trail
from turnbuckle.workspace.changes import FileChange, Hunk, digest_of, make_change
from turnbuckle.workspace.text import Splice, smallest

SAME = st.sampled_from(("a\n", "b\n", "\n"))
"""Lines that repeat, so that one change can be told as several others."""


@dataclass
class Editor:
    """A text of gaps, in which a person types, with a hunk between each two of them."""

    gaps: list[str]
    hunks: list[tuple[str, str]]
    applied: set[int] = field(default_factory=set)

    @property
    def text(self) -> str:
        return "".join(self.parts())

    def parts(self) -> list[str]:
        parts = [self.gaps[0]]
        for index, (old, new) in enumerate(self.hunks):
            parts += [new if index in self.applied else old, self.gaps[index + 1]]
        return parts

    def start(self, index: int) -> int:
        return sum(map(len, self.parts()[: 2 * index + 1]))

    def change(self) -> FileChange:
        hunks: list[Hunk] = []
        for index, (old, new) in enumerate(self.hunks):
            at = self.start(index)
            hunks.append(Hunk(hunk_id=str(index), start=at, end=at + len(old), old=old, new=new))
        base = self.text
        return FileChange(
            uri="file:///a", kind="edit", digest=digest_of(base), base=base, hunks=tuple(hunks)
        )

    def type(self, gap: int, start: int, end: int, new: str) -> Splice:
        """Type in a gap, but not at its ends; gives what an editor tells of it."""
        text, before = self.gaps[gap], self.text
        start, end = sorted((1 + start % (len(text) - 1), 1 + end % (len(text) - 1)))
        at = sum(map(len, self.parts()[: 2 * gap]))
        self.gaps[gap] = text[:start] + new + text[end:]
        return smallest(before, Splice(at + start, at + end, new))

    def apply(self, wanted: set[int], *, at_once: bool) -> list[Splice]:
        """Make hunks, told one after another or as one change of all that lies between."""
        before = self.text
        hunks = [
            Hunk(hunk_id="", start=self.start(i), end=self.start(i) + len(old), old=old, new=new)
            for i, (old, new) in enumerate(self.hunks)
            if i in wanted
        ]
        self.applied |= wanted
        whole = smallest(before, Splice(0, len(before), self.text))
        return [whole] if at_once else splices_of(before, hunks)


def editors(
    gap: st.SearchStrategy[str], lines: st.SearchStrategy[str]
) -> st.SearchStrategy[Editor]:
    """Editors with one to three hunks, each of which changes something."""
    some = st.lists(lines, max_size=2).map("".join)
    hunk = st.tuples(some, some).filter(lambda pair: pair[0] != pair[1])
    return st.integers(1, 3).flatmap(
        lambda count: st.builds(
            Editor,
            st.lists(gap, min_size=count + 1, max_size=count + 1),
            st.lists(hunk, min_size=count, max_size=count),
        )
    )


TYPING = st.tuples(
    st.integers(0, 3), st.integers(0, 9), st.integers(0, 9), st.text("ab\n", max_size=3)
)


@given(
    editors(st.lists(SAME, min_size=1, max_size=3).map(lambda ls: "x" + "".join(ls)), SAME),
    st.data(),
)
def test_hunks_that_are_applied_one_after_another_stand_where_they_belong_whatever_is_typed(
    editor: Editor, data: st.DataObject
) -> None:
    change, trail = editor.change(), Trail()
    trail.hold(change.digest)
    while open_ := set(range(len(editor.hunks))) - editor.applied:
        for gap, start, end, new in data.draw(st.lists(TYPING, max_size=2)):
            trail.add(editor.type(gap % len(editor.gaps), start, end, new))
        wanted = data.draw(st.sets(st.sampled_from(sorted(open_)), min_size=1))
        already = tuple(map(str, editor.applied))
        hunks = aim(change, tuple(map(str, wanted)), already, editor.text, trail)
        assert hunks is not None
        assert [(hunk.hunk_id, hunk.start) for hunk in hunks] == [
            (str(index), editor.start(index)) for index in sorted(wanted)
        ]
        first, landing = trail.hold(), Landing(editor.text, hunks)
        if data.draw(st.booleans()):
            splice = editor.type(
                *data.draw(TYPING.map(lambda t: (t[0] % len(editor.gaps), *t[1:])))
            )
            trail.add(splice)
            landing.see(splice)
        for splice in editor.apply(wanted, at_once=data.draw(st.booleans())):
            trail.add(splice)
            landing.see(splice)
        assert landing.landed
        assert landing.text == editor.text
        trail.retell(first, landing.story)


def numbered(editor: Editor) -> Editor:
    """The same editor with lines of which no two are alike."""
    numbers = itertools.count()

    def lines(text: str) -> str:
        return "".join(f"line {next(numbers):03}\n" for _ in range(text.count("\n")))

    gaps = ["x" + lines(gap) for gap in editor.gaps]
    return Editor(gaps, [(lines(old), lines(new)) for old, new in editor.hunks])


UNIQUE = editors(SAME, SAME).map(numbered)


@given(UNIQUE, st.data())
def test_hunks_are_seen_in_one_change_with_what_was_typed_elsewhere(
    editor: Editor, data: st.DataObject
) -> None:
    change, trail = editor.change(), Trail()
    trail.hold(change.digest)
    before = editor.text
    wanted = data.draw(st.sets(st.integers(0, len(editor.hunks) - 1), min_size=1))
    hunks = aim(change, tuple(map(str, wanted)), (), before, trail)
    assert hunks is not None
    gap, start, end, _ = data.draw(TYPING)
    first = trail.hold()
    editor.type(gap % len(editor.gaps), start % 4, end % 4, "typed")
    editor.apply(wanted, at_once=True)
    splice = smallest(before, Splice(0, len(before), editor.text))
    trail.add(splice)
    landing = Landing(before, hunks)
    landing.see(splice)
    assert landing.landed
    trail.retell(first, landing.story)
    rest = tuple(str(index) for index in range(len(editor.hunks)) if index not in wanted)
    others = aim(change, rest, tuple(map(str, wanted)), editor.text, trail)
    assert others is not None
    assert [hunk.start for hunk in others] == [editor.start(int(index)) for index in rest]


@given(UNIQUE, st.lists(TYPING, max_size=4))
def test_typing_alone_never_looks_like_the_hunks(
    editor: Editor, typing: list[tuple[int, int, int, str]]
) -> None:
    change = editor.change()
    landing = Landing(editor.text, change.hunks)
    for gap, start, end, new in typing:
        landing.see(editor.type(gap % len(editor.gaps), start, end, new))
    assert not landing.landed
    assert not landing.begun
    assert not landing.strayed or not all(hunk.new for hunk in change.hunks)
    assert (
        put(landing.text, landing.pending)
        == Editor(editor.gaps, editor.hunks, set(range(len(editor.hunks)))).text
    )


BASE = "".join(f"line {number}\n" for number in range(10))
NEW = BASE.replace("line 5\n", "five\nand a half\n")
CHANGE = make_change("file:///a", BASE, NEW, "edit")
ID = CHANGE.hunks[0].hunk_id


def aimed(
    text: str, *, trail: Trail | None = None, change: FileChange = CHANGE
) -> list[int] | None:
    hunks = aim(change, [hunk.hunk_id for hunk in change.hunks], (), text, trail or Trail())
    return None if hunks is None else [hunk.start for hunk in hunks]


def typed(text: str, *edits: Splice) -> tuple[str, Trail]:
    trail = Trail()
    trail.hold(digest_of(text))
    for edit in edits:
        edit = smallest(text, edit)
        trail.add(edit)
        text = edit.on(text)
    return text, trail


def test_text_elsewhere_may_differ_also_where_nobody_saw_it_change() -> None:
    assert aimed("new\n" + BASE) == [BASE.index("line 5") + len("new\n")]
    assert aimed(BASE + "new\n") == [BASE.index("line 5")]
    around = "new\n" + BASE + "new\n"  # between the two nothing is known, but it reads as before
    assert aimed(around) == [BASE.index("line 5") + len("new\n")]
    assert aimed(around.replace("line 4", "line four")) is None
    text, trail = typed(BASE, Splice(0, 0, "new\n"), Splice(len(BASE) + 4, len(BASE) + 4, "new\n"))
    assert aimed(text, trail=trail) == [BASE.index("line 5") + len("new\n")]


def test_a_hunk_does_not_go_over_to_a_place_that_only_looks_like_its_own() -> None:
    base = "a\nold\nb\n" * 2
    change = make_change("file:///a", base, "a\nnew\nb\n" + base[len(base) // 2 :], "edit")
    text, trail = typed(base, Splice(0, len(base) // 2, "gone\n"))
    assert aimed(text, trail=trail, change=change) is None


def test_a_hunk_is_stale_where_its_text_changed_and_alive_again_after_undo() -> None:
    at = BASE.index("ne 5")
    edits = [Splice(at, at + 2, "!"), Splice(at, at + 1, "ne")]
    text, trail = typed(BASE, edits[0])
    assert aimed(text, trail=trail) is None
    text, trail = typed(BASE, *edits, Splice(0, 0, "elsewhere\n"))
    assert aimed(text, trail=trail) == [BASE.index("line 5") + len("elsewhere\n")]


def test_an_insertion_is_stale_where_its_place_is_gone() -> None:
    change = make_change("file:///a", BASE, BASE.replace("line 5\n", "new\nline 5\n"), "edit")
    at = change.hunks[0].start
    text, trail = typed(BASE, Splice(at - 7, at + 7, ""))
    assert aimed(text, trail=trail, change=change) is None


def test_a_hunk_that_does_not_begin_a_line_any_more_is_stale() -> None:
    change = make_change("file:///a", BASE, BASE.replace("line 5\n", "new\nline 5\n"), "edit")
    at = change.hunks[0].start
    text, trail = typed(BASE, Splice(at - 1, at, ""))
    assert aimed(text, trail=trail, change=change) is None


def test_what_was_to_fill_an_empty_file_is_stale_where_there_is_text_now() -> None:
    change = make_change("file:///a", "", "content\n", "create")
    assert aimed("", change=change) == [0]
    assert aimed("typed\n", change=change) is None


def watching(text: str = BASE) -> Landing:
    return Landing(text, CHANGE.hunks)


def seen(landing: Landing, after: str) -> Landing:
    landing.see(smallest(landing.text, Splice(0, len(landing.text), after)))
    return landing


@pytest.mark.parametrize(
    "after",
    [
        NEW,
        NEW + "\n",  # an editor that ends every file with a line end
        NEW.replace("five\nand a half\n", "five\r\nand a half\r\n"),  # that has its own line ends
        "typed\n" + NEW + "typed\n",
    ],
)
def test_the_new_text_in_its_place_has_landed(after: str) -> None:
    landing = seen(watching(), after)
    assert landing.landed
    text = BASE
    for splice in landing.story:
        text = splice.on(text)
    assert text == after


def test_a_blank_line_among_others_has_not_landed_when_something_else_was_typed() -> None:
    base = "x\n\n\n\ny\nz\n"
    blank = Hunk(hunk_id="h", start=2, end=2, old="", new="\n")
    assert not seen(Landing(base, (blank,)), base + "more\n").landed
    assert seen(Landing(base, (blank,)), base.replace("y", "\ny") + "more\n").landed


@pytest.mark.parametrize(
    "after",
    [
        BASE,
        BASE.replace("line 6\n", "five\nand a half\n"),
        BASE.replace("line 4\n", "five\nand a half\n"),
        BASE.replace("line 5\n", "five\nand a half\nline 5\n"),
        BASE.replace("line 5\n", "five\n"),
        "typed\n" * 3 + BASE.replace("line 2\n", "five\nand a half\n"),
        "",
    ],
)
def test_the_new_text_elsewhere_or_in_part_has_not_landed(after: str) -> None:
    landing = seen(watching(), after)
    assert not landing.landed
    assert landing.strayed is ("and a half" in after)


def test_lines_that_were_taken_elsewhere_have_strayed() -> None:
    gone = make_change("file:///a", BASE, BASE.replace("line 5\n", ""), "edit")
    landing = seen(Landing(BASE, gone.hunks), BASE.replace("line 2\n", ""))
    assert landing.strayed
    assert not landing.landed


def test_what_stands_is_not_lost_when_the_person_changes_it_afterwards() -> None:
    landing = seen(seen(watching(), NEW), NEW.replace("half", "quarter"))
    assert landing.landed


def test_hunks_that_land_one_by_one_have_begun_and_then_landed() -> None:
    change = make_change("file:///a", BASE, NEW.replace("line 8", "eight"), "edit")
    landing = seen(Landing(BASE, change.hunks), BASE.replace("line 8", "eight"))
    assert (landing.begun, landing.landed) == (True, False)
    assert seen(landing, NEW.replace("line 8", "eight")).landed
