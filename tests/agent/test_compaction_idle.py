"""Making room while nothing runs, as a turn without steps; and any conversation at random."""

import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from turnbuckle.agent.agent import Agent, Settings
from turnbuckle.agent.compaction import Compacted, Compactor
from turnbuckle.agent.driver import Busy
from turnbuckle.agent.inbox import Ended
from turnbuckle.model.port import Emit, ModelRefused, ModelUnavailable, Reply, Request
from turnbuckle.plugins import compaction
from turnbuckle.session.events import (
    AssistantMessage,
    ContextPruned,
    ContextSummary,
    Fact,
    LlmFailed,
    LlmStream,
    RequestHeader,
    StepStart,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.parts import Call, End, Failure
from turnbuckle.session.projection import project
from turnbuckle.session.rebuild import verify
from turnbuckle.session.store import read_lines
from turnbuckle.testing.agents import MODEL, Driven, driven
from turnbuckle.testing.scripted import Scripted, Step, say
from turnbuckle.testing.tools import tool
from turnbuckle.tools.tool import Go

LONG = "word " * 1000


def kinds(facts: list[Fact]) -> list[type]:
    return [type(fact) for fact in facts]


async def compact(session: Driven) -> tuple[End | None, list[Compacted]]:
    """Compact as an errand of the driver."""
    done: list[Compacted] = []

    async def work(agent: Agent, _turn: int) -> End:
        done.append(await Compactor(agent).compact())
        return End(kind="completed")

    with anyio.fail_after(10):
        return await session.opened.driver.errand(work), done


def assert_rebuilds(session: Driven) -> None:
    store = session.opened.session.store
    assert store is not None
    lines, _ = read_lines(store.path)
    assert all(same for _, same in verify(iter(lines)))


# -- on demand ---------------------------------------------------------------------------------------


async def test_compacting_while_idle_is_a_turn_without_steps(tmp_path: Path) -> None:
    model = Scripted([say(LONG), say("one"), say("They said words."), say("on")], window=4000)
    async with driven(model, tmp_path) as session:
        await session.say("speak")
        await session.say("again")
        before = len(session.facts)
        end, [done] = await compact(session)
        assert end == End(kind="completed")
        assert kinds(session.facts[before:]) == [TurnStart, LlmStream, ContextSummary, TurnEnd]
        assert session.opened.session.turn == 3
        assert done.after < done.before
        assert done.why is None
        await session.say("go on")
    shown = model.requests[-1].messages
    assert [type(m) for m in shown] == [
        ContextSummary, UserMessage, AssistantMessage, UserMessage,
    ]  # fmt: skip
    assert sum(isinstance(fact, RequestHeader) for fact in session.facts) == 1
    assert_rebuilds(session)


async def test_where_there_is_nothing_to_leave_out_nobody_is_asked(tmp_path: Path) -> None:
    model = Scripted([say("short")], window=4000)
    async with driven(model, tmp_path) as session:
        assert Compactor(session.opened.agent).nothing_to_do
        await session.say("speak")
        assert Compactor(session.opened.agent).nothing_to_do
        _, [done] = await compact(session)
    assert len(model.requests) == 1
    assert done.after == done.before


async def test_a_failure_while_idle_changes_nothing_and_is_told(tmp_path: Path) -> None:
    no: list[Step] = [ModelRefused("auth", "no such key"), say("", ("1", "f", {}))]
    async with driven(Scripted([say(LONG), say("2"), *no], window=4000), tmp_path) as session:
        await session.say("speak")
        await session.say("again")
        before = list(session.opened.session.projection.messages)
        end, [done] = await compact(session)
        assert end == End(kind="completed")
        assert session.opened.session.projection.messages == before
        assert done.why == "the summary is of no use: it calls tools"
        assert kinds(session.facts).count(LlmFailed) == 2
    assert_rebuilds(session)


# -- errands of the driver ---------------------------------------------------------------------------


async def test_an_errand_is_refused_while_a_turn_runs_or_is_about_to(tmp_path: Path) -> None:
    gate = anyio.Event()

    async def wait(_: Request, __: Emit) -> Reply:
        await gate.wait()
        return say("done")

    async with driven(Scripted([wait]), tmp_path) as session:
        session.send("go")
        with pytest.raises(Busy):
            await compact(session)
        await session.until(LlmStream)
        with pytest.raises(Busy):
            await compact(session)
        gate.set()
        await session.until(TurnEnd)
        await session.opened.driver.idle()
        await compact(session)
    assert kinds(session.facts).count(TurnEnd) == 2


async def held(session: Driven, how: Callable[[], Awaitable[End]]) -> End | None:
    async def work(_agent: Agent, _turn: int) -> End:
        return await how()

    return await session.opened.driver.errand(work)


async def test_a_message_that_is_sent_meanwhile_runs_afterwards(tmp_path: Path) -> None:
    for number, outcome in enumerate(("completed", "error")):
        gate = anyio.Event()

        async def wait(gate: anyio.Event = gate, outcome: str = outcome) -> End:
            await gate.wait()
            if outcome == "error":
                raise ModelRefused("auth", "no")
            return End(kind="completed")

        async with driven(Scripted([say("done")]), tmp_path / str(number)) as session:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(held, session, wait)
                await session.until(TurnStart)
                session.send("and this")
                assert session.opened.driver.busy
                gate.set()
            await session.until(AssistantMessage)
            await session.until(TurnEnd, 2)
            await session.opened.driver.idle()
        assert kinds(session.facts).count(StepStart) == 1


async def test_an_errand_wakes_nothing_that_is_parked(tmp_path: Path) -> None:
    async def done() -> End:
        return End(kind="completed")

    gate = anyio.Event()

    async def wait(_: Request, __: Emit) -> Reply:
        await gate.wait()
        raise ModelRefused("auth", "no")

    async with driven(Scripted([wait]), tmp_path) as session:
        session.send("fails")
        await session.until(LlmStream)
        session.send("is parked then")
        gate.set()
        await session.until(TurnEnd)
        await session.opened.driver.idle()
        assert await held(session, done) == End(kind="completed")
        await session.opened.driver.idle()
        assert [item.key for item in session.opened.agent.inbox.waiting] == ["p2"]
    assert kinds(session.facts).count(TurnEnd) == 2


async def test_cancelling_the_call_cancels_the_errand_and_keeps_the_queue(tmp_path: Path) -> None:
    async def forever() -> End:
        await anyio.sleep_forever()
        raise AssertionError

    async with driven(Scripted([say("done")]), tmp_path) as session:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(held, session, forever)
            await session.until(TurnStart)
            session.send("waits")
            tasks.cancel_scope.cancel()
        end = session.facts[-1]
        assert isinstance(end, TurnEnd)
        assert end.end == End(kind="aborted", cause="user")
        assert [item.key for item in session.opened.agent.inbox.waiting] == ["p1"]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(held, session, forever)
            tasks.cancel_scope.cancel()
        assert not session.opened.driver.busy
        with anyio.fail_after(10):
            await session.opened.driver.idle()


async def test_an_errand_whose_call_is_cancelled_while_its_end_is_flushed_harms_no_other(
    tmp_path: Path,
) -> None:
    slow, reached, done = anyio.Event(), anyio.Event(), False

    async def sync(_descriptor: int) -> None:
        if done:
            reached.set()
            await slow.wait()

    async def last() -> End:
        nonlocal done
        done = True
        return End(kind="stopped", reason="the first")

    async def other() -> End:
        return End(kind="stopped", reason="the other")

    async with driven(Scripted([say("done")]), tmp_path, sync=sync) as session:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(held, session, last)
            await reached.wait()
            tasks.cancel_scope.cancel()
            slow.set()
        with anyio.fail_after(10):
            assert await held(session, other) == End(kind="stopped", reason="the other")
            ended = await session.say("go on")
    assert isinstance(ended, Ended)
    assert ended.end.kind == "completed"


async def test_an_errand_ends_with_its_session(tmp_path: Path) -> None:
    ended: list[End | None] = []

    async def forever() -> End:
        await anyio.sleep_forever()
        raise AssertionError

    async with driven(Scripted([]), tmp_path) as session:

        async def run() -> None:
            ended.append(await held(session, forever))

        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(run)
                await session.until(TurnStart)
                await session.sessions.close(session.opened.session.id)
    assert ended == [None]
    assert isinstance(session.facts[-1], TurnEnd)


async def test_what_stops_an_errand_is_its_end(tmp_path: Path) -> None:
    async def refuse() -> End:
        raise ModelRefused("auth", "no")

    async with driven(Scripted([]), tmp_path) as session:
        end = await held(session, refuse)
    assert end == End(kind="error", failure=Failure(kind="auth", message="no"))


# -- any conversation --------------------------------------------------------------------------------


class Chance:
    """A model, a person and a tool that do as a generator says."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.window = self.rng.choice([900, 1500, 3000, None])
        self.limit = self.rng.choice([1200, 2500])
        self.calls = self.asked = 0

    def words(self, most: int) -> str:
        return self.rng.choice(["word ", "字"]) * self.rng.randrange(most)

    async def __call__(self, request: Request, _emit: Emit) -> Reply:
        self.asked += 1
        for _ in range(self.rng.randrange(4)):
            await checkpoint()
        size = sum(len(getattr(m, "content", "") or getattr(m, "text", "")) // 4
                   for m in request.messages)  # fmt: skip
        if self.rng.random() < 0.05:
            raise ModelUnavailable("server", "503")
        if self.window is None and size > self.limit:
            raise ModelRefused("overflow", "too long")
        if request.why:
            return self.rng.choice(
                [say("Short."), say("Short."), say(""), say("x" * 9000), say("", ("", "read", {}))]
            )
        calls = []
        for _ in range(self.rng.randrange(4) if self.rng.random() < 0.6 else 0):
            self.calls += 1
            calls.append(Call(call_id=f"c{self.calls}", name="read", arguments="{}"))
        return Reply(content=self.words(120), tool_calls=tuple(calls), finish="stop")

    async def read(self, _: dict[str, Any], __: Go) -> str:
        await checkpoint()
        return self.words(600)

    async def person(self, session: Driven) -> None:
        for _ in range(self.rng.randrange(1, 7)):
            if self.rng.random() < 0.2:
                session.send(self.words(100))
                for _ in range(self.rng.randrange(60)):
                    await checkpoint()
                session.opened.driver.cancel("user")
                await session.opened.driver.idle()
            elif self.rng.random() < 0.2:
                await compact(session)
            else:
                await session.say(self.words(100))


def assert_sound(session: Driven) -> None:
    kept = session.opened.session.projection
    scratch = project(session.entries)
    assert kept.messages == scratch.messages
    assert kept.seqs == scratch.seqs
    owed: list[str] = []
    for message in kept.messages:
        if isinstance(message, ToolResult):
            assert owed.pop(0) == message.call_id
            continue
        assert not owed
        if isinstance(message, AssistantMessage):
            owed = [call.call_id for call in message.tool_calls]
    assert not owed
    assert_rebuilds(session)


@pytest.mark.parametrize("batch", range(4))
async def test_any_conversation_stays_sound_whatever_the_model_says(
    batch: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("CRITICAL")
    met: set[type[Fact]] = set()
    for seed in range(batch * 40, batch * 40 + 40):
        chance = Chance(seed)
        settings = Settings(model=MODEL, max_steps=12)
        try:
            with anyio.fail_after(20):
                async with driven(
                    chance, tmp_path / str(seed), tools=[tool("read", chance.read)],
                    plugins=[compaction.install], settings=settings,
                ) as session:  # fmt: skip
                    await chance.person(session)
                    session_id = session.opened.session.id
                assert_sound(session)
                async with driven(
                    Scripted([say("ok")] * 9), tmp_path / str(seed), session_id=session_id
                ) as again:
                    shown = again.opened.session.projection
                    assert shown.messages == session.opened.session.projection.messages
                    await again.say("and on")
                assert_sound(again)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
        met |= {type(fact) for fact in session.facts}
    assert {ContextPruned, ContextSummary, LlmFailed} <= met
