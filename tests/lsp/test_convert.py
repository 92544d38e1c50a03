"""Offsets, hunks and line ends say the same to a client as they do here."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lsprotocol import types

from turnbuckle.lsp.convert import fitted, to_edits, to_offsets, to_range, to_workspace_edit
from turnbuckle.lsp.edits.aiming import put
from turnbuckle.testing.documents import Unit, edited_at_once, position_at
from turnbuckle.workspace.changes import Hunk, make_change
from turnbuckle.workspace.text import Positions

TEXTS = st.text(st.sampled_from("ab\n\r\u2028é測😀"), max_size=20)
UNITS = st.sampled_from(("utf-8", "utf-16", "utf-32"))
LINE = 's = "😀測😀"; x'


@pytest.mark.parametrize(("unit", "column"), [("utf-16", 13), ("utf-8", 19), ("utf-32", 11)])
def test_a_column_after_emoji_counts_in_the_clients_units(unit: Unit, column: int) -> None:
    at = LINE.index("x")
    range_ = to_range(Positions(LINE), at, at + 1, unit)
    assert (range_.start.character, range_.end.character) == (column, column + 1)


@given(TEXTS, st.data(), UNITS)
def test_a_range_names_its_offsets(text: str, data: st.DataObject, unit: Unit) -> None:
    places = [at for at in range(len(text) + 1) if text[at - 1 : at + 1] != "\r\n" or at == 0]
    start, end = sorted(data.draw(st.tuples(st.sampled_from(places), st.sampled_from(places))))
    range_ = to_range(Positions(text), start, end, unit)
    assert (range_.start.line, range_.start.character) == position_at(text, start, unit)
    assert to_offsets(Positions(text), range_, unit) == (start, end)
    backwards = types.Range(start=range_.end, end=range_.start)
    assert to_offsets(Positions(text), backwards, unit) == (start, end)


@given(TEXTS, TEXTS, UNITS)
def test_a_client_that_makes_the_edits_gets_the_new_text(text: str, new: str, unit: Unit) -> None:
    change = make_change("file:///a", text, new, "edit")
    assert client_makes(text, to_edits(Positions(text), change.hunks, unit), unit) == new


@given(TEXTS, st.integers(0, 20), st.integers(0, 20), TEXTS, UNITS)
@example("a\r\nb", 0, 2, "x", "utf-16")
@example("a\r\nb", 2, 4, "x", "utf-16")
@example("a\r\nb", 2, 2, "", "utf-16")
def test_a_hunk_that_cuts_a_line_end_in_two_is_made_exactly_all_the_same(
    text: str, one: int, other: int, new: str, unit: Unit
) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    hunk = Hunk(hunk_id="h", start=start, end=end, old=text[start:end], new=new)
    edits = to_edits(Positions(text), [hunk], unit)
    assert client_makes(text, edits, unit) == put(text, [hunk])


def client_makes(text: str, edits: list[types.TextEdit], unit: Unit) -> str:
    spans = [
        (
            (edit.range.start.line, edit.range.start.character),
            (edit.range.end.line, edit.range.end.character),
            edit.new_text,
        )
        for edit in edits
    ]
    return edited_at_once(text, spans, unit)


def test_an_edit_is_bound_to_a_version_where_the_client_takes_one() -> None:
    edit = types.TextEdit(range=to_range(Positions("a"), 0, 1, "utf-16"), new_text="b")
    bound = to_workspace_edit("file:///a", [edit], 7)
    assert bound.changes is None
    assert bound.document_changes == [
        types.TextDocumentEdit(
            text_document=types.OptionalVersionedTextDocumentIdentifier(uri="file:///a", version=7),
            edits=[edit],
        )
    ]
    assert to_workspace_edit("file:///a", [edit], None).changes == {"file:///a": [edit]}


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("a\r\nb\r\n", "x\r\ny\r\nz\r\n"),
        ("a\nb\n", "x\ny\nz\n"),
        ("a\rb\r", "x\ry\rz\r"),
        ("a\r\nb\n", "x\r\ny\nz\r"),  # a mixed text has no own kind
        ("a", "x\r\ny\nz\r"),
    ],
)
def test_new_text_gets_the_line_ends_of_a_text_that_has_one_kind(text: str, fits: str) -> None:
    assert fitted("x\r\ny\nz\r", text) == fits
