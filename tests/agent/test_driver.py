"""A turn can be stopped wherever it waits; what stops by itself is a failure; both are told."""

import asyncio
import itertools
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from inline_snapshot import snapshot

from turnbuckle.agent.agent import Settings
from turnbuckle.agent.hooks import Decision, PreStep, RequestFailure, Retry, TurnStopping
from turnbuckle.agent.inbox import Ended, until_ended
from turnbuckle.agent.plugin import Install, PluginContext
from turnbuckle.kernel.waterfall import Next, Stack
from turnbuckle.model.port import Delta, Emit, ModelUnavailable, Reply, Request
from turnbuckle.session.events import (
    ApprovalAsked,
    AssistantMessage,
    LlmStream,
    StepEnd,
    StepStart,
    ToolCall,
    ToolResult,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from turnbuckle.session.parts import JsonObject
from turnbuckle.testing.agents import MODEL, Driven, driven
from turnbuckle.testing.scripted import Scripted, Step, say
from turnbuckle.testing.tools import COMMAND, tool
from turnbuckle.testing.transcript import transcript
from turnbuckle.tools.hooks import Allow, Execution, PreExecute
from turnbuckle.tools.tool import Go

Pick = Callable[[PluginContext], Stack[Any, Any]]
"""Which waterfall a layer stands in. Any: they are of every type."""

HOOKS: dict[str, Pick] = {
    "system-prompt/assemble": lambda ctx: ctx.hooks.prompt,
    "agent/pre-step": lambda ctx: ctx.hooks.pre_step,
    "agent/request": lambda ctx: ctx.hooks.request,
    "agent/request-error": lambda ctx: ctx.hooks.request_error,
    "tools/pre-execute": lambda ctx: ctx.hooks.pre_execute,
    "tools/execute": lambda ctx: ctx.hooks.execute,
    "tools/post-execute": lambda ctx: ctx.hooks.post_execute,
    "agent/turn-stopping": lambda ctx: ctx.hooks.turn_stopping,
}


async def quick(_arguments: dict[str, Any], _: Go) -> str:
    return "ok"


QUICK = tool("quick", quick)
CALL = say("", ("1", "quick", {}))


def script() -> list[Step]:
    """What meets every hook: a failing attempt, a call, an answer."""
    return [ModelUnavailable("server", "503"), CALL, say("done")]


class Gate:
    """Stops a layer where it stands, once, and says that it is there."""

    def __init__(self) -> None:
        self.reached = anyio.Event()
        self.passed = False

    async def wait(self) -> None:
        if not self.passed:
            self.passed = True
            self.reached.set()
            await anyio.sleep_forever()

    def in_front_of(self, pick: Pick) -> Install:
        async def stand(value: Any, next_: Next[Any, Any]) -> Any:
            await self.wait()
            return await next_(value)

        def install(ctx: PluginContext) -> None:
            pick(ctx).use(stand)

        return install

    def behind(self, pick: Pick) -> Install:
        async def stand(value: Any, next_: Next[Any, Any]) -> Any:
            result = await next_(value)
            await self.wait()
            return result

        def install(ctx: PluginContext) -> None:
            pick(ctx).use(stand)

        return install


def retrying(after: float = 0.0) -> Install:
    async def again(_: RequestFailure, _next: Next[RequestFailure, Retry | None]) -> Retry | None:
        return Retry(after)

    def install(ctx: PluginContext) -> None:
        ctx.hooks.request_error.use(again)

    return install


async def stopped(session: Driven, key: str) -> None:
    """Cancel twice, and see that the first cause is told, and that the next turn works."""
    driver, inbox = session.opened.driver, session.opened.agent.inbox
    driver.cancel("user", keep_queue=True)
    driver.cancel("another")
    with anyio.fail_after(10):
        ended = await until_ended(inbox, key)
        await driver.idle()
    assert isinstance(ended, Ended)
    assert (ended.end.kind, ended.end.cause) == ("aborted", "user")
    assert_whole(session)


def assert_whole(session: Driven) -> None:
    """Every call has one result, every step and turn its end, and no question is open."""
    kinds = [fact.type for fact in session.facts]
    assert kinds.count("turn/start") == kinds.count("turn/end")
    assert kinds.count("step/start") == kinds.count("step/end")
    assert session.opened.agent.approvals.pending == ()
    answers = [fact for fact in session.facts if isinstance(fact, AssistantMessage)]
    owed = [call.call_id for answer in answers for call in answer.tool_calls]
    for kind in (ToolCall, ToolResult):
        assert [fact.call_id for fact in session.facts if isinstance(fact, kind)] == owed


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("side", ["in_front_of", "behind"])
async def test_a_turn_can_be_cancelled_in_every_hook(tmp_path: Path, hook: str, side: str) -> None:
    gate = Gate()
    model = Scripted([*script(), say("again")])
    plugins = [getattr(gate, side)(HOOKS[hook]), retrying()]
    async with driven(model, tmp_path, tools=[QUICK], plugins=plugins) as session:
        key = session.send("go")
        with anyio.fail_after(10):
            await gate.reached.wait()
        await stopped(session, key)
        ended = await session.say("and on")
    assert isinstance(ended, Ended)
    assert ended.turn == 2


async def test_a_turn_can_be_cancelled_before_the_model_says_anything(tmp_path: Path) -> None:
    async def silent(_: Request, _emit: Emit) -> Reply:
        await anyio.sleep_forever()
        raise AssertionError

    async with driven(Scripted([silent]), tmp_path) as session:
        key = session.send("go")
        await session.until(LlmStream)
        await stopped(session, key)
    assert not [fact for fact in session.facts if isinstance(fact, AssistantMessage)]


async def test_a_cancel_between_two_attempts_keeps_what_was_said(tmp_path: Path) -> None:
    async def breaks(_: Request, emit: Emit) -> Reply:
        emit(Delta(text="half an "))
        raise ModelUnavailable("server", "503")

    async def wait(request: Request, next_: Next[Request, Request]) -> Request:
        seen.append(1)
        if len(seen) == 2:
            reached.set()
            await anyio.sleep_forever()
        return await next_(request)

    def install(ctx: PluginContext) -> None:
        ctx.hooks.request.use(wait)

    seen: list[int] = []
    reached = anyio.Event()
    plugins = [install, retrying()]
    async with driven(Scripted([breaks]), tmp_path, plugins=plugins) as session:
        key = session.send("go")
        await reached.wait()
        await stopped(session, key)
    answers = [fact for fact in session.facts if isinstance(fact, AssistantMessage)]
    assert [(a.content, a.interrupted, a.finish) for a in answers] == [
        ("half an ", True, "aborted"),
    ]  # fmt: skip


async def test_once_the_next_attempt_is_logged_the_text_of_the_one_before_counts_no_more(
    tmp_path: Path,
) -> None:
    slow, reached = anyio.Event(), anyio.Event()

    async def breaks(_: Request, emit: Emit) -> Reply:
        emit(Delta(text="half an "))
        raise ModelUnavailable("server", "503")

    async def sync(_descriptor: int) -> None:
        if opened and len([f for f in opened[0].facts if isinstance(f, LlmStream)]) == 2:
            reached.set()
            await slow.wait()

    opened: list[Driven] = []
    plugins = [retrying()]
    async with driven(Scripted([breaks]), tmp_path, plugins=plugins, sync=sync) as session:
        opened.append(session)
        key = session.send("go")
        await reached.wait()
        session.opened.driver.cancel("user")
        await until_ended(session.opened.agent.inbox, key)
        slow.set()
        await session.opened.driver.idle()
    # As after a kill at the same moment, and as a reader of the stream has it.
    assert not [fact for fact in session.facts if isinstance(fact, AssistantMessage)]


async def test_a_turn_can_be_cancelled_while_it_waits_to_try_again(tmp_path: Path) -> None:
    model = Scripted([ModelUnavailable("server", "503")])
    async with driven(model, tmp_path, plugins=[retrying(3600)]) as session:
        key = session.send("go")
        while not [fact for fact in session.facts if fact.type == "llm/failed"]:
            await checkpoint()
        await stopped(session, key)


async def test_a_turn_can_be_cancelled_while_the_disk_is_slow(tmp_path: Path) -> None:
    slow, reached = anyio.Event(), anyio.Event()

    async def sync(_descriptor: int) -> None:
        reached.set()
        await slow.wait()

    async with driven(Scripted([]), tmp_path, sync=sync) as session:
        key = session.send("go")
        await reached.wait()
        session.opened.driver.cancel("user")
        ended = await until_ended(session.opened.agent.inbox, key)
        assert isinstance(ended, Ended)
        assert ended.end.cause == "user"
        # The end itself is flushed, whatever is cancelled now.
        session.opened.driver.cancel("another")
        assert session.opened.driver.running is None
        slow.set()
        await session.opened.driver.idle()
    assert len([fact for fact in session.facts if isinstance(fact, TurnEnd)]) == 1


async def test_a_call_that_waits_for_its_slot_can_be_cancelled(tmp_path: Path) -> None:
    reached = anyio.Event()

    async def hang(_arguments: dict[str, Any], _: Go) -> str:
        reached.set()
        await anyio.sleep_forever()
        raise AssertionError

    calls = say("", *((str(n), "hang", {}) for n in range(5)))
    settings = Settings(model=MODEL, max_parallel_tool_calls=2)
    hanging = [tool("hang", hang)]
    async with driven(Scripted([calls]), tmp_path, tools=hanging, settings=settings) as session:
        key = session.send("go")
        await reached.wait()
        await stopped(session, key)
    results = [fact.code for fact in session.facts if isinstance(fact, ToolResult)]
    assert results[2:] == ["ABORTED_BEFORE_DISPATCH"] * 3


async def test_whoever_sees_the_turn_start_can_stop_it_already(tmp_path: Path) -> None:
    def stop(_: TurnStart) -> None:
        session.opened.driver.cancel("an observer", keep_queue=True)

    def install(ctx: PluginContext) -> None:
        ctx.on(TurnStart, stop)

    model = Scripted([say("never")])
    async with driven(model, tmp_path, plugins=[install]) as session:
        ended = await session.say("go")
    assert isinstance(ended, Ended)
    assert (ended.end.kind, ended.end.cause) == ("aborted", "an observer")
    assert model.requests == []


async def test_a_cancel_that_comes_too_late_to_stop_anything_is_still_the_end(
    tmp_path: Path,
) -> None:
    def stop(_: StepEnd) -> None:
        session.opened.driver.cancel("user", keep_queue=True)

    def install(ctx: PluginContext) -> None:
        ctx.on(StepEnd, stop)

    model = Scripted([say("all is done"), say("never")])
    async with driven(model, tmp_path, plugins=[install]) as session:
        key = session.send("go")
        session.send("and this")
        ended = await until_ended(session.opened.agent.inbox, key)
        await session.opened.driver.idle()
    assert isinstance(ended, Ended)
    assert (ended.end.kind, ended.end.cause) == ("aborted", "user")
    assert len(model.requests) == 1  # what waited is parked, as after every cancel


@pytest.mark.parametrize("hook", HOOKS)
async def test_a_layer_that_swallows_the_first_cancel_is_still_stopped(
    tmp_path: Path, hook: str
) -> None:
    reached = anyio.Event()

    async def stubborn(value: Any, next_: Next[Any, Any]) -> Any:
        if not reached.is_set():
            reached.set()
            try:
                await anyio.sleep_forever()
            except BaseException:
                await anyio.sleep_forever()
        return await next_(value)

    def install(ctx: PluginContext) -> None:
        HOOKS[hook](ctx).use(stubborn)

    model = Scripted([*script(), say("again")])
    async with driven(model, tmp_path, tools=[QUICK], plugins=[install, retrying()]) as session:
        key = session.send("go")
        with anyio.fail_after(10):
            await reached.wait()
        await stopped(session, key)


async def test_a_model_that_swallows_the_first_cancel_is_still_stopped(tmp_path: Path) -> None:
    async def stubborn(_: Request, emit: Emit) -> Reply:
        emit(Delta(text="I was"))
        try:
            await anyio.sleep_forever()
        except BaseException:
            await anyio.sleep_forever()
        raise AssertionError

    async with driven(Scripted([stubborn]), tmp_path) as session:
        key = session.send("go")
        await session.until(LlmStream)
        await checkpoint()
        await stopped(session, key)


@pytest.mark.parametrize("hook", [hook for hook in HOOKS if hook.startswith(("agent", "system"))])
async def test_a_layer_that_makes_an_error_of_a_cancel_does_not_change_the_cause(
    tmp_path: Path, hook: str
) -> None:
    gate = Gate()

    async def translate(value: Any, next_: Next[Any, Any]) -> Any:
        try:
            await gate.wait()
        except BaseException as error:
            raise RuntimeError("it was interrupted") from error
        return await next_(value)

    def install(ctx: PluginContext) -> None:
        HOOKS[hook](ctx).use(translate)

    model = Scripted([*script(), say("again")])
    async with driven(model, tmp_path, tools=[QUICK], plugins=[install, retrying()]) as session:
        key = session.send("go")
        await gate.reached.wait()
        await stopped(session, key)


@pytest.mark.parametrize("error", [asyncio.CancelledError, SystemExit])
@pytest.mark.parametrize("hook", ["agent/pre-step", "agent/request", "agent/turn-stopping"])
async def test_a_layer_that_cancels_itself_or_wants_out_ends_the_turn_and_not_the_session(
    tmp_path: Path, hook: str, error: type[BaseException]
) -> None:
    thrown = False

    async def throw(value: Any, next_: Next[Any, Any]) -> Any:
        nonlocal thrown
        if not thrown:
            thrown = True
            raise error
        return await next_(value)

    def install(ctx: PluginContext) -> None:
        HOOKS[hook](ctx).use(throw)

    model = Scripted([say("1"), say("2")])
    async with driven(model, tmp_path, plugins=[install]) as session:
        with anyio.fail_after(10):
            first = await session.say("one")
            second = await session.say("two")
    assert isinstance(first, Ended)
    assert first.end.kind == "error"
    assert first.end.failure is not None
    assert error.__name__ in first.end.failure.message
    assert isinstance(second, Ended)
    assert second.end.kind == "completed"


async def test_a_failure_that_cannot_say_what_it_is_ends_the_turn_like_any_other(
    tmp_path: Path,
) -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    async def throw(_: PreStep, _next: Next[PreStep, Decision]) -> Decision:
        raise Odd

    def install(ctx: PluginContext) -> None:
        ctx.hooks.pre_step.use(throw)

    async with driven(Scripted([]), tmp_path, plugins=[install]) as session:
        ended = await session.say("go")
    assert isinstance(ended, Ended)
    assert ended.end.kind == "error"


# A layer that never returns


def notes_of(session: Driven) -> tuple[list[str], anyio.Event]:
    """What the person is told from now on, and what is set when they are."""
    texts: list[str] = []
    told = anyio.Event()

    def hear(type_: str, data: JsonObject) -> None:
        if type_ == "status":
            texts.append(data["text"])
            told.set()

    session.opened.session.observe_notes(session.scope, hear)
    return texts, told


@pytest.mark.parametrize("hook", HOOKS)
async def test_a_layer_that_never_returns_is_named_and_the_turn_can_be_cancelled(
    tmp_path: Path, hook: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    gate = Gate()

    async def outer(value: Any, next_: Next[Any, Any]) -> Any:
        return await next_(value)  # it waits for the one below, and is not to blame

    def harmless(ctx: PluginContext) -> None:
        HOOKS[hook](ctx).use(outer)

    settings = Settings(model=MODEL, layer_limit=0.01)
    plugins: list[Install | tuple[str, Install]] = [
        ("harmless", harmless), ("sleepy", gate.in_front_of(HOOKS[hook])), retrying(),
    ]  # fmt: skip
    model = Scripted([*script(), say("again")])
    async with driven(
        model, tmp_path, tools=[QUICK], plugins=plugins, settings=settings
    ) as session:
        texts, told = notes_of(session)
        key = session.send("go")
        with anyio.fail_after(10):
            await told.wait()
        assert texts == [
            f"plugin sleepy has held up {hook} for 0.01 seconds; cancel the turn to stop it"
        ]
        assert texts[0] in caplog.text
        await stopped(session, key)


async def test_a_slow_body_and_a_slow_person_are_nobodys_fault(tmp_path: Path) -> None:
    finish = anyio.Event()

    async def slow(_arguments: dict[str, Any], _: Go) -> str:
        await finish.wait()
        return "ok"

    async def ask_first(execution: Execution, next_: Next[Execution, PreExecute]) -> PreExecute:
        question = await session.opened.agent.approvals.ask(execution, "a layer asks")
        return Allow() if question.allowed else await next_(execution)

    def install(ctx: PluginContext) -> None:
        ctx.hooks.pre_execute.use(ask_first)

    settings = Settings(model=MODEL, layer_limit=0.001)
    model = Scripted([say("", ("1", "slow", {})), say("done")])
    slow_tool = tool("slow", slow, subject=COMMAND)
    async with driven(
        model, tmp_path, tools=[slow_tool], plugins=[install], settings=settings
    ) as session:
        texts, told = notes_of(session)
        key = session.send("go")
        asked = await session.until(ApprovalAsked)
        assert isinstance(asked, ApprovalAsked)
        with anyio.move_on_after(0.03):  # many looks, and nobody is named
            await told.wait()
        session.opened.agent.approvals.decide(asked.approval_id, allow=True, by="test")
        with anyio.move_on_after(0.03):
            await told.wait()
        finish.set()
        await until_ended(session.opened.agent.inbox, key)
    assert texts == []


# What a step is made of


async def test_pre_step_runs_before_each_step_starts_and_its_answer_is_what_is_recorded(
    tmp_path: Path,
) -> None:
    seen: list[str] = []

    async def look(step: PreStep, next_: Next[PreStep, Decision]) -> Decision:
        started = [f for f in session.facts if isinstance(f, StepStart)]
        seen.append(f"turn {step.turn} step {step.step}, after {len(started)} steps")
        return await next_(step)

    def install(ctx: PluginContext) -> None:
        ctx.hooks.pre_step.use(look)

    replies = [CALL, say("one"), say("two")]
    async with driven(Scripted(replies), tmp_path, tools=[QUICK], plugins=[install]) as session:
        await session.say("one")
        await session.say("two")
    assert seen == [
        "turn 1 step 1, after 0 steps",
        "turn 1 step 2, after 1 steps",
        "turn 2 step 1, after 2 steps",
    ]
    steps = [(f.turn, f.step) for f in session.facts if isinstance(f, StepStart)]
    assert steps == [(1, 1), (1, 2), (2, 1)]


async def test_a_layer_that_steers_whenever_a_turn_would_end_meets_the_step_limit(
    tmp_path: Path,
) -> None:
    counter = itertools.count(1)

    async def never_enough(stopping: TurnStopping, next_: Next[TurnStopping, None]) -> None:
        ctx_of[0].session.inject(f"more, {next(counter)}")
        await next_(stopping)

    def install(ctx: PluginContext) -> None:
        ctx_of.append(ctx)
        ctx.hooks.turn_stopping.use(never_enough)

    ctx_of: list[PluginContext] = []
    settings = Settings(model=MODEL, max_steps=3)
    replies = [say(str(n)) for n in range(3)]
    async with driven(Scripted(replies), tmp_path, plugins=[install], settings=settings) as session:
        await session.say("go")
    assert transcript(session.entries) == snapshot("""\
user      go
assistant 0
plugin    more, 1
assistant 1
plugin    more, 2
assistant 2
end       stopped (max-steps)
""")


@pytest.mark.parametrize("error", [ValueError, asyncio.CancelledError, SystemExit])
async def test_a_fault_in_one_session_does_not_touch_another(
    tmp_path: Path, error: type[BaseException]
) -> None:
    async def by_prompt(request: Request, emit: Emit) -> Reply:
        if request.messages[0].content == "break":  # type: ignore[union-attr]
            raise error
        emit(Delta(text="fi"))
        await other_done.wait()
        return Reply(content="fine", finish="stop")

    other_done = anyio.Event()
    async with driven(Scripted([by_prompt, by_prompt]), tmp_path) as session:
        other = await session.sessions.open()
        key = session.send("work")
        other.driver.send("k", "break")
        broken = await until_ended(other.agent.inbox, "k")
        other_done.set()
        fine = await until_ended(session.opened.agent.inbox, key)
    assert isinstance(broken, Ended)
    assert broken.end.kind == "error"
    assert isinstance(fine, Ended)
    assert fine.end.kind == "completed"


async def test_no_model_is_asked_and_no_body_runs_before_its_prefix_is_durable(
    tmp_path: Path,
) -> None:
    durable: list[int] = []

    async def sync(_descriptor: int) -> None:
        count = len(facts_of())
        await checkpoint()
        durable.append(count)

    def facts_of() -> list[Any]:  # Any: facts
        return session_of[0].facts if session_of else []

    def require(kind: type[LlmStream] | type[ToolStart]) -> None:
        last = max(n for n, fact in enumerate(facts_of()) if isinstance(fact, kind))
        assert durable[-1] > last
        checked.append(kind)

    async def asked(request: Request, emit: Emit) -> Reply:
        require(LlmStream)
        return next(replies)

    async def look(_arguments: dict[str, Any], _: Go) -> str:
        require(ToolStart)
        return "ok"

    session_of: list[Driven] = []
    checked: list[type] = []
    replies = iter([say("", ("1", "look", {}), ("2", "look", {})), say("done")])
    model, tools = Scripted([asked, asked]), [tool("look", look, mode="exclusive")]
    async with driven(model, tmp_path, tools=tools, sync=sync) as session:
        session_of.append(session)
        ended = await session.say("go")
    assert isinstance(ended, Ended)
    assert ended.end.kind == "completed"
    assert checked == [LlmStream, ToolStart, ToolStart, LlmStream]
