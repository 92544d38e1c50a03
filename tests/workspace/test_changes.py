"""Changes as hunks: all, none, any of them; shown, and followed while the text moves."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from turnbuckle.workspace.changes import (
    FileChange,
    Span,
    digest_of,
    follow,
    make_change,
    patch,
)
from turnbuckle.workspace.diff import changed_lines
from turnbuckle.workspace.line_ends import keep_line_ends, plain
from turnbuckle.workspace.text import Splice, line_end, split_lines

lines = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d\r", "e\n"]), max_size=14)
texts = st.tuples(lines, st.sampled_from(["", "end"])).map(lambda t: "".join(t[0]) + t[1])
edits = st.tuples(texts, texts)


def changed(pair: tuple[str, str]) -> FileChange:
    return make_change("file:///w/a.py", pair[0], pair[1], "edit")


@given(edits)
def test_all_hunks_give_the_new_text_and_none_the_old(pair: tuple[str, str]) -> None:
    change = changed(pair)
    assert change.with_hunks(()) == change.base == pair[0]
    assert change.result == pair[1]
    assert change.digest == digest_of(pair[0])


@given(edits)
def test_hunks_say_what_stands_there_and_never_touch(pair: tuple[str, str]) -> None:
    change = changed(pair)
    at = -1
    for hunk in change.hunks:
        assert change.base[hunk.start : hunk.end] == hunk.old
        assert hunk.old != hunk.new
        assert at < hunk.start
        at = hunk.end


@given(edits, st.data())
def test_any_hunks_can_be_applied_in_any_order(pair: tuple[str, str], data: st.DataObject) -> None:
    change = changed(pair)
    order = data.draw(st.permutations([hunk.hunk_id for hunk in change.hunks]))
    some = order[: data.draw(st.integers(0, len(order)))]
    by_id = {hunk.hunk_id: hunk for hunk in change.hunks}
    text, applied = change.base, set[str]()
    for hunk_id in some:
        start, hunk = change.offset_of(hunk_id, applied), by_id[hunk_id]
        assert text[start : start + len(hunk.old)] == hunk.old
        text = Splice(start, start + len(hunk.old), hunk.new).on(text)
        applied.add(hunk_id)
    assert text == change.with_hunks(some)


def test_an_unknown_hunk_has_no_place() -> None:
    with pytest.raises(KeyError):
        changed(("a\n", "b\n")).offset_of("nothing", ())


def test_a_new_file_is_one_hunk_even_if_it_is_empty() -> None:
    empty = make_change("file:///w/a.py", "", "", "create")
    assert [(hunk.old, hunk.new) for hunk in empty.hunks] == [("", "")]
    assert empty.digest == ""


def test_every_run_of_lines_that_differ_is_a_hunk_of_its_own() -> None:
    base = "".join(f"{n}\n" for n in range(20))
    change = changed((base, base.replace("\n3\n", "\nthree\nmore\n").replace("\n15\n", "\n")))
    assert [(h.old, h.new, h.counts) for h in change.hunks] == [
        ("3\n", "three\nmore\n", (2, 1)),
        ("15\n", "", (0, 1)),
    ]


def test_a_diff_over_its_budget_is_one_block_without_the_ends_that_are_equal() -> None:
    old = ["top\n", *["x\n", "y\n"] * 40, "end\n"]
    new = ["top\n", *["x\n", "z\n"] * 40, "end\n"]
    assert len(changed_lines(old, new)) == 40
    assert changed_lines(old, new, budget=100) == [(2, 81, 2, 81)]


def test_a_large_file_that_differs_everywhere_is_still_compared_line_by_line() -> None:
    old = [f"line {n}\n" for n in range(20_000)]
    new = [line if n % 100 else "changed\n" for n, line in enumerate(old)]
    assert len(changed_lines(old, new)) == 200


def test_lines_that_repeat_without_end_are_compared_as_one() -> None:
    old, new = ["x\n", "y\n"] * 20_000, ["x\n", "z\n"] * 20_000
    assert changed_lines(old, new) == [(1, 40_000, 1, 40_000)]


@given(lines, lines)
def test_what_lies_between_blocks_is_equal(old: list[str], new: list[str]) -> None:
    at = at_new = 0
    for a, b, c, d in [*changed_lines(old, new), (len(old), len(old), len(new), len(new))]:
        assert old[at:a] == new[at_new:c]
        at, at_new = b, d


@given(texts, texts)
def test_a_file_keeps_its_line_ends(base: str, other: str) -> None:
    end = line_end(base)
    new = plain(other, end)
    written = keep_line_ends(base, new)
    assert plain(written, end) == new
    if new == plain(base, end):
        assert written == base


def test_in_a_mixed_file_lines_that_are_not_edited_keep_their_own_ends() -> None:
    assert keep_line_ends("a\r\nb\nc", "a\nb\nC") == "a\r\nb\nC"
    assert keep_line_ends("a\r\nb\r\nc\n", "a\nnew\nb\nc\n") == "a\r\nnew\r\nb\r\nc\n"


def test_a_patch_shows_three_lines_around_what_differs() -> None:
    base = "".join(f"{n}\n" for n in range(30)) + "last"
    change = changed((base, base.replace("\n5\n", "\nfive\n").replace("last", "the end")))
    assert patch(change) == snapshot("""\
--- /w/a.py
+++ /w/a.py
@@ -3,7 +3,7 @@
 2
 3
 4
-5
+five
 6
 7
 8
@@ -28,4 +28,4 @@
 27
 28
 29
-last
\\ No newline at end of file
+the end
\\ No newline at end of file
""")


def test_a_patch_of_a_new_file_starts_from_nothing() -> None:
    change = make_change("file:///w/new.py", "", "x = 1\r\n", "create")
    assert patch(change, "new.py") == "--- /dev/null\n+++ new.py\n@@ -0,0 +1,1 @@\n+x = 1\n"


@given(edits)
def test_a_patch_applied_to_the_old_lines_gives_the_new(pair: tuple[str, str]) -> None:
    old, new = ([line.rstrip("\r\n") for line in split_lines(text)] for text in pair)
    shown = [line for line in patch(changed(pair)).split("\n")[2:-1] if line[0] != "\\"]
    made: list[str] = []
    at = 0
    for line in shown:
        if match := re.fullmatch(r"@@ -(\d+),(\d+) .*", line):
            start = int(match[1]) - (match[2] != "0")
            made += old[at:start]
            at = start
            continue
        if line[0] != "+":
            assert old[at] == line[1:]
            at += 1
        if line[0] != "-":
            made.append(line[1:])
    assert made + old[at:] == new


pieces = st.text(st.sampled_from("ab\n"), max_size=12)


@given(pieces, pieces, pieces, pieces, st.booleans())
def test_a_span_follows_edits_beside_it(
    head: str, hunk: str, tail: str, new: str, before: bool
) -> None:
    text = head + hunk + tail
    span = Span(len(head), len(head) + len(hunk))
    edit = Splice(0, len(head), new) if before else Splice(span.end, len(text), new)
    moved = follow(span, text, edit)
    # An edit that ends with what the span begins with may be read as one inside of it.
    assert hunk in edit.on(text)[moved.start : moved.end]


def test_a_span_shifts_stays_or_widens() -> None:
    text = "0123456789"
    span = Span(4, 6)
    assert follow(span, text, Splice(0, 2, "")) == Span(2, 4)
    assert follow(span, text, Splice(4, 4, "xx")) == Span(6, 8)
    assert follow(span, text, Splice(6, 9, "x")) == span
    assert follow(span, text, Splice(5, 8, "x")) == Span(4, 6)
    assert follow(span, text, Splice(3, 5, "xyz")) == Span(3, 7)


def test_undoing_an_edit_inside_a_span_revives_it() -> None:
    text, span = "0123456789", Span(4, 6)
    edit = Splice(5, 6, "xyz")
    typed = edit.on(text)
    widened = follow(span, text, edit)
    assert typed[widened.start : widened.end] != "45"
    back = follow(widened, typed, Splice(5, 8, "5"))
    assert text[back.start : back.end] == "45"


def test_typing_around_a_span_that_leaves_it_as_it_is_only_moves_it() -> None:
    text, span = "abc", Span(1, 2)
    assert follow(span, text, Splice(0, 3, "xabc")) == Span(2, 3)
