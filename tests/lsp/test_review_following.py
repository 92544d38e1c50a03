"""Hunks in a text that is typed in, against a naive model that marks single characters."""

from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.lsp.edits.trail import Trail
from turnbuckle.lsp.review.followed import Followed, places, standing_at
from turnbuckle.lsp.review.following import Sheet
from turnbuckle.workspace.changes import FileChange, Span, digest_of, make_change
from turnbuckle.workspace.text import Splice, smallest

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "dd\n", "\n", "e e\n"]), max_size=12)
TEXTS = LINES.map("".join)


def a_sheet(text: str, change: FileChange) -> tuple[Sheet, Followed]:
    trail = Trail()
    trail.hold(digest_of(text))
    sheet = Sheet(text, trail)
    file = Followed(change)
    sheet.add(file)
    return sheet, file


def type_(sheet: Sheet, splice: Splice) -> Splice:
    splice = smallest(sheet.text, splice)
    sheet.trail.add(splice)
    sheet.see(splice.on(sheet.text), [splice])
    return splice


@given(TEXTS, TEXTS, st.data())
def test_a_hunk_is_open_exactly_where_its_characters_still_stand_together(
    base: str, new: str, data: st.DataObject
) -> None:
    change = make_change("file:///a", base, new, "edit")
    sheet, file = a_sheet(base, change)
    marks = [(character, index) for index, character in enumerate(base)]
    for _ in range(data.draw(st.integers(0, 5))):
        start = data.draw(st.integers(0, len(sheet.text)))
        end = data.draw(st.integers(start, min(len(sheet.text), start + 6)))
        splice = type_(sheet, Splice(start, end, data.draw(st.sampled_from(["", "x", "a\n", "b"]))))
        marks[splice.start : splice.end] = [(character, -1) for character in splice.new]
    text = sheet.text
    assert text == "".join(character for character, _ in marks)
    for hunk in change.hunks:
        span = standing_at(change, hunk, file.spans[hunk.hunk_id], text)
        if span is not None and base:
            assert text[span.start : span.end] == hunk.old
        wanted = list(range(hunk.start, hunk.end))
        at = [index for index, (_, mark) in enumerate(marks) if mark in wanted]
        intact = [marks[index][1] for index in at] == wanted and (
            at == list(range(at[0], at[0] + len(at))) if at else False
        )
        begins = bool(at) and (at[0] == 0 or text[at[0] - 1] == "\n")
        if hunk.old and intact and begins:
            assert span == Span(at[0], at[-1] + 1)


@given(TEXTS, TEXTS, st.data())
def test_what_is_undone_step_by_step_is_open_again(
    base: str, new: str, data: st.DataObject
) -> None:
    change = make_change("file:///a", base, new, "edit")
    sheet, file = a_sheet(base, change)
    before = dict(file.spans)
    back: list[Splice] = []
    for _ in range(data.draw(st.integers(0, 5))):
        start = data.draw(st.integers(0, len(sheet.text)))
        end = data.draw(st.integers(start, len(sheet.text)))
        old = sheet.text
        splice = type_(sheet, Splice(start, end, data.draw(st.sampled_from(["", "x", "a\n"]))))
        back.append(
            Splice(splice.start, splice.start + len(splice.new), old[splice.start : splice.end])
        )
    for splice in reversed(back):
        type_(sheet, splice)
    assert sheet.text == base
    for hunk in change.hunks:
        span = standing_at(change, hunk, file.spans[hunk.hunk_id], base)
        assert span == before[hunk.hunk_id]


@given(TEXTS, TEXTS, st.data())
def test_an_applied_hunk_that_is_taken_back_is_noticed_and_no_other(
    base: str, new: str, data: st.DataObject
) -> None:
    change = make_change("file:///a", base, new, "edit")
    if not change.hunks:
        return
    sheet, file = a_sheet(base, change)
    applied: list[str] = []
    for hunk in data.draw(st.permutations(change.hunks)):
        span = file.spans[hunk.hunk_id]
        sheet.depart()
        type_(sheet, Splice(span.start, span.end, hunk.new))
        file.stand((hunk.hunk_id,))
        sheet.land(file, (hunk.hunk_id,))
        applied.append(hunk.hunk_id)
    assert sheet.text == new
    assert file.spans == places(change, applied, new)
    hunk = data.draw(st.sampled_from(change.hunks))
    span = file.spans[hunk.hunk_id]
    splice = smallest(new, Splice(span.start, span.end, hunk.old))
    undone = sheet.see(splice.on(new), [splice])
    rest = [i for i in applied if i != hunk.hunk_id]
    ((_, (gone,)),) = undone
    # In text that repeats, taking back one hunk can look like taking back another.
    assert sheet.text == change.with_hunks([i for i in applied if i != gone])
    if gone == hunk.hunk_id:
        assert file.standing == set(rest)
        assert file.spans == places(change, rest, sheet.text)


def test_what_is_applied_by_us_is_taken_for_nobodys_undoing() -> None:
    change = make_change("file:///a", "a\nb\n", "x\nb\n", "edit")
    sheet, file = a_sheet("a\nb\n", change)
    (hunk,) = change.hunks
    sheet.depart()
    type_(sheet, Splice(0, 2, "x\n"))
    file.stand((hunk.hunk_id,))
    sheet.land(file, (hunk.hunk_id,))
    assert sheet.see("a\nb\n", [Splice(0, 1, "a")], ours=True) == []
    assert sheet.see("x\nb\n", [Splice(0, 1, "x")]) == []
    assert sheet.see("a\nb\n", [Splice(0, 1, "a")]) == [(file, (hunk.hunk_id,))]
