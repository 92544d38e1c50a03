"""Text that others wrote, on a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.cli.visible import exact, harmless, one_line


def test_plain_text_stays_as_it_is() -> None:
    text = "if a < b:\n\tprint('grün', '日本', '👩‍👩‍👧')\n"
    assert harmless(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone", "<U+001B>[2Jgone"),
        ("\x9b31mred", "<U+009B>31mred"),
        ("\x07\x00", "<U+0007><U+0000>"),
        ("one\r\ntwo", "one\ntwo"),
        ("good\revil", "good<U+000D>evil"),
        ("a\u202eb", "a<U+202E>b"),
        ("a\u2028b", "a<U+2028>b"),
    ],
)
def test_nothing_steers_the_terminal_or_reorders_it(text: str, shown: str) -> None:
    assert harmless(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rm\u00a0-rf", "rm<U+00A0>-rf"),
        ("a\u200bb", "a<U+200B>b"),
        ("a\u2066b", "a<U+2066>b"),
        ("a\ufe0fb", "a<U+FE0F>b"),
        ("a\u3164b", "a<U+3164>b"),
        ("a\U000e0041b", "a<U+E0041>b"),
        ("a\ue000b", "a<U+E000>b"),
        ("cr\r\n", "cr<U+000D>\n"),
        ("plain text\n\tgrün\n", "plain text\n\tgrün\n"),
    ],
)
def test_what_is_approved_hides_nothing(text: str, shown: str) -> None:
    assert exact(text) == shown


@given(st.text())
def test_no_control_character_gets_through(text: str) -> None:
    for shown in (harmless(text), exact(text), one_line(text)):
        controls = {char for char in shown if unicodedata.category(char) in ("Cc", "Cs")}
        assert controls <= {"\n", "\t"}


@given(st.text())
def test_what_is_safe_is_not_changed_again(text: str) -> None:
    assert harmless(harmless(text)) == harmless(text)
    assert exact(exact(text)) == exact(text)


@given(st.text(), st.integers(2, 40))
def test_one_line_is_one_line_of_bounded_length(text: str, most: int) -> None:
    assert len(one_line(text, most)) <= most
    assert "\n" not in one_line(text, most)


def test_one_line_of_a_huge_text_looks_at_its_start_only() -> None:
    assert one_line("ab " * 10_000_000, 6) == "ab ab…"
