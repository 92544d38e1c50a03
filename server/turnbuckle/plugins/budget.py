"""Stop a turn that has used up what a turn, or the session, may use."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from turnbuckle.agent.hooks import Decision, PreStep, Stop
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    AssistantMessage,
    ContextSummary,
    Fact,
    LlmFailed,
    StepStart,
    TurnEnd,
    TurnStart,
)
from turnbuckle.session.parts import Usage
from turnbuckle.session.usage import Price, cost

NEARLY = 0.8
"""How much of a limit may be used before the person is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that may be used; None is no limit. `cost` is in the price's currency."""

    steps: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None


@dataclass(slots=True)
class Spent:
    """What was used; `seconds` without the time in which the person was waited for."""

    steps: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Use:
    """One limit and what was used of it; `name` is its setting below `budget`."""

    name: str
    used: float
    limit: float
    unit: str

    def __str__(self) -> str:
        return f"{_number(self.used)} of {_number(self.limit)} {self.unit}"


class Meter:
    """What was spent in this turn and in this session: a fold over facts and when they came."""

    def __init__(self, price: Price | None = None) -> None:
        self.turn = Spent()
        self.session = Spent()
        self._price = price
        self._last: float | None = None
        self._asked: set[str] = set()

    def feed(self, fact: Fact, at: float) -> None:
        """Take the next fact, which came `at` so many seconds on a clock that never goes back."""
        self.tick(at)
        match fact:
            case TurnStart():
                self.turn, self._last = Spent(), at
                self._asked.clear()
            case TurnEnd():
                self._last = None
            case StepStart():
                for spent in (self.turn, self.session):
                    spent.steps += 1
            case (
                AssistantMessage(usage=Usage() as usage)
                | ContextSummary(usage=Usage() as usage)
                | LlmFailed(usage=Usage() as usage)
            ):
                self._count(usage)
            case ApprovalAsked(approval_id=approval_id):
                self._asked.add(approval_id)
            case ApprovalDecided(approval_id=approval_id):
                self._asked.discard(approval_id)
            case _:
                pass

    def tick(self, at: float) -> None:
        """Count the time up to now, if a turn runs and waits for nobody."""
        if self._last is None:
            return
        if not self._asked:
            for spent in (self.turn, self.session):
                spent.seconds += max(0.0, at - self._last)
        self._last = at

    def _count(self, usage: Usage) -> None:
        for spent in (self.turn, self.session):
            spent.tokens += usage.total
            spent.cost += cost(usage, self._price) if self._price else 0.0


KINDS: tuple[type[Fact], ...] = (
    TurnStart, TurnEnd, StepStart, AssistantMessage, ContextSummary, LlmFailed,
    ApprovalAsked, ApprovalDecided,
)  # fmt: skip


def install(
    ctx: PluginContext,
    *,
    turn: Limits | None = None,
    session: Limits | None = None,
    price: Price | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Stop before the step at which a limit is reached, and say at 80 % that it is near.

    What was used before the session was opened again counts for it. A limit of cost without a price
    stops every turn, and says why: it could not be kept. `clock` gives seconds.
    """
    budget = _Budget(turn or Limits(), session or Limits(), price)
    for entry in ctx.session.facts:
        budget.feed(entry.fact, entry.time / 1000)

    async def stop_if_over(step: PreStep, next_layer: Next[PreStep, Decision]) -> Decision:
        budget.meter.tick(clock())
        if reason := budget.over():
            return Stop(reason)
        for said in budget.near():
            ctx.session.note("status", {"text": said})
        return await next_layer(step)

    for kind in KINDS:
        ctx.on(kind, lambda fact: budget.feed(fact, clock()))
    ctx.hooks.pre_step.use(stop_if_over)


class _Budget:
    """The limits, what was used of them, and for which it was said that they are near."""

    def __init__(self, turn: Limits, session: Limits, price: Price | None) -> None:
        self.meter = Meter(price)
        self._turn = turn
        self._session = session
        self._price = price
        self._told: set[str] = set()

    def feed(self, fact: Fact, at: float) -> None:
        """Take the next fact and when it came, in seconds."""
        if isinstance(fact, TurnStart):
            self._told = {name for name in self._told if not name.startswith("turn.")}
        self.meter.feed(fact, at)

    def over(self) -> str | None:
        """Why no step may start; None where one may."""
        for use in self._uses():
            if self._price is None and use.name.endswith(".cost"):
                return f"budget.{use.name} is set, but model.price is not: the cost is not known"
            if use.used >= use.limit:
                return f"the budget is used up: {use} (budget.{use.name})"
        return None

    def near(self) -> Iterator[str]:
        """What is to be said of limits that were not near before."""
        for use in self._uses():
            if use.used >= NEARLY * use.limit and use.name not in self._told:
                self._told.add(use.name)
                yield f"the budget is nearly used up: {use}"

    def _uses(self) -> Iterator[Use]:
        currency = self._price.currency if self._price else ""
        yield from _uses("turn", self._turn, self.meter.turn, currency)
        yield from _uses("session", self._session, self.meter.session, currency)


def _uses(whose: str, limits: Limits, spent: Spent, currency: str) -> Iterator[Use]:
    rows = (
        ("steps", spent.steps, limits.steps, "steps"),
        ("tokens", spent.tokens, limits.tokens, "tokens"),
        ("cost", spent.cost, limits.cost, currency),
        ("seconds", spent.seconds, limits.seconds, "seconds"),
    )
    for name, used, limit, unit in rows:
        if limit is not None:
            yield Use(f"{whose}.{name}", used, limit, f"{unit} of this {whose}".strip())


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
