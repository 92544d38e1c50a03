"""After many steps the person is asked whether to go on; only a yes goes on."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from inline_snapshot import snapshot

from turnbuckle.agent.agent import Settings
from turnbuckle.model.port import Reply
from turnbuckle.plugins import step_limit
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import ApprovalAsked, ApprovalDecided, StepStart, TurnEnd
from turnbuckle.testing.agents import MODEL, Driven, driven
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import served
from turnbuckle.testing.tools import tool
from turnbuckle.testing.transcript import transcript
from turnbuckle.tools.tool import Go

MANY = Settings(model=MODEL, max_steps=10_000)
MORE = "Go on for 2 more steps"


async def work(_arguments: dict[str, Any], _: Go) -> str:
    return "ok"


WORK = tool("work", work)
LIMIT = partial(step_limit.install, steps=2)


def steps(count: int) -> list[Reply]:
    """So many steps, the last of which ends the turn."""
    calling = [say("", (f"c{number}", "work", {"n": number})) for number in range(count - 1)]
    return [*calling, say("done")]


def answering(session: Driven, answer: Callable[[str, int], object]) -> None:
    """Give `answer` the id of each question, and how many there were before."""
    count = 0

    def asked(entry: Entry, _line: bytes) -> None:
        nonlocal count
        if isinstance(entry.fact, ApprovalAsked):
            answer(entry.fact.approval_id, count)
            count += 1

    session.opened.session.log.observe(session.scope, asked)


def end(session: Driven) -> str:
    return transcript(session.entries).splitlines()[-1]


async def test_a_yes_is_good_for_as_many_steps_again(tmp_path: Path) -> None:
    async with driven(
        Scripted(steps(5)), tmp_path, tools=[WORK], plugins=[LIMIT], settings=MANY
    ) as session:
        approvals = session.opened.agent.approvals
        answering(session, lambda id_, _: approvals.decide(id_, allow=True, by="test", answer=MORE))
        await session.say("go")
    asked = [fact for fact in session.facts if isinstance(fact, ApprovalAsked)]
    assert [fact.subject["question"] for fact in asked] == snapshot(
        [
            "This turn has had 2 steps and is not done. Go on?",
            "This turn has had 4 steps and is not done. Go on?",
        ]
    )
    assert asked[0].subject["choices"] == [MORE, "Stop"]
    assert end(session) == "end       completed"


async def test_whatever_is_no_yes_ends_the_turn(tmp_path: Path) -> None:
    async with driven(
        Scripted(steps(9)), tmp_path, tools=[WORK], plugins=[LIMIT], settings=MANY
    ) as session:
        approvals = session.opened.agent.approvals
        noes: list[Callable[[str], object]] = [
            lambda id_: approvals.decide(id_, allow=False, by="test"),
            lambda id_: approvals.decide(id_, allow=True, by="test", answer="Stop"),
            lambda id_: approvals.decide(id_, allow=True, by="test", answer="perhaps"),
            lambda id_: approvals.withdraw(id_, "unavailable", by="test"),
        ]
        answering(session, lambda id_, count: noes[count](id_))
        for _ in noes:
            await session.say("go")
    ends = [fact.end for fact in session.facts if isinstance(fact, TurnEnd)]
    assert [(one.kind, one.reason) for one in ends] == [("stopped", "max-steps")] * 4


async def test_no_answer_waits_and_a_cancel_ends_the_waiting(tmp_path: Path) -> None:
    async with driven(
        Scripted(steps(5)), tmp_path, tools=[WORK], plugins=[LIMIT], settings=MANY
    ) as session:
        session.send("go")
        await session.until(ApprovalAsked)
        assert not any(isinstance(fact, TurnEnd) for fact in session.facts)
        session.opened.driver.cancel("the person")
        await session.until(TurnEnd)
    (decided,) = (fact for fact in session.facts if isinstance(fact, ApprovalDecided))
    assert decided.outcome == "cancelled"
    assert end(session) == "end       aborted (the person)"


async def test_each_turn_begins_anew(tmp_path: Path) -> None:
    model = Scripted([*steps(2), *steps(2), *steps(2)])
    async with driven(model, tmp_path, tools=[WORK], plugins=[LIMIT], settings=MANY) as session:
        for _ in range(3):
            await session.say("go")
    assert not any(isinstance(fact, ApprovalAsked) for fact in session.facts)


async def test_a_yes_holds_for_its_turn_only(tmp_path: Path) -> None:
    model = Scripted([*steps(4), *steps(3)])
    async with driven(model, tmp_path, tools=[WORK], plugins=[LIMIT], settings=MANY) as session:
        approvals = session.opened.agent.approvals
        answering(session, lambda id_, _: approvals.decide(id_, allow=True, by="test", answer=MORE))
        await session.say("go")
        await session.say("go")
    assert sum(isinstance(fact, ApprovalAsked) for fact in session.facts) == 2


async def test_without_the_plugin_the_agents_own_limit_is_what_stops(tmp_path: Path) -> None:
    few = Settings(model=MODEL, max_steps=3)
    async with driven(
        Scripted(steps(5)), tmp_path, tools=[WORK], plugins=[LIMIT], settings=few
    ) as session:
        await session.plugins.exchange([])
        await session.say("go")
    assert sum(isinstance(fact, StepStart) for fact in session.facts) == 3
    assert end(session) == "end       stopped (max-steps)"


async def test_the_editor_asks_at_the_limit_that_is_set(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("max_steps = 2\n")
    async with served(Scripted(steps(4)), tmp_path, tools=[WORK], events=True) as server:
        id_ = await server.open()
        await server.watch(id_)
        turn = server.send(id_, "go")
        asked = await server.fact("approval/asked")
        assert asked["subject"]["choices"] == [MORE, "Stop"]
        assert await server.approve(asked["approvalId"], answer=MORE)
        result = await server.answer(turn)
    assert result.end["kind"] == "completed"
