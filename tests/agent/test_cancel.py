"""A turn can be cancelled in every state, and nothing is lost or left open."""

from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
from inline_snapshot import snapshot

from turnbuckle.agent.inbox import Dropped, Ended, until_ended
from turnbuckle.model.port import Delta, Emit, Reply, Request
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalHunk,
    AssistantChunk,
    AssistantMessage,
    ToolResult,
    TurnStart,
)
from turnbuckle.testing.agents import Driven, driven
from turnbuckle.testing.scripted import Scripted, ScriptedCall, say
from turnbuckle.testing.tools import COMMAND, tool
from turnbuckle.testing.transcript import transcript
from turnbuckle.tools.subject import Change, Command
from turnbuckle.tools.tool import Go, Outcome
from turnbuckle.workspace.changes import FileChange, Hunk


async def forever(_: Request, emit: Emit) -> Reply:
    emit(Delta(text="I was going to say"))
    await anyio.sleep_forever()
    raise AssertionError


class Bodies:
    """Bodies that say when they run, and then do not end by themselves."""

    def __init__(self) -> None:
        self.running = 0
        self.changed = anyio.Event()

    def runs(self) -> None:
        self.running += 1
        self.changed.set()
        self.changed = anyio.Event()

    async def all_run(self, count: int = 1) -> None:
        while self.running < count:
            await self.changed.wait()

    async def hang(self, _arguments: dict[str, Any], _: Go) -> str:
        self.runs()
        await anyio.sleep_forever()
        raise AssertionError

    async def swallow(self, _arguments: dict[str, Any], _: Go) -> Outcome:
        self.runs()
        try:
            await anyio.sleep_forever()
        except BaseException:
            return Outcome(content="half of it is done", code="PARTLY")
        raise AssertionError

    async def stubborn(self, _arguments: dict[str, Any], _: Go) -> str:
        self.runs()
        try:
            await anyio.sleep_forever()
        except BaseException:
            await anyio.sleep_forever()
        raise AssertionError

    async def take_hunks(self, _arguments: dict[str, Any], go: Go) -> Outcome:
        taken: list[str] = []
        async for batch in go.accepted():
            taken += batch
            self.runs()
        verdict = go.verdict()
        return Outcome(content=f"took {taken}, rejected {verdict.rejected}, note {verdict.note}")


async def quick(_arguments: dict[str, Any], _: Go) -> str:
    return "ok"


async def cancelled(session: Driven, key: str, cause: str = "user") -> Ended | Dropped:
    session.opened.driver.cancel(cause)
    return await until_ended(session.opened.agent.inbox, key)


async def test_idle_there_is_nothing_to_cancel(tmp_path: Path) -> None:
    async with driven(Scripted([say("ok")]), tmp_path) as session:
        session.opened.driver.cancel("user")
        ended = await session.say("go")
    assert isinstance(ended, Ended)
    assert ended.end.kind == "completed"


async def test_mid_stream_the_visible_prefix_stays_and_the_model_sees_it(tmp_path: Path) -> None:
    model = Scripted([forever, say("yes")])
    async with driven(model, tmp_path) as session:
        key = session.send("go")
        await session.until(AssistantChunk)
        await cancelled(session, key)
        await session.say("go on")
    assert transcript(session.entries) == snapshot("""\
user      go
assistant I was going to say (interrupted)
end       aborted (user)
user      go on
assistant yes
end       completed
""")
    shown = [m.content for m in model.requests[1].messages if isinstance(m, AssistantMessage)]
    assert shown == ["I was going to say"]


async def test_mid_tools_each_call_gets_one_result(tmp_path: Path) -> None:
    calls: list[ScriptedCall] = [
        ("1", "quick", {}),
        ("2", "hang", {}),
        ("3", "hang", {}),
        ("4", "late", {}),
    ]
    bodies = Bodies()
    tools = [tool("quick", quick), tool("hang", bodies.hang)]
    tools += [tool("late", quick, mode="exclusive")]
    async with driven(Scripted([say("", *calls), say("on")]), tmp_path, tools=tools) as session:
        key = session.send("go")
        await bodies.all_run(2)
        await session.until(ToolResult)
        await cancelled(session, key)
        await session.say("go on")
    assert transcript(session.entries) == snapshot("""\
user      go
  call    1 quick()
  call    2 hang()
  call    3 hang()
  result  1 ok
  result  2 ABORTED <tool error: cancelled while it ran; what it did until then is unknown, look before repeating>
  result  3 ABORTED <tool error: cancelled while it ran; what it did until then is unknown, look before repeating>
  call    4 late()
  result  4 ABORTED_BEFORE_DISPATCH <tool error: cancelled before it was started>
end       aborted (user)
user      go on
assistant on
end       completed
""")


async def test_a_body_that_had_its_outcome_keeps_it(tmp_path: Path) -> None:
    bodies, model = Bodies(), Scripted([say("", ("1", "swallow", {}))])
    async with driven(model, tmp_path, tools=[tool("swallow", bodies.swallow)]) as session:
        key = session.send("go")
        await bodies.all_run()
        ended = await cancelled(session, key)
    assert isinstance(ended, Ended)
    assert ended.end.kind == "aborted"
    results = [fact for fact in session.facts if isinstance(fact, ToolResult)]
    assert [(r.content, r.code) for r in results] == [("half of it is done", "PARTLY")]


async def test_a_body_that_swallows_the_first_cancel_is_still_stopped(tmp_path: Path) -> None:
    bodies, model = Bodies(), Scripted([say("", ("1", "stubborn", {}))])
    async with driven(model, tmp_path, tools=[tool("stubborn", bodies.stubborn)]) as session:
        key = session.send("go")
        await bodies.all_run()
        ended = await cancelled(session, key)
    assert isinstance(ended, Ended)
    assert ended.end.kind == "aborted"


async def test_a_waiting_approval_is_withdrawn(tmp_path: Path) -> None:
    make = tool("make", quick, subject=COMMAND, mode="exclusive")
    async with driven(Scripted([say("", ("1", "make", {}))]), tmp_path, tools=[make]) as session:
        key = session.send("go")
        asked = await session.until(ApprovalAsked)
        assert isinstance(asked, ApprovalAsked)
        await cancelled(session, key)
        late = session.opened.agent.approvals.decide(asked.approval_id, allow=True, by="late")
    assert late is False
    assert transcript(session.entries) == snapshot("""\
user      go
  call    1 make()
  asked   1 command: commands are asked about first
  decided cancelled by turn
  result  1 ABORTED_BEFORE_DISPATCH <tool error: cancelled before it was started>
end       aborted (user)
""")


async def test_the_first_cause_wins_and_what_waits_is_dropped(tmp_path: Path) -> None:
    async with driven(Scripted([forever]), tmp_path) as session:
        key = session.send("go")
        waiting = session.send("and then")
        await session.until(AssistantChunk)
        session.opened.driver.cancel("user")
        ended = await cancelled(session, key, "other")
        dropped = await until_ended(session.opened.agent.inbox, waiting)
    assert isinstance(ended, Ended)
    assert ended.end.cause == "user"
    assert dropped == Dropped("cancelled")


async def test_a_kept_queue_is_parked_until_the_next_message(tmp_path: Path) -> None:
    async with driven(Scripted([forever, say("2"), say("3")]), tmp_path) as session:
        key = session.send("one")
        session.send("two")
        await session.until(AssistantChunk)
        session.opened.driver.cancel("user", keep_queue=True)
        await until_ended(session.opened.agent.inbox, key)
        await session.opened.driver.idle()
        assert [type(f) for f in session.facts].count(TurnStart) == 1
        await session.say("three")
    assert transcript(session.entries) == snapshot("""\
user      one
assistant I was going to say (interrupted)
end       aborted (user)
user      two
assistant 2
end       completed
user      three
assistant 3
end       completed
""")


async def test_a_message_between_cancel_and_idle_runs_once(tmp_path: Path) -> None:
    model = Scripted([forever, say("2")])
    async with driven(model, tmp_path) as session:
        session.send("one")
        await session.until(AssistantChunk)
        session.opened.driver.cancel("user")
        ended = await session.say("two")
        await session.opened.driver.idle()
    assert isinstance(ended, Ended)
    assert ended.turn == 2
    assert len(model.requests) == 2


async def test_closing_the_session_ends_its_turn_as_a_shutdown(tmp_path: Path) -> None:
    async with driven(Scripted([forever]), tmp_path) as session:
        session.send("one")
        await session.until(AssistantChunk)
        await session.sessions.close(session.opened.session.id)
    assert transcript(session.entries) == snapshot("""\
user      one
assistant I was going to say (interrupted)
end       aborted (shutdown)
""")


async def test_the_end_of_a_turn_is_on_disk_also_where_the_session_is_closed(
    tmp_path: Path,
) -> None:
    durable: list[int] = []

    async def sync(_descriptor: int) -> None:
        count = len(opened[0].facts) if opened else 0
        await anyio.lowlevel.checkpoint()
        durable.append(count)

    opened: list[Driven] = []
    async with driven(Scripted([forever]), tmp_path, sync=sync) as session:
        opened.append(session)
        session.send("one")
        await session.until(AssistantChunk)
        await session.sessions.close(session.opened.session.id)
    assert durable[-1] == len(session.facts)


def hunk(hunk_id: str, start: int) -> Hunk:
    return Hunk(hunk_id=hunk_id, start=start, end=start + 1, old="x", new="y")


CHANGE = Change(
    files=(
        FileChange(
            uri="file:///work/a",
            kind="edit",
            digest="d",
            base="x x x",
            hunks=(hunk("h1", 0), hunk("h2", 2), hunk("h3", 4)),
        ),
    )
)


async def test_accepted_hunks_are_performed_while_others_are_still_open(tmp_path: Path) -> None:
    bodies = Bodies()
    edit = tool("edit", bodies.take_hunks, subject=CHANGE, mode="exclusive")
    async with driven(
        Scripted([say("", ("1", "edit", {})), say("ok")]), tmp_path, tools=[edit]
    ) as s:
        key = s.send("go")
        asked = await s.until(ApprovalAsked)
        assert isinstance(asked, ApprovalAsked)
        approvals = s.opened.agent.approvals
        assert approvals.decide_hunks(asked.approval_id, {"h2": True}, by="test")
        await bodies.all_run()
        assert not approvals.decide_hunks(asked.approval_id, {"h2": False}, by="test")
        assert approvals.decide_hunks(asked.approval_id, {"h1": False}, by="test", note="not this")
        assert approvals.decide(asked.approval_id, allow=True, by="test")
        await until_ended(s.opened.agent.inbox, key)
    assert [f.decision for f in s.facts if isinstance(f, ApprovalHunk)] == ["accepted", "rejected"]
    assert transcript(s.entries) == snapshot("""\
user      go
  call    1 edit()
  asked   1 change: changes are asked about first
  hunk    accepted
  hunk    rejected
  decided allowed by test: not this
  result  1 took ['h2', 'h3'], rejected ('h1',), note not this
assistant ok
end       completed
""")


async def test_a_cancel_in_the_middle_of_a_review_settles_it(tmp_path: Path) -> None:
    bodies = Bodies()
    edit = tool("edit", bodies.take_hunks, subject=CHANGE, mode="exclusive")
    async with driven(Scripted([say("", ("1", "edit", {}))]), tmp_path, tools=[edit]) as session:
        key = session.send("go")
        asked = await session.until(ApprovalAsked)
        assert isinstance(asked, ApprovalAsked)
        session.opened.agent.approvals.decide_hunks(asked.approval_id, {"h2": True}, by="test")
        await bodies.all_run()
        await cancelled(session, key)
    assert transcript(session.entries) == snapshot("""\
user      go
  call    1 edit()
  asked   1 change: changes are asked about first
  hunk    accepted
  decided cancelled by turn
  result  1 ABORTED <tool error: cancelled while it ran; what it did until then is unknown, look before repeating>
end       aborted (user)
""")


async def test_a_question_that_cannot_be_written_down_is_not_left_open(tmp_path: Path) -> None:
    odd = Command(command="echo \ud800", cwd="file:///work", timeout=1)
    make = tool("make", quick, subject=odd, mode="exclusive")
    model = Scripted([say("", ("1", "make", {})), say("ok")])
    async with driven(model, tmp_path, tools=[make]) as session:
        ended = await session.say("go")
        assert session.opened.agent.approvals.pending == ()
    assert isinstance(ended, Ended)
    assert ended.end.kind == "completed"
    results = [fact for fact in session.facts if isinstance(fact, ToolResult)]
    assert [result.code for result in results] == ["TOOL_FAILED"]
