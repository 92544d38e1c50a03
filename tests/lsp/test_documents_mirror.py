"""The mirror of a document says the same as the client's own text, whatever is typed in it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from turnbuckle.lsp.mirror import Mirror, Spot
from turnbuckle.testing.documents import Edit, Unit, edited
from turnbuckle.workspace.text import Splice, smallest

TEXTS = st.text(st.sampled_from("ab\n\r\u2028\x0c\x85é測😀"), max_size=30)
UNITS = st.sampled_from(("utf-8", "utf-16", "utf-32"))
SPOTS = st.tuples(st.integers(0, 9), st.integers(0, 9))
EDITS = st.lists(st.tuples(SPOTS, SPOTS, TEXTS), max_size=6)


@given(TEXTS, EDITS, UNITS)
@example("a\rb\n", [((1, 0), (1, 1), ""), ((1, 0), (1, 0), "x")], "utf-16")  # two ends become one
@example("a\r\nb", [((0, 1), (1, 0), "\r"), ((1, 0), (1, 0), "\n")], "utf-16")
@example("\n\n", [((0, 0), (0, 0), "x\r")], "utf-8")
@example("a😀b", [((0, 2), (0, 3), "x")], "utf-16")  # inside of a character
def test_a_mirror_equals_a_naive_text_after_every_change(
    text: str, edits: list[Edit], unit: Unit
) -> None:
    mirror = Mirror(text, unit)
    assert mirror.text == text
    for edit in edits:
        first, last, new = edit
        splice = mirror.replace(Spot(*first), Spot(*last), new)
        after = edited(text, edit, unit)
        assert mirror.text == after
        assert splice.on(text) == after
        assert smallest(text, splice) == splice
        text = after


@pytest.mark.parametrize("odd", ["\u2028", "\x0c", "\x85", "\x0b", "\x1c", "\u2029"])
def test_only_the_line_ends_of_the_protocol_end_a_line(odd: str) -> None:
    mirror = Mirror(f"p{odd}q\nr\n", "utf-16")
    mirror.replace(Spot(1, 0), Spot(1, 1), "R")
    assert mirror.text == f"p{odd}q\nR\n"


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        (Spot(0, 99), Spot(0, 99), "ab!\ncd"),
        (Spot(9, 0), Spot(9, 9), "ab\ncd!"),
        (Spot(1, 99), Spot(99, 99), "ab\ncd!"),
        (Spot(1, 1), Spot(0, 1), "a!d"),
        (Spot(-1, 5), Spot(0, 0), "!ab\ncd"),
    ],
)
def test_a_place_outside_of_the_text_is_clamped(start: Spot, end: Spot, text: str) -> None:
    mirror = Mirror("ab\ncd", "utf-16")
    mirror.replace(start, end, "!")
    assert mirror.text == text


def test_a_change_says_no_more_than_what_changed() -> None:
    mirror = Mirror("one\ntwo\nthree\n", "utf-16")
    assert mirror.replace(Spot(0, 0), Spot(3, 0), "one\ntWo\nthree\n") == Splice(5, 6, "W")
