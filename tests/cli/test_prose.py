"""Markdown while it streams: what is finished stays, and each piece is drawn as a whole would be."""

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from turnbuckle.cli.prose import LONGEST, MOST_ROWS, Block, Blocks, rows_of

LINES = st.sampled_from(
    [
        "",
        "a line",
        "- item",
        "1. first",
        "  more of it",
        "```",
        "```python",
        "~~~",
        "# head",
        "    x",
    ]
)


def cut(*pieces: str) -> list[Block]:
    """The blocks of a text that comes in these pieces."""
    blocks = Blocks()
    return [block for piece in pieces for block in blocks.feed(piece)] + list(blocks.finish())


def texts(*pieces: str) -> list[str]:
    return [block.text for block in cut(*pieces)]


def drawn(text: str, width: int = 40) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        for row in rows_of(text, console, width):
            console.print(row, end="")
    return captured.get()


def test_a_paragraph_is_finished_by_an_empty_line() -> None:
    blocks = Blocks()
    assert list(blocks.feed("one\ntwo")) == []
    assert blocks.open == "one\ntwo"
    assert list(blocks.feed("\n\nthree")) == [Block("one\ntwo")]
    assert blocks.open == "three"
    assert list(blocks.finish()) == [Block("three")]
    assert blocks.open == ""


@pytest.mark.parametrize(
    "text",
    [
        "- one\n\n- two",
        "1. one\n\n2. two\n\n   more of two",
        "- one\n\n\n- two",
        "- one\n\n  ```python\n  x = 1\n\n  y = 2\n  ```\n- two",
    ],
)
def test_a_list_goes_on_after_an_empty_line(text: str) -> None:
    assert texts(text + "\n\nand then") == [text, "and then"]


def test_what_follows_a_list_and_belongs_to_it_no_more_is_its_own() -> None:
    assert texts("- one\n- two\n\nthree\n\n- four") == ["- one\n- two", "three", "- four"]


def test_code_is_one_block_with_its_empty_lines() -> None:
    code = "```python\nx = 1\n\n# no heading\n- no list\n```"
    assert texts(f"so:\n{code}\nand on") == ["so:", code, "and on"]


def test_a_fence_is_closed_by_one_of_its_kind_that_is_long_enough() -> None:
    code = "````\n```\n~~~~\nstill code\n````"
    assert texts(f"{code}\nafter") == [code, "after"]


def test_long_code_is_cut_into_fences_that_go_on() -> None:
    code = [f"line {number}" for number in range(3 * MOST_ROWS)]
    blocks = cut("\n".join(["```python", *code, "```"]))
    assert len(blocks) > 2
    assert all(b.text.startswith("```python\n") and b.text.endswith("\n```") for b in blocks)
    assert [block.joined for block in blocks] == [False, *[True] * (len(blocks) - 1)]
    inner = [row for block in blocks for row in block.text.split("\n")[1:-1]]
    assert inner == code


def test_a_paragraph_without_end_is_cut_between_words() -> None:
    words = "word " * LONGEST
    blocks = cut(words)
    assert max(len(block.text) for block in blocks) <= LONGEST + 1
    assert all(block.joined for block in blocks[1:])
    assert " ".join(b.text.strip() for b in blocks).split() == words.split()


def test_one_word_without_end_is_cut_too() -> None:
    blocks = cut("x" * (LONGEST + 1), "y")
    assert "".join(block.text for block in blocks) == "x" * (LONGEST + 1) + "y"
    assert len(blocks) == 2


@given(st.lists(LINES, max_size=60), st.data())
@example(["- item", "", "  more of it", "", "a line"], None)
def test_how_it_is_cut_does_not_depend_on_how_it_came(rows: list[str], data: object) -> None:
    text = "\n".join(rows)
    places: list[int] = []
    if isinstance(data, st.DataObject):
        places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[start:end] for start, end in pairwise([0, *places, len(text)])]
    assert cut(*pieces) == cut(text)


@given(st.lists(LINES, max_size=MOST_ROWS // 2))
def test_no_line_is_lost(rows: list[str]) -> None:
    kept = [row for text in texts("\n".join(rows)) for row in text.split("\n") if row.strip()]
    assert kept == [row for row in rows if row.strip()]


def test_tags_are_text_and_lines_stay_lines() -> None:
    assert drawn("a <b>tag</b>\nand a line") == "a <b>tag</b>\nand a line\n"


def test_where_a_link_goes_stands_beside_it() -> None:
    assert "(https://example.org/x)" in drawn("see [this](https://example.org/x)", width=80)


def test_code_is_drawn_a_little_to_the_right_and_nothing_else_around_it() -> None:
    assert drawn("```python\nx = 1\n```") == "  x = 1\n"


def test_no_row_is_wider_than_the_terminal_and_none_ends_in_spaces() -> None:
    rows = drawn("# A heading\n\n" + "many words " * 20 + "\n\n| a | b |\n|---|---|\n| 1 | 2 |", 30)
    assert all(len(row) <= 30 and not re.search(r" $", row) for row in rows.split("\n"))
