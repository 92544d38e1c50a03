"""Tokens, cost and the fill of the context, as they are shown."""

import pytest

from turnbuckle.cli.meter import context_of, meter, money, price_in
from turnbuckle.lsp.choosing import EffectiveConfig, ModelPrice
from turnbuckle.session.events import AssistantMessage, Fact, LlmStream, TurnStart
from turnbuckle.session.parts import Usage
from turnbuckle.session.usage import Price, UsageFold

PRICE = Price(input=2, output=10, currency="EUR")


def said(sent: int, answered: int) -> AssistantMessage:
    usage = Usage(input=sent, output=answered, total=sent + answered)
    return AssistantMessage(turn=1, step=1, content="", finish="stop", usage=usage)


def asked(window: int | None) -> LlmStream:
    return LlmStream(turn=1, step=1, attempt=1, model="m", window=window, digest="d")


def used(*facts: Fact, before: Usage | None = None) -> UsageFold:
    fold = UsageFold(before)
    for fact in facts:
        fold.take(fact)
    return fold


def test_a_first_turn_is_its_tokens_its_cost_and_the_fill_of_the_context() -> None:
    fold = used(TurnStart(turn=1), asked(8000), said(700, 100))
    assert meter(fold, PRICE) == "800 tokens, 0.0024 EUR, 10 % of the context of 8,000"
    assert meter(fold, None) == "800 tokens, 10 % of the context of 8,000"


def test_a_later_turn_tells_the_whole_session_too() -> None:
    fold = used(TurnStart(turn=1), asked(None), said(700, 100), TurnStart(turn=2), said(900, 100))
    assert meter(fold, PRICE) == "1,000 tokens, 0.0028 EUR · in all 1,800 tokens, 0.0052 EUR"


def test_a_session_that_is_gone_on_with_counts_on() -> None:
    before = Usage(input=1000, output=0, total=1000)
    fold = used(TurnStart(turn=5), said(10, 10), before=before)
    assert meter(fold, None) == "20 tokens · in all 1,020 tokens"


def test_where_nobody_counts_nothing_is_said() -> None:
    assert meter(used(TurnStart(turn=1), asked(8000)), PRICE) == ""


@pytest.mark.parametrize(
    ("context", "shown"), [(1, "less than 1 %"), (500, "50 %"), (996, "100 %"), (5000, "100 %")]
)
def test_the_fill_of_the_context_is_a_share(context: int, shown: str) -> None:
    fold = used(asked(1000), said(context, 0))
    assert context_of(fold) == f"{shown} of the context of 1,000"


@pytest.mark.parametrize(
    ("amount", "shown"), [(0, "0.0000 USD"), (0.01234, "0.0123 USD"), (1234.5, "1,234.50 USD")]
)
def test_an_amount_has_the_digits_that_matter(amount: float, shown: str) -> None:
    assert money(amount, "USD") == shown


def test_the_price_comes_with_the_session() -> None:
    price = ModelPrice(input=1, output=2, currency="EUR")
    assert price_in(EffectiveConfig(price=price)) == Price(input=1, output=2, currency="EUR")
    assert price_in(EffectiveConfig()) is None
