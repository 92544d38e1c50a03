"""Tokens of turn, session and context, and what they cost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.session.events import (
    AssistantMessage,
    ContextSummary,
    Fact,
    LlmFailed,
    LlmStream,
    TurnStart,
)
from turnbuckle.session.parts import Failure, Usage
from turnbuckle.session.usage import Price, UsageFold, add, cost


def usage(sent: int, answered: int, cached: int | None = None) -> Usage:
    return Usage(input=sent, output=answered, total=sent + answered, cached=cached)


def said(of: Usage | None) -> AssistantMessage:
    return AssistantMessage(turn=1, step=1, content="", finish="stop", usage=of)


def fold(*facts: Fact) -> UsageFold:
    made = UsageFold()
    for fact in facts:
        made.take(fact)
    return made


def test_a_turn_begins_at_nothing_and_the_session_goes_on() -> None:
    made = fold(said(usage(10, 1)), TurnStart(turn=2), said(usage(20, 2)), said(usage(30, 3)))
    assert made.turn == usage(50, 5)
    assert made.session == usage(60, 6)
    assert made.context == 33


def test_what_a_summary_took_counts_but_is_not_the_context() -> None:
    summary = ContextSummary(covers=(0, 5), text="short", usage=usage(100, 10))
    made = fold(said(usage(10, 1)), summary)
    assert (made.session, made.context) == (usage(110, 11), None)
    made.take(said(usage(5, 1)))
    assert made.context == 6


def test_an_answer_of_no_use_counts_too() -> None:
    failure = Failure(kind="protocol", message="no")
    refused = LlmFailed(attempt=1, failure=failure, usage=usage(100, 10))
    made = fold(said(usage(10, 1)), refused)
    assert (made.session, made.context) == (usage(110, 11), 11)


def test_an_answer_that_nobody_counted_changes_nothing() -> None:
    made = fold(said(usage(10, 1)), said(None))
    assert (made.session, made.context) == (usage(10, 1), 11)


def test_the_fill_is_known_where_the_window_is() -> None:
    asked = LlmStream(turn=1, step=1, attempt=1, model="m", window=100, digest="d")
    assert fold(said(usage(10, 1))).fill is None
    assert fold(asked).fill is None
    assert fold(asked, said(usage(40, 10))).fill == 0.5
    assert fold(asked, said(usage(400, 10))).fill == 1.0


def test_a_cost_is_counted_in_millions() -> None:
    price = Price(input=2, output=10)
    assert cost(usage(1_000_000, 0), price) == 2
    assert cost(usage(0, 1_000_000), price) == 10


def test_what_the_provider_had_kept_has_its_own_price() -> None:
    price = Price(input=2, output=10, cached=0.5)
    assert cost(usage(1_000_000, 0, cached=400_000), price) == pytest.approx(1.2 + 0.2)
    assert cost(usage(1_000_000, 0, cached=400_000), Price(input=2, output=10)) == 2


def test_more_kept_than_sent_is_not_believed() -> None:
    assert cost(usage(100, 0, cached=1_000_000), Price(input=2, output=10, cached=0)) == 0


counts = st.builds(
    usage,
    st.integers(0, 10**9),
    st.integers(0, 10**9),
    st.none() | st.integers(0, 10**9),
)


@given(counts, counts)
def test_the_cost_of_two_answers_is_never_below_nothing_nor_above_their_sum(
    one: Usage, other: Usage
) -> None:
    price = Price(input=3, output=7, cached=1)
    both = add(one, other)
    assert both is not None
    assert 0 <= cost(both, price) <= cost(one, price) + cost(other, price) + 1e-6
