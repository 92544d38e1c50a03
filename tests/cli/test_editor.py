"""Keys to lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.cli.editor import Closed, Editor


def typed(keys: str) -> list[str | Closed]:
    """The lines that come of keys."""
    editor, lines = Editor(), list[str | Closed]()
    editor.feed(keys)
    while (line := editor.take()) is not None:
        lines.append(line)
        if isinstance(line, Closed):
            break
    return lines


@pytest.mark.parametrize(
    ("keys", "lines"),
    [
        ("yes\n", ["yes"]),
        ("yes\r", ["yes"]),
        ("yes", []),
        ("nox\x7f\n", ["no"]),
        ("e\u0301\x7f\n", [""]),
        ("two words\x17one\n", ["two one"]),
        ("gone\x15\n", [""]),
        ("\x7f\x17\n", [""]),
        ("a\x1b[Ab\x1b[1;5Cc\x1bOPd\n", ["abcd"]),
        ("a\x01\x0b\n", ["a"]),
        ("a\tb\n", ["a b"]),
        ("a\x04\n", ["a"]),
        ("\x04", [Closed.CLOSED]),
        ("one\ntwo\n", ["one", "two"]),
        ("grün 日本\n", ["grün 日本"]),
    ],
)
def test_lines_are_typed_and_edited(keys: str, lines: list[str | Closed]) -> None:
    assert typed(keys) == lines


def test_a_line_that_goes_on_is_shown() -> None:
    editor = Editor()
    editor.feed("hel")
    assert editor.take() is None
    assert editor.text == "hel"


def test_what_was_typed_before_can_be_dropped() -> None:
    editor = Editor()
    editor.feed("y")
    editor.take()
    editor.feed("\ny\n")
    editor.forget()
    assert editor.take() is None
    assert editor.text == ""


@given(st.text(st.characters(exclude_characters="\x1b")), st.data())
def test_it_does_not_matter_how_keys_are_split(keys: str, data: st.DataObject) -> None:
    editor, lines = Editor(), list[str | Closed]()
    rest = keys
    while rest:
        count = data.draw(st.integers(1, len(rest)))
        editor.feed(rest[:count])
        rest = rest[count:]
        while (line := editor.take()) is not None and lines[-1:] != [Closed.CLOSED]:
            lines.append(line)
    whole = typed(keys)
    assert lines[: len(whole)] == whole
