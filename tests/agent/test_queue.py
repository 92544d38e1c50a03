"""What waits: one message a turn, steering into the running one, context that opens none."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from inline_snapshot import snapshot

from turnbuckle.agent.hooks import Decision, PreStep, Reject, TurnStopping
from turnbuckle.agent.inbox import Dropped, Ended, take_out, until_ended
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.model.port import Delta, Emit, Reply, Request
from turnbuckle.session.codec import NotJson
from turnbuckle.session.events import (
    AssistantChunk,
    AssistantMessage,
    InboxAdded,
    StepStart,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.testing.agents import Driven, driven
from turnbuckle.testing.scripted import Scripted, Step, say
from turnbuckle.testing.tools import tool
from turnbuckle.testing.transcript import transcript
from turnbuckle.tools.tool import Go


class Held:
    """A model that starts to answer and goes on when it may."""

    def __init__(self) -> None:
        self.go_on = anyio.Event()

    async def __call__(self, _: Request, emit: Emit) -> Reply:
        emit(Delta(text="first"))
        await self.go_on.wait()
        return Reply(content="first", finish="stop")


def turns_of(session: Driven) -> int:
    return sum(isinstance(fact, TurnStart) for fact in session.facts)


async def test_one_queued_message_is_one_turn_in_order(tmp_path: Path) -> None:
    held = Held()
    async with driven(Scripted([held, say("2"), say("3")]), tmp_path) as session:
        session.send("one")
        await session.until(AssistantChunk)
        session.send("two")
        session.send("three")
        held.go_on.set()
        await session.opened.driver.idle()
    assert transcript(session.entries) == snapshot("""\
user      one
assistant first
end       completed
user      two
assistant 2
end       completed
user      three
assistant 3
end       completed
""")


async def test_idle_returns_once_when_all_that_waited_is_done(tmp_path: Path) -> None:
    held = Held()
    returned: list[int] = []
    async with driven(Scripted([held, say("2")]), tmp_path) as session:
        driver = session.opened.driver

        async def wait() -> None:
            await driver.idle()
            returned.append(turns_of(session))

        await driver.idle()  # nothing runs yet
        session.send("one")
        session.send("two")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            tasks.start_soon(wait)
            await session.until(AssistantChunk)
            assert driver.busy
            held.go_on.set()
        assert not driver.busy
    assert returned == [2, 2]


async def test_steering_waits_for_the_stream_and_enters_at_the_next_step_of_its_turn(
    tmp_path: Path,
) -> None:
    held = Held()
    async with driven(Scripted([held, say("brief")]), tmp_path) as session:
        session.send("go")
        await session.until(AssistantChunk)
        session.opened.driver.send("s", "be brief", target="step")
        for _ in range(10):
            await checkpoint()
        # It interrupts nothing.
        assert not [f for f in session.facts if isinstance(f, AssistantMessage)]
        held.go_on.set()
        ended = await until_ended(session.opened.agent.inbox, "s")
    assert isinstance(ended, Ended)
    assert ended.turn == 1
    assert transcript(session.entries) == snapshot("""\
user      go
assistant first
user      be brief
assistant brief
end       completed
""")


async def test_steering_while_idle_opens_a_turn(tmp_path: Path) -> None:
    async with driven(Scripted([say("yes")]), tmp_path) as session:
        session.opened.driver.send("s", "be brief", target="step")
        ended = await until_ended(session.opened.agent.inbox, "s")
    assert isinstance(ended, Ended)
    assert ended.end.kind == "completed"


async def test_what_is_steered_while_a_turn_is_stopping_gets_one_more_step(tmp_path: Path) -> None:
    async def remind(stopping: TurnStopping, next_: Next[TurnStopping, None]) -> None:
        if not any(isinstance(f, StepStart) and f.step == 2 for f in session.facts):
            contexts[0].session.inject("run the tests first")
        await next_(stopping)

    def install(ctx: PluginContext) -> None:
        contexts.append(ctx)
        ctx.hooks.turn_stopping.use(remind)

    contexts: list[PluginContext] = []
    replies = [say("done"), say("tests pass")]
    async with driven(Scripted(replies), tmp_path, plugins=[install]) as session:
        await session.say("go")
    assert transcript(session.entries) == snapshot("""\
user      go
assistant done
plugin    run the tests first
assistant tests pass
end       completed
""")


async def test_context_alone_opens_no_turn_and_enters_with_the_next(tmp_path: Path) -> None:
    contexts: list[PluginContext] = []
    async with driven(Scripted([say("ok")]), tmp_path, plugins=[contexts.append]) as session:
        contexts[0].session.inject("the file changed")
        for _ in range(10):
            await checkpoint()
        assert turns_of(session) == 0
        await session.say("go")
    assert transcript(session.entries) == snapshot("""\
plugin    the file changed
user      go
assistant ok
end       completed
""")


async def test_context_that_comes_as_a_turn_ends_opens_no_other(tmp_path: Path) -> None:
    def install(ctx: PluginContext) -> None:
        ctx.on(TurnEnd, lambda _: ctx.session.inject("it ended"))

    async with driven(Scripted([say("1")]), tmp_path, plugins=[install]) as session:
        await session.say("one")
        await session.opened.driver.idle()
        assert turns_of(session) == 1


async def test_a_turn_is_not_stopping_while_something_is_steered_into_it(tmp_path: Path) -> None:
    stopping: list[int] = []

    async def count(value: TurnStopping, next_: Next[TurnStopping, None]) -> None:
        stopping.append(value.turn)
        await next_(value)

    def install(ctx: PluginContext) -> None:
        ctx.hooks.turn_stopping.use(count)

    held = Held()
    async with driven(Scripted([held, say("2")]), tmp_path, plugins=[install]) as session:
        session.send("go")
        await session.until(AssistantChunk)
        session.opened.driver.send("s", "be brief", target="step")
        held.go_on.set()
        await session.opened.driver.idle()
    assert stopping == [1]


async def test_a_message_can_be_edited_and_dropped_until_it_enters(tmp_path: Path) -> None:
    held = Held()
    async with driven(Scripted([held, say("2")]), tmp_path) as session:
        inbox = session.opened.agent.inbox
        running, edited, dropped = (session.send(text) for text in ("one", "two", "three"))
        await session.until(AssistantChunk)
        assert inbox.edit(edited, "two, but better")
        assert take_out(inbox, dropped, "dropped")
        assert not inbox.edit(running, "too late")
        assert not take_out(inbox, running, "too late")
        assert not inbox.edit(dropped, "gone")
        assert not inbox.edit("nobody", "knows this")
        held.go_on.set()
        assert await until_ended(inbox, dropped) == Dropped("dropped")
        await session.opened.driver.idle()
        assert not inbox.edit(edited, "too late")
    said = [fact.content for fact in session.facts if isinstance(fact, UserMessage)]
    assert said == ["one", "two, but better"]


async def test_dropping_all_that_waits_leaves_nothing_to_run(tmp_path: Path) -> None:
    async with driven(Scripted([]), tmp_path) as session:
        key = session.send("go")
        session.opened.agent.inbox.drop((key,), "dropped")
        await session.opened.driver.idle()
        assert turns_of(session) == 0
        assert await until_ended(session.opened.agent.inbox, key) == Dropped("dropped")


def refusing(ctx: PluginContext) -> None:
    """Refuse the first prompt, and leave."""

    async def once(step: PreStep, next_: Next[PreStep, Decision]) -> Decision:
        if step.turn == 1:
            return Reject("no")
        return await next_(step)

    ctx.hooks.pre_step.use(once)


def throwing(ctx: PluginContext) -> None:
    async def once(step: PreStep, next_: Next[PreStep, Decision]) -> Decision:
        if step.turn == 1:
            raise RuntimeError("boom")
        return await next_(step)

    ctx.hooks.pre_step.use(once)


@pytest.mark.parametrize("plugin", [refusing, throwing])
async def test_what_waits_after_a_turn_that_did_not_complete_is_parked(
    tmp_path: Path, plugin: Any
) -> None:
    async with driven(Scripted([say("2"), say("3")]), tmp_path, plugins=[plugin]) as session:
        session.send("one")
        session.send("two")
        await session.opened.driver.idle()
        assert turns_of(session) == 1
        assert not session.opened.driver.busy
        assert [item.input for item in session.opened.agent.inbox.waiting] == ["two"]
        await session.say("three")  # it wakes both, in order
    said = [fact.content for fact in session.facts if isinstance(fact, UserMessage)]
    assert said == ["two", "three"]
    assert turns_of(session) == 3


async def test_context_does_not_wake_a_parked_queue(tmp_path: Path) -> None:
    contexts: list[PluginContext] = []
    plugins = [refusing, contexts.append]
    async with driven(Scripted([]), tmp_path, plugins=plugins) as session:
        session.send("one")
        session.send("two")
        await session.opened.driver.idle()
        contexts[0].session.inject("news")
        for _ in range(10):
            await checkpoint()
        assert turns_of(session) == 1


async def test_a_cut_answer_parks_nothing(tmp_path: Path) -> None:
    async with driven(Scripted([say("half", finish="length"), say("2")]), tmp_path) as session:
        session.send("one")
        session.send("two")
        await session.opened.driver.idle()
        assert turns_of(session) == 2


async def cancelled_mid_stream(session: Driven, *, keep_queue: bool) -> None:
    key = session.send("one")
    await session.until(AssistantChunk)
    session.opened.driver.send("steer", "be brief", target="step")
    session.send("two")
    session.opened.agent.inbox.add("news", "you undid it", target="step", source="plugin")
    session.opened.driver.cancel("user", keep_queue=keep_queue)
    await until_ended(session.opened.agent.inbox, key)
    await session.opened.driver.idle()


async def test_a_cancel_drops_what_the_person_said_and_never_what_was_injected(
    tmp_path: Path,
) -> None:
    async with driven(Scripted([Held()]), tmp_path) as session:
        await cancelled_mid_stream(session, keep_queue=False)
        assert [item.input for item in session.opened.agent.inbox.waiting] == ["you undid it"]


async def test_a_cancel_that_keeps_the_queue_keeps_all_of_it(tmp_path: Path) -> None:
    async with driven(Scripted([Held()]), tmp_path) as session:
        await cancelled_mid_stream(session, keep_queue=True)
        waiting = [item.input for item in session.opened.agent.inbox.waiting]
        assert waiting == ["be brief", "two", "you undid it"]


async def test_what_was_about_to_enter_a_step_that_is_cancelled_waits_again(
    tmp_path: Path,
) -> None:
    reached = anyio.Event()

    async def hang(step: PreStep, next_: Next[PreStep, Decision]) -> Decision:
        if step.step == 2:
            reached.set()
            await anyio.sleep_forever()
        return await next_(step)

    def install(ctx: PluginContext) -> None:
        ctx.hooks.pre_step.use(hang)

    async def steer(_arguments: dict[str, Any], _: Go) -> str:
        session.opened.driver.send("steer", "be brief", target="step")
        session.opened.agent.inbox.add("news", "it changed", target="step", source="plugin")
        return "ok"

    replies: list[Step] = [say("", ("1", "steer", {})), say("brief")]
    async with driven(
        Scripted(replies), tmp_path, tools=[tool("steer", steer)], plugins=[install]
    ) as session:
        session.send("go")
        await reached.wait()
        session.opened.driver.cancel("user", keep_queue=True)
        await session.opened.driver.idle()
        waiting = [item.input for item in session.opened.agent.inbox.waiting]
        assert waiting == ["be brief", "it changed"]
        ended = await session.say("and on")
    assert isinstance(ended, Ended)
    said = [fact.content for fact in session.facts if isinstance(fact, UserMessage)]
    assert said == ["go", "be brief", "it changed", "and on"]


async def test_each_message_between_cancel_and_idle_runs_once(tmp_path: Path) -> None:
    async with driven(Scripted([Held(), say("2"), say("3")]), tmp_path) as session:
        session.send("one")
        await session.until(AssistantChunk)
        session.opened.driver.cancel("user")
        two = session.send("two")
        assert not session.opened.driver.send(two, "two")  # again, by a client that is not sure
        session.send("three")
        await session.opened.driver.idle()
    said = [fact.content for fact in session.facts if isinstance(fact, UserMessage)]
    assert said == ["one", "two", "three"]


async def test_a_message_that_cannot_be_written_down_is_refused_and_nothing_waits(
    tmp_path: Path,
) -> None:
    async with driven(Scripted([say("ok")]), tmp_path) as session:
        with pytest.raises(NotJson):
            session.opened.driver.send("k\ud800", "go")
        assert session.opened.agent.inbox.waiting == ()
        await session.say("go")


async def test_a_message_with_half_a_character_is_mended_when_it_comes_in(tmp_path: Path) -> None:
    async with driven(Scripted([say("ok")]), tmp_path) as session:
        session.opened.driver.send("k", "go \ud83d on")
        await until_ended(session.opened.agent.inbox, "k")
    assert [f.input for f in session.facts if isinstance(f, InboxAdded)] == ["go � on"]


async def test_steering_interrupts_no_tool(tmp_path: Path) -> None:
    started, finish = anyio.Event(), anyio.Event()

    async def slow(_arguments: dict[str, Any], _: Go) -> str:
        started.set()
        await finish.wait()
        return "whole"

    replies: list[Step] = [say("", ("1", "slow", {})), say("brief")]
    async with driven(Scripted(replies), tmp_path, tools=[tool("slow", slow)]) as session:
        session.send("go")
        await started.wait()
        session.opened.driver.send("s", "be brief", target="step")
        for _ in range(10):
            await checkpoint()
        finish.set()
        await session.opened.driver.idle()
    assert transcript(session.entries) == snapshot("""\
user      go
  call    1 slow()
  result  1 whole
user      be brief
assistant brief
end       completed
""")
