"""Bytes, lines, positions and splices."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.workspace.errors import WorkspaceError
from turnbuckle.workspace.text import (
    Form,
    Positions,
    Splice,
    Unit,
    decode,
    encode,
    line_end,
    smallest,
    split_lines,
    whole,
)

clean_text = st.text(st.characters(exclude_characters="\0", codec="utf-8"))
texts = st.text(st.sampled_from("ab\r\n\u2028\fé測😀"), max_size=40)
units: st.SearchStrategy[Unit] = st.sampled_from(("utf-8", "utf-16", "utf-32"))
forms = st.sampled_from(
    (
        Form(),
        Form(bom=b"\xef\xbb\xbf"),
        Form(encoding="utf-16-le", bom=b"\xff\xfe"),
        Form(encoding="utf-16-be", bom=b"\xfe\xff"),
    )
)


@given(clean_text, forms)
def test_a_text_is_read_as_it_was_written_and_its_form_is_seen(text: str, form: Form) -> None:
    if text.startswith("\ufeff") and not form.bom:
        return  # its first character is itself a byte order mark
    assert decode(encode(text, form)) == (text, form)


@given(st.binary(max_size=40))
def test_bytes_are_refused_or_written_back_exactly(data: bytes) -> None:
    with suppress(WorkspaceError):
        assert encode(*decode(data)) == data


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "BINARY"),
        (b"a\0b", "BINARY"),
        (b"\xff\xfea\0\0\0", "BINARY"),
        (b"# caf\xe9\nprice = 5\n", "ENCODING"),
        (b"\xff\xfe\0\0a\0\0\0", "ENCODING"),
        (b"\0\0\xfe\xff\0\0\0a", "ENCODING"),
        (b"\xff\xfea", "ENCODING"),
        (b"\xed\xa0\x80", "ENCODING"),
    ],
)
def test_what_is_no_unicode_text_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(WorkspaceError) as caught:
        decode(data)
    assert caught.value.code == code


@given(st.text())
def test_a_text_that_entered_can_be_written(text: str) -> None:
    entered = whole(text)
    entered.encode()
    assert entered == text or any("\ud800" <= c <= "\udfff" for c in text)


def test_halves_of_a_character_are_joined_and_lone_ones_replaced() -> None:
    assert whole("a\ud83d\ude00b\ud83d") == "a😀b\ufffd"


@given(texts)
def test_only_cr_lf_and_crlf_end_a_line(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    expected = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert [line.rstrip("\r\n") for line in lines] == expected[: len(lines)]
    assert expected[len(lines) :] in ([], [""])


@pytest.mark.parametrize(
    ("text", "end"), [("", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\rb\r", "\r"), ("a\nb\r\n", "\n")]
)
def test_a_file_ends_its_lines_as_most_of_them_do(text: str, end: str) -> None:
    assert line_end(text) == end


@pytest.mark.parametrize(("unit", "column"), [("utf-8", 19), ("utf-16", 13), ("utf-32", 11)])
def test_columns_after_emoji_and_cjk_count_in_the_units_of_the_editor(
    unit: Unit, column: int
) -> None:
    line = 's = "😀測😀"; x'
    positions = Positions("first\n" + line)
    assert positions.position(6 + line.index("x"), unit) == (1, column)
    assert positions.offset(1, column, unit) == 6 + line.index("x")


@given(texts, units, st.data())
def test_offsets_go_to_positions_and_back(text: str, unit: Unit, data: st.DataObject) -> None:
    positions = Positions(text)
    offset = data.draw(st.integers(0, len(text)))
    back = positions.offset(*positions.position(offset, unit), unit)
    between = text[offset - 1 : offset + 1] == "\r\n" and offset > 0
    assert back == offset - between


@given(texts, units, st.integers(-2, 60), st.integers(-2, 60))
def test_positions_outside_are_clamped(text: str, unit: Unit, line: int, character: int) -> None:
    positions = Positions(text)
    offset = positions.offset(line, character, unit)
    assert 0 <= offset <= len(text)
    if 0 <= line < len(positions.starts):
        assert positions.starts[line] <= offset <= positions.line_stop(line)


def test_a_character_past_the_end_of_a_line_is_its_end_before_the_line_end() -> None:
    positions = Positions("ab\r\ncd\re\n")
    assert positions.offset(0, 99, "utf-16") == 2
    assert positions.offset(1, 99, "utf-16") == 6
    assert positions.offset(9, 0, "utf-16") == 9
    assert positions.offset(-1, 3, "utf-16") == 0


def test_a_position_inside_a_character_is_its_start() -> None:
    assert Positions("a😀b").offset(0, 2, "utf-16") == 1
    assert Positions("a😀b").offset(0, 3, "utf-8") == 1


@given(texts, texts, st.data())
def test_the_smallest_splice_does_the_same(text: str, new: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    splice = Splice(start, end, new)
    small = smallest(text, splice)
    assert small.on(text) == splice.on(text)
    old = text[small.start : small.end]
    if old and small.new:
        assert old[0] != small.new[0]
        assert old[-1] != small.new[-1]
