"""What may go wrong with a question: the cases D."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from cases.case import Case, Run, same_as
from plugins.test_approval import asked, play, results, run
from turnbuckle.lsp import names
from turnbuckle.plugins.approval import rules_of
from turnbuckle.session.events import ApprovalAsked, ApprovalDecided, Fact, TurnEnd
from turnbuckle.testing.editor import HANG
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.testing.tools import tool
from turnbuckle.tools.tool import Command, Go, Tool
from turnbuckle.workspace.paths import uri_of

# Any: what a case's file holds.
Json = dict[str, Any]


async def judged(case: Case, folder: Path) -> None:
    """Command lines against the person's rules."""
    rules = rules_of(allow=case.data["rules"]["allow"], deny=case.data["rules"]["deny"])
    wrong = []
    for number, (line, expected) in enumerate(case.data["rows"]):
        session = await play(folder / str(number), run(line), rules=rules)
        (result,) = results(session)
        denied = "deny" if result[1] == "DENIED" else "allow"
        came = "ask" if asked(session) else denied
        if came != expected:
            wrong.append((line, expected, came))
    assert not wrong, wrong


@dataclass
class Asking:
    """A server whose model calls a tool that has to be allowed, and what of it ran."""

    server: Served
    session_id: str
    ran: list[str] = field(default_factory=list)
    has_run: anyio.Event = field(default_factory=anyio.Event)

    async def questions(self, count: int) -> list[str]:
        """The ids of so many questions, in the order of their calls."""
        await self.server.fact("approval/asked", count)
        return [fact["approvalId"] for fact in self.server.facts("approval/asked")]

    async def answer(self, approval_id: str, *, allow: bool, **more: Any) -> bool:
        decision = "allow" if allow else "reject"
        return await self.server.approve(approval_id, decision=decision, **more)

    def facts(self, kind: type[Fact]) -> list[Any]:
        entries = self.server.opened(self.session_id).session.log.entries
        return [entry.fact for entry in entries if isinstance(entry.fact, kind)]

    @property
    def pending(self) -> list[str]:
        opened = self.server.opened(self.session_id)
        return [one.approval_id for one in opened.agent.approvals.pending]


@asynccontextmanager
async def asking(
    folder: Path, calls: Sequence[str], more: Sequence[str] = ()
) -> AsyncIterator[Asking]:
    """Calls of one step, each a command line; `more` are calls of a second step."""
    found: list[Asking] = []

    async def body(line: str, _arguments: Json, _: Go) -> str:
        found[0].ran.append(line)
        found[0].has_run.set()
        return "ran"

    tools: list[Tool[Any]] = [
        tool(
            line, partial(body, line),
            subject=Command(command=line, cwd=uri_of(folder / "work"), timeout=10),
        )
        for line in sorted({*calls, *more})
    ]  # fmt: skip
    first = say("", *((f"a{n}", line, {}) for n, line in enumerate(calls)))
    second = [say("", *((f"b{n}", line, {}) for n, line in enumerate(more)))] if more else []
    model = Scripted([first, *second, *[say("done")] * 3])
    async with served(
        model, folder, tools=tools, events=True, answer=lambda _m, _t: HANG
    ) as server:
        session_id = await server.open()
        await server.watch(session_id)
        found.append(Asking(server, session_id))
        yield found[0]


async def reloaded(case: Case, folder: Path) -> None:
    """A client that lost its window asks again, and finds the same question."""
    async with asking(folder, ["make"]) as it:
        turn = it.server.send(it.session_id, "go")
        (approval_id,) = await it.questions(1)
        await it.server.watch(it.session_id, "after")
        shown = await it.server.fact("approval/asked", token="after")
        assert shown["approvalId"] == approval_id
        count = len(case.data["steps"][3]["expect_state"]["pending"])
        assert it.pending == [approval_id]
        assert len(it.pending) == count
        assert await it.answer(approval_id, allow=True)
        await it.server.answer(turn)
        assert it.ran == ["make"]


async def one_of_two(case: Case, folder: Path) -> None:
    """Only the call runs whose question was answered."""
    async with asking(folder, ["p1", "p2"]) as it:
        it.server.send(it.session_id, "go")
        by_line = dict(zip(["p1", "p2"], await it.questions(2), strict=True))
        digests = {fact.approval_id: fact.digest for fact in it.facts(ApprovalAsked)}
        assert len(set(digests.values())) == 2
        answered = case.data["steps"][2]
        assert await it.answer(by_line[answered["id"]], allow=answered["allow"])
        expect = case.data["steps"][3]["expect"]
        await it.has_run.wait()
        assert it.ran == expect["executed"]
        assert it.pending == [by_line[name] for name in expect["pending"]]


async def answered_twice(case: Case, folder: Path) -> None:
    """The first answer counts; the others are told that they do not."""
    answers = [step["allow"] for step in case.data["steps"] if step.get("client") == "answer"]
    expect = case.data["steps"][-1]["expect"]
    async with asking(folder, ["p1"]) as it:
        turn = it.server.send(it.session_id, "go")
        (approval_id,) = await it.questions(1)
        replies = [await it.answer(approval_id, allow=allow) for allow in answers]
        await it.server.answer(turn)
        assert replies == [reply == "ok" for reply in expect["replies"]]
        assert it.ran == expect["executed"]
        assert len(it.facts(ApprovalDecided)) == expect["decisions"]


async def gone(_: Case, folder: Path) -> None:
    """A question whose turn was cancelled is closed; a late answer runs nothing."""
    async with asking(folder, ["p1"]) as it:
        turn = it.server.send(it.session_id, "go")
        (approval_id,) = await it.questions(1)
        await it.server.client.request(names.CANCEL, {"sessionId": it.session_id})
        closed = await it.server.fact("approval/decided")
        assert (closed["approvalId"], closed["outcome"]) == (approval_id, "cancelled")
        await it.server.answer(turn)
        assert not await it.answer(approval_id, allow=True)
        assert it.pending == []
        end = await it.server.turn(it.session_id, "next")
        assert end.end["kind"] == "completed"
        assert it.ran == []


async def the_same_three_times(_: Case, folder: Path) -> None:
    """What is allowed for the session is no question any more, also where it was one already."""
    async with asking(folder, ["make", "make", "make"]) as it:
        turn = it.server.send(it.session_id, "go")
        approval_id = (await it.questions(3))[0]
        assert await it.answer(approval_id, allow=True, remember="session")
        await it.server.answer(turn)
        assert it.ran == ["make"] * 3
        assert it.pending == []
        assert [fact.outcome for fact in it.facts(ApprovalDecided)] == ["allowed"] * 3


async def remembered(_: Case, folder: Path) -> None:
    """Allowed for the session: the call runs, and the turn goes on, and it is kept once."""
    async with asking(folder, ["make"], ["make"]) as it:
        turn = it.server.send(it.session_id, "go")
        (approval_id,) = await it.questions(1)
        assert await it.answer(approval_id, allow=True, remember="session")
        assert (await it.server.answer(turn)).end["kind"] == "completed"
        assert it.ran == ["make", "make"]
        assert len(it.server.facts("grant/added")) == 1
        assert len(it.server.facts("tool/result")) == 2
        assert len(it.facts(TurnEnd)) == 1


RUN: dict[str, Run] = {
    "D01": judged,
    "D03": judged,
    "D05": reloaded,
    "D06": one_of_two,
    "D08": answered_twice,
    "D09": gone,
    # A question waits without a limit: nobody's silence is taken for a refusal. Where it cannot be
    # answered any more, the log says so in another word than for a rejection.
    "D10": same_as("lsp.test_approvals", "test_a_connection_that_is_lost_is_no_yes"),
    "D11": same_as("lsp.test_approvals", "test_an_answer_to_no_open_question_is_not_accepted"),
    "D13": same_as("lsp.test_approvals", "test_cancelling_the_turn_withdraws_the_prompt"),
    "D15": the_same_three_times,
    "D18": remembered,
}
