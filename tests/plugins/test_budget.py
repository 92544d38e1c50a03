"""A turn that has used up what it, or its session, may use is stopped and says why."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from turnbuckle.agent.agent import Settings
from turnbuckle.agent.plugin import Install
from turnbuckle.kernel.scope import Scope
from turnbuckle.plugins import budget
from turnbuckle.plugins.budget import Limits, Meter
from turnbuckle.session.events import ApprovalAsked, StepStart, TurnEnd, TurnStart
from turnbuckle.session.parts import Usage
from turnbuckle.session.usage import Price
from turnbuckle.testing.agents import MODEL, Driven, driven
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.tools import COMMAND, tool
from turnbuckle.testing.transcript import transcript
from turnbuckle.tools.tool import Go

PRICE = Price(input=1.0, output=10.0, currency="EUR")


class Clock:
    """Time that passes only where a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def work(_arguments: dict[str, Any], _: Go) -> str:
    return "ok"


WORK = tool("work", work)


def usage(total: int) -> Usage:
    return Usage(input=total - total // 10, output=total // 10, total=total)


def steps(count: int, tokens: int) -> list[Any]:  # Any: steps of a scripted model
    """So many steps that call a tool, each with these tokens, and one more that ends the turn."""
    calling = [
        say("", (f"c{number}", "work", {"n": number}), usage=usage(tokens))
        for number in range(count)
    ]
    return [*calling, say("done", usage=usage(tokens))]


async def run(folder: Path, plugin: Install, count: int = 5, tokens: int = 1000) -> list[str]:
    """One turn; gives its end, and before it what was noted."""
    notes: list[str] = []
    async with driven(
        Scripted(steps(count, tokens)), folder, tools=[WORK], plugins=[plugin]
    ) as session:
        watch(session, notes)
        await session.say("go")
    return [*notes, transcript(session.entries).splitlines()[-1]]


def watch(session: Driven, notes: list[str]) -> None:
    def note(type_: str, data: dict[str, Any]) -> None:
        if type_ == "status":
            notes.append(data["text"])

    session.opened.session.observe_notes(Scope("test"), note)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (Limits(), ["end       completed"]),
        (Limits(steps=100, tokens=10**9, cost=10.0, seconds=1e6), ["end       completed"]),
        (
            Limits(steps=3),
            snapshot(
                ["end       stopped (the budget is used up: 3 of 3 steps of this turn (budget.turn.steps))"]
            ),
        ),
        (
            Limits(tokens=2500),
            snapshot(
                [
                    "the budget is nearly used up: 2,000 of 2,500 tokens of this turn",
                    "end       stopped (the budget is used up: 3,000 of 2,500 tokens of this turn (budget.turn.tokens))",
                ]
            ),
        ),
        (
            Limits(cost=0.005),
            snapshot(
                ["end       stopped (the budget is used up: 0.0057 of 0.005 EUR of this turn (budget.turn.cost))"]
            ),
        ),
    ],
)  # fmt: skip
async def test_a_turn_is_stopped_before_the_step_at_which_a_limit_is_reached(
    tmp_path: Path, limits: Limits, expected: list[str]
) -> None:
    plugin = partial(budget.install, turn=limits, price=PRICE, clock=Clock())
    assert await run(tmp_path, plugin) == expected


async def test_a_limit_of_cost_without_a_price_stops_every_turn(tmp_path: Path) -> None:
    plugin = partial(budget.install, session=Limits(cost=1.0))
    assert await run(tmp_path, plugin) == snapshot(
        ["end       stopped (budget.session.cost is set, but model.price is not: the cost is not known)"]
    )  # fmt: skip


async def test_time_is_counted_but_not_while_the_person_is_waited_for(tmp_path: Path) -> None:
    clock = Clock()

    async def slow(_arguments: dict[str, Any], _: Go) -> str:
        clock.now += 40
        return "ok"

    calls = [say("", (f"c{number}", "act", {"n": number})) for number in range(5)]
    model = Scripted([*calls, say("done")])
    plugin = partial(budget.install, turn=Limits(seconds=100), clock=clock)
    acting = tool("act", slow, subject=COMMAND)
    async with driven(model, tmp_path, tools=[acting], plugins=[plugin]) as session:
        session.send("go")
        for count in range(1, 4):
            asked = await session.until(ApprovalAsked, count)
            assert isinstance(asked, ApprovalAsked)
            clock.now += 3600  # the person has lunch
            session.opened.agent.approvals.decide(asked.approval_id, allow=True, by="test")
        await session.until(TurnEnd)
    assert transcript(session.entries).splitlines()[-1] == snapshot(
        "end       stopped (the budget is used up: 120 of 100 seconds of this turn (budget.turn.seconds))"
    )


async def test_each_turn_has_its_own_budget_and_the_session_one_for_all(tmp_path: Path) -> None:
    plugin = partial(budget.install, turn=Limits(steps=3), session=Limits(steps=5))
    model = Scripted([*steps(1, 10), *steps(1, 10), *steps(1, 10)])
    async with driven(model, tmp_path, tools=[WORK], plugins=[plugin]) as session:
        for prompt in ("one", "two", "three"):
            await session.say(prompt)
    ends = [fact.end for fact in session.facts if isinstance(fact, TurnEnd)]
    assert [end.kind for end in ends] == ["completed", "completed", "stopped"]
    assert ends[-1].reason == snapshot(
        "the budget is used up: 5 of 5 steps of this session (budget.session.steps)"
    )


async def test_what_was_used_counts_when_the_session_is_opened_again(tmp_path: Path) -> None:
    plugin = partial(budget.install, session=Limits(tokens=1500))
    async with driven(Scripted(steps(0, 1000)), tmp_path, plugins=[plugin]) as session:
        await session.say("go")
    id_ = session.opened.session.id
    model = Scripted(steps(0, 1000) * 2)
    async with driven(model, tmp_path, plugins=[plugin], session_id=id_) as session:
        session.prompts = 1
        await session.say("again")
        await session.say("and again")
    ends = [fact.end.kind for fact in session.facts if isinstance(fact, TurnEnd)]
    assert ends == ["completed", "completed", "stopped"]


async def test_it_is_said_once_that_a_limit_is_near(tmp_path: Path) -> None:
    plugin = partial(budget.install, turn=Limits(steps=10), session=Limits(steps=12))
    notes: list[str] = []
    model, many = Scripted([*steps(9, 1), *steps(1, 1)]), Settings(model=MODEL, max_steps=100)
    async with driven(model, tmp_path, tools=[WORK], plugins=[plugin], settings=many) as session:
        watch(session, notes)
        await session.say("go")
        await session.say("go on")
    assert notes == snapshot(
        [
            "the budget is nearly used up: 8 of 10 steps of this turn",
            "the budget is nearly used up: 10 of 12 steps of this session",
        ]
    )


async def test_without_the_plugin_nothing_is_limited(tmp_path: Path) -> None:
    plugin = partial(budget.install, turn=Limits(steps=1))
    async with driven(Scripted(steps(3, 1)), tmp_path, tools=[WORK], plugins=[plugin]) as session:
        await session.plugins.exchange([])
        await session.say("go")
    assert transcript(session.entries).endswith("end       completed\n")


@given(st.lists(st.tuples(st.sampled_from(["start", "end", "step"]), st.floats(0, 1e4))))
def test_no_count_ever_goes_back_and_a_turn_never_has_more_than_its_session(
    facts: list[tuple[str, float]],
) -> None:
    meter, at = Meter(), 0.0
    for kind, later in facts:
        before = meter.session.seconds, meter.session.steps
        at += later
        match kind:
            case "start":
                meter.feed(TurnStart(turn=1), at)
            case "end":
                meter.tick(at)
            case _:
                meter.feed(StepStart(turn=1, step=1), at)
        assert (meter.session.seconds, meter.session.steps) >= before
        assert meter.turn.seconds <= meter.session.seconds * 1.000001
        assert meter.turn.steps <= meter.session.steps
