"""Questions and their answers: each is decided once, and only a clear yes is one."""

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from turnbuckle.agent.approvals import Approvals
from turnbuckle.agent.hooks import Decision, PreStep
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.plugins import approval
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    GrantAdded,
    GrantRevoked,
    ToolResult,
    TurnEnd,
)
from turnbuckle.testing.agents import Driven, driven
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.tools import COMMAND, Anything, tool
from turnbuckle.tools.subject import Change, Subject
from turnbuckle.tools.tool import Go, Tool
from turnbuckle.workspace.changes import make_change


def acts(subject: Subject = COMMAND) -> Tool[Anything]:
    async def body(_arguments: object, go: Go) -> str:
        edits = go.verdict().edits
        return f"did {dict(edits)}" if edits else "did"

    return tool("act", body, subject=subject)


def turns(count: int) -> Scripted:
    return Scripted(
        [reply for n in range(count) for reply in (say("", (f"c{n}", "act", {})), say("done"))]
    )


async def asked(session: Driven, count: int = 1) -> ApprovalAsked:
    fact = await session.until(ApprovalAsked, count)
    assert isinstance(fact, ApprovalAsked)
    return fact


def outcomes(session: Driven) -> list[tuple[str, str | None]]:
    facts = [fact for fact in session.facts if isinstance(fact, ApprovalDecided)]
    return [(fact.outcome, fact.remember) for fact in facts]


# -- for the session -----------------------------------------------------------------------------


async def test_an_answer_for_the_session_holds_until_it_is_taken_back(tmp_path: Path) -> None:
    async with driven(turns(3), tmp_path, tools=[acts()], plugins=[approval.install]) as session:
        approvals = session.opened.agent.approvals
        session.send("one")
        first = await asked(session)
        assert first.choices == ("allow", "allowForSession", "reject")
        approvals.decide(first.approval_id, allow=True, by="test", remember="session")
        await session.until(TurnEnd)
        await session.say("two")
        assert len(outcomes(session)) == 1
        (grant,) = approvals.grants
        assert grant.subject == {"kind": "command", "command": "make", "cwd": "file:///work"}
        assert approvals.revoke(grant.grant_id)
        assert not approvals.revoke(grant.grant_id)
        assert not approvals.revoke("nonsense")
        assert approvals.grants == ()
        session.send("three")
        approvals.decide((await asked(session, 2)).approval_id, allow=False, by="test")
        await session.until(TurnEnd, 3)
    assert outcomes(session) == [("allowed", "session"), ("rejected", None)]
    kinds = [type(fact) for fact in session.facts if isinstance(fact, GrantAdded | GrantRevoked)]
    assert kinds == [GrantAdded, GrantRevoked]


async def test_it_holds_after_a_resume_and_not_in_a_fork(tmp_path: Path) -> None:
    async with driven(turns(1), tmp_path, tools=[acts()], plugins=[approval.install]) as session:
        session.send("one")
        fact = await asked(session)
        session.opened.agent.approvals.decide(
            fact.approval_id, allow=True, by="test", remember="session"
        )
        await session.until(TurnEnd)
        session_id = session.opened.session.id
        child = await session.sessions.fork(session_id, 1)
    for which, count in ((session_id, 0), (child, 1)):
        async with driven(
            turns(1), tmp_path, tools=[acts()], plugins=[approval.install], session_id=which
        ) as again:
            again.prompts = 7  # keys of its own
            before = len(outcomes(again))
            again.answer_approvals(allow=False)
            await again.say("more")
            assert len(outcomes(again)) - before == count
            assert len(again.opened.agent.approvals.grants) == 1 - count


@pytest.mark.parametrize(
    ("allow", "remember"), [(False, "session"), (True, None), (True, "ever"), (True, "")]
)
async def test_nothing_but_a_yes_for_the_session_is_one(
    tmp_path: Path, allow: bool, remember: str | None
) -> None:
    async with driven(turns(1), tmp_path, tools=[acts()]) as session:
        session.send("one")
        fact = await asked(session)
        approvals = session.opened.agent.approvals
        approvals.decide(fact.approval_id, allow=allow, by="test", remember=remember)
        await session.until(TurnEnd)
        assert approvals.grants == ()
        assert outcomes(session) == [("allowed" if allow else "rejected", None)]


async def test_what_is_protected_is_allowed_once_at_most(tmp_path: Path) -> None:
    file = make_change((tmp_path / "work" / "CLAUDE.md").as_uri(), "", "x\n", "create")
    async with driven(turns(1), tmp_path, tools=[acts(Change(files=(file,)))]) as session:
        session.send("one")
        fact = await asked(session)
        assert fact.choices == ("allow", "reject")
        approvals = session.opened.agent.approvals
        assert approvals.decide(fact.approval_id, allow=True, by="test", remember="session")
        await session.until(TurnEnd)
        assert outcomes(session) == [("allowed", None)]
        assert approvals.grants == ()


async def test_the_same_is_granted_once(tmp_path: Path) -> None:
    """Two questions about the same are open, and both are answered for the session."""
    model = Scripted([say("", ("1", "act", {}), ("2", "act", {})), say("done")])
    async with driven(model, tmp_path, tools=[acts()]) as session:
        session.send("one")
        await asked(session, 2)
        approvals = session.opened.agent.approvals
        for pending in approvals.pending:
            approvals.decide(pending.approval_id, allow=True, by="test", remember="session")
        await session.until(TurnEnd)
        assert len(approvals.grants) == 1


async def test_the_persons_own_texts_reach_the_call(tmp_path: Path) -> None:
    uri, own = (tmp_path / "work" / "a").as_uri(), "mine\n"
    file = make_change(uri, "", "x\n", "create")
    async with driven(turns(1), tmp_path, tools=[acts(Change(files=(file,)))]) as session:
        session.send("one")
        fact = await asked(session)
        session.opened.agent.approvals.decide(
            fact.approval_id, allow=True, by="test", edits={uri: own}
        )
        await session.until(TurnEnd)
    (result,) = [fact for fact in session.facts if isinstance(fact, ToolResult)]
    assert result.content == f"did { ({uri: own}) }"


# -- questions that no call asks -----------------------------------------------------------------


async def wondering(
    folder: Path, answer: Callable[[Approvals, str], object]
) -> tuple[list[str | None], Driven]:
    """A plugin asks before the first step; gives what it heard."""
    heard: list[str | None] = []

    def curious(ctx: PluginContext) -> None:
        async def ask(step: PreStep, next_layer: Next[PreStep, Decision]) -> Decision:
            heard.append(await ctx.session.ask("Go on?", ("Yes", "No", "Yes")))
            return await next_layer(step)

        ctx.hooks.pre_step.use(ask)

    async with driven(Scripted([say("done")]), folder, plugins=[curious]) as session:
        session.send("go")
        answer(session.opened.agent.approvals, (await asked(session)).approval_id)
        with anyio.fail_after(10):
            await session.until(TurnEnd)
        assert session.opened.agent.approvals.pending == ()
    return heard, session


async def test_a_plugin_hears_what_was_answered(tmp_path: Path) -> None:
    heard, session = await wondering(
        tmp_path, lambda approvals, id_: approvals.decide(id_, allow=True, by="t", answer="Yes")
    )
    assert heard == ["Yes"]
    (fact,) = [fact for fact in session.facts if isinstance(fact, ApprovalAsked)]
    assert fact.subject | {"reason": ""} == {
        "kind": "question", "question": "Go on?", "choices": ["Yes", "No"], "reason": "",
    }  # fmt: skip
    assert fact.call_id.startswith("plugin/")
    assert fact.choices == ("answer", "reject")


@pytest.mark.parametrize(
    "answer",
    [
        lambda approvals, id_: approvals.decide(id_, allow=False, by="t", answer="Yes"),
        lambda approvals, id_: approvals.decide(id_, allow=True, by="t"),
        lambda approvals, id_: approvals.withdraw(id_, "unavailable", by="t"),
        lambda approvals, id_: approvals.withdraw(id_, "allowed", by="t"),
    ],
)
async def test_what_is_no_answer_is_none(
    tmp_path: Path, answer: Callable[[Approvals, str], object]
) -> None:
    heard, _ = await wondering(tmp_path, answer)
    assert heard == [None]


async def test_a_cancelled_turn_takes_its_question_with_it(tmp_path: Path) -> None:
    async with driven(Scripted([say("done")]), tmp_path, plugins=[_curious]) as session:
        session.send("go")
        fact = await asked(session)
        session.opened.driver.cancel("user")
        end = await session.until(TurnEnd)
        assert isinstance(end, TurnEnd)
        assert end.end.kind == "aborted"
        assert outcomes(session) == [("cancelled", None)]
        assert not session.opened.agent.approvals.decide(
            fact.approval_id, allow=True, by="late", answer="Yes"
        )


def _curious(ctx: PluginContext) -> None:
    async def ask(step: PreStep, next_layer: Next[PreStep, Decision]) -> Decision:
        await ctx.session.ask("Go on?")
        return await next_layer(step)

    ctx.hooks.pre_step.use(ask)


async def test_a_question_that_is_answered_lets_the_turn_go_on(tmp_path: Path) -> None:
    async with driven(Scripted([say("done")]), tmp_path, plugins=[_curious]) as session:
        session.send("go")
        fact = await asked(session)
        session.opened.agent.approvals.decide(fact.approval_id, allow=True, by="t", answer="ok")
        end = await session.until(TurnEnd)
        assert isinstance(end, TurnEnd)
        assert end.end.kind == "completed"
