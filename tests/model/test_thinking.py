"""Thoughts in tags are told apart from the answer, wherever the text is cut."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.model.thinking import Thinking


def split(*pieces: str) -> tuple[str, str]:
    thinking = Thinking()
    told = [*map(thinking.feed, pieces), thinking.end()]
    return "".join(thought for thought, _ in told), "".join(text for _, text in told)


def expected(text: str) -> tuple[str, str]:
    """The rule in one line; slower, and for whole texts only."""
    found = re.fullmatch(r"\s{0,50}<think>\s*(.*?)(?:</think>\s*(.*))?", text, re.DOTALL)
    return (found[1], found[2] or "") if found else ("", text)


texts = st.lists(
    st.sampled_from(["<think>", "</think>", "<", "</", "think", ">", " ", "\n", "a", "é"]),
    max_size=12,
).map("".join)


@given(texts, st.data())
def test_any_split_gives_the_same(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert split(*pieces) == split(*text) == expected(text)


@pytest.mark.parametrize(
    ("text", "thought", "answer"),
    [
        ("<think>a</think>b", "a", "b"),
        ("\n <think>\na b\n</think>\n\nc", "a b\n", "c"),
        ("<think>a", "a", ""),
        ("<think>a</thi", "a</thi", ""),
        ("b <think>a</think>", "", "b <think>a</think>"),
        ("<thinking>a", "", "<thinking>a"),
        ("<think>a</think>b<think>c</think>", "a", "b<think>c</think>"),
        ("a</think>b", "", "a</think>b"),
        ("", "", ""),
    ],
)
def test_only_what_a_text_begins_with_is_thoughts(text: str, thought: str, answer: str) -> None:
    assert split(text) == (thought, answer)


def test_what_can_no_longer_become_a_tag_does_not_wait() -> None:
    thinking = Thinking()
    assert thinking.feed("<thi") == ("", "")
    assert thinking.feed("s is text") == ("", "<this is text")
    assert thinking.feed("<think>") == ("", "<think>")


def test_thoughts_are_told_as_they_come() -> None:
    thinking = Thinking()
    assert thinking.feed("<think>one ") == ("one ", "")
    assert thinking.feed("two <") == ("two ", "")
    assert thinking.feed("3") == ("<3", "")


def test_white_space_without_end_is_text_at_last() -> None:
    thinking = Thinking()
    told = [thinking.feed("\n")[1] for _ in range(200)]
    assert "".join(told) == "\n" * 200
    assert told[-1] == "\n"
