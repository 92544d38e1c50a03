"""Tokens of turn, session and context, as the provider counted them, and their cost: a fold."""

from dataclasses import dataclass

from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    AssistantMessage,
    ContextPruned,
    ContextRewound,
    ContextSummary,
    Fact,
    LlmFailed,
    LlmStream,
    TurnStart,
)
from turnbuckle.session.parts import Usage

_MILLION = 1_000_000

_COUNTED = frozenset(
    (TurnStart, LlmStream, AssistantMessage, LlmFailed, ContextSummary, ContextPruned,
     ContextRewound)
)  # fmt: skip
"""The facts that bear on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens cost; `cached` as `input` where it is None."""

    input: float
    output: float
    cached: float | None = None
    currency: str = "USD"


def cost(usage: Usage, price: Price) -> float:
    """What tokens cost, in the price's currency."""
    cached = min(usage.cached or 0, usage.input)
    kept = price.input if price.cached is None else price.cached
    sent = (usage.input - cached) * price.input + cached * kept
    return (sent + usage.output * price.output) / _MILLION


def add(one: Usage | None, other: Usage | None) -> Usage | None:
    """Two usages as one; what neither knows stays unknown."""
    if one is None or other is None:
        return one or other
    return Usage(
        input=one.input + other.input,
        output=one.output + other.output,
        total=one.total + other.total,
        cached=_sum(one.cached, other.cached),
        reasoning=_sum(one.reasoning, other.reasoning),
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)


class UsageFold:
    """`turn` is the sum over the current turn, `session` over all, `context` the last request's.

    `context` is None, too, once the history was made another since, until the next answer;
    `counted` is the seq of the answer that it comes from. `window` is how many tokens that request
    and its answer might have had; None if not known. Where the first facts are not seen, `session`
    and `context` are what was counted up to there.
    """

    def __init__(self, session: Usage | None = None, context: int | None = None) -> None:
        self.turn: Usage | None = None
        self._before = session  # that of all turns before this one
        self.context = context
        self.counted = -1
        self.window: int | None = None

    @property
    def session(self) -> Usage | None:
        """The tokens of all turns, this one included."""
        return add(self._before, self.turn)

    @property
    def fill(self) -> float | None:
        """How much of the window the context takes, from 0 to 1; None while that is not known."""
        if self.context is None or not self.window:
            return None
        return min(self.context / self.window, 1.0)

    def feed(self, entry: Entry) -> None:
        """Take the next fact."""
        if type(entry.fact) not in _COUNTED:
            return
        self.take(entry.fact)
        if isinstance(entry.fact, AssistantMessage) and entry.fact.usage:
            self.counted = entry.seq

    def take(self, fact: Fact) -> None:
        """Take the next fact, where it comes without its envelope."""
        match fact:
            case TurnStart():
                self._before, self.turn = self.session, None
            case LlmStream(window=window):
                self.window = window
            case AssistantMessage(usage=Usage() as usage):
                self.turn = add(self.turn, usage)
                self.context = usage.total
            case LlmFailed(usage=Usage() as usage):
                self.turn = add(self.turn, usage)
            case ContextSummary(usage=usage):
                if usage:
                    self.turn = add(self.turn, usage)
                self.context = None
            case ContextPruned() | ContextRewound():
                self.context = None
            case _:
                pass
