"""A layer that throws, answers nonsense, or calls `next` oddly: for each hook, what comes of it."""

import asyncio
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from turnbuckle.agent.hooks import (
    Decision,
    Enter,
    PreStep,
    Prompt,
    Reject,
    RequestFailure,
    Retry,
    Section,
    Stop,
)
from turnbuckle.agent.inbox import Ended
from turnbuckle.agent.plugin import Install, PluginContext
from turnbuckle.kernel.waterfall import Next, Stack
from turnbuckle.model.port import Delta, Emit, ModelUnavailable, Reply, Request
from turnbuckle.session.events import (
    ApprovalAsked,
    AssistantMessage,
    Fact,
    LlmFailed,
    LlmStream,
    RequestHeader,
    StepStart,
    ToolCall,
    ToolResult,
    ToolStart,
    TurnEnd,
    UserMessage,
)
from turnbuckle.testing.agents import Driven, driven
from turnbuckle.testing.scripted import Scripted, Step, say
from turnbuckle.testing.tools import COMMAND, tool
from turnbuckle.tools.hooks import (
    Accept,
    Allow,
    Block,
    Deny,
    Enrich,
    Executed,
    Execution,
    PostExecute,
    PreExecute,
    Replace,
)
from turnbuckle.tools.tool import Go, Outcome

Pick = Callable[[PluginContext], Stack[Any, Any]]
"""Which waterfall a layer stands in. Any: they are of every type."""

LOOP: dict[str, Pick] = {
    "system-prompt/assemble": lambda ctx: ctx.hooks.prompt,
    "agent/pre-step": lambda ctx: ctx.hooks.pre_step,
    "agent/request": lambda ctx: ctx.hooks.request,
    "agent/turn-stopping": lambda ctx: ctx.hooks.turn_stopping,
}
CALL: dict[str, Pick] = {
    "tools/pre-execute": lambda ctx: ctx.hooks.pre_execute,
    "tools/execute": lambda ctx: ctx.hooks.execute,
    "tools/post-execute": lambda ctx: ctx.hooks.post_execute,
}


async def quick(_arguments: dict[str, Any], _: Go) -> str:
    return "ok"


QUICK = tool("quick", quick)
MAKE = tool("make", quick, subject=COMMAND)


def layer(pick: Pick, answer: Callable[[Any, Next[Any, Any]], Any]) -> Install:
    async def around(value: Any, next_: Next[Any, Any]) -> Any:
        return await answer(value, next_)

    def install(ctx: PluginContext) -> None:
        pick(ctx).use(around)

    return install


def answering(pick: Pick, answer: object) -> Install:
    async def give(_: Any, _next: Next[Any, Any]) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return layer(pick, give)


async def ran(
    folder: Path, replies: list[Step], *plugins: Install, allow: bool | None = None
) -> Driven:
    """One turn of `go`, and one of `again`, which shows that the session lives."""
    tools = [QUICK, MAKE]
    async with driven(
        Scripted([*replies, say("again")]), folder, tools=tools, plugins=plugins
    ) as session:
        if allow is not None:
            session.answer_approvals(allow=allow)
        with anyio.fail_after(10):
            assert isinstance(await session.say("go"), Ended)
            assert isinstance(await session.say("again"), Ended)
    return session


def of(session: Driven, kind: type[Fact]) -> list[Any]:
    return [fact for fact in session.facts if isinstance(fact, kind)]


# A listener that throws


@pytest.mark.parametrize("hook", LOOP)
async def test_a_layer_of_the_loop_that_throws_ends_the_turn_as_an_error_that_names_it(
    tmp_path: Path, hook: str
) -> None:
    broken = answering(LOOP[hook], RuntimeError("boom"))
    session = await ran(tmp_path, [say("one")], broken)
    ends = of(session, TurnEnd)
    assert [end.end.kind for end in ends] == ["error", "error"]
    assert ends[0].end.failure.message == (
        f"RuntimeError: boom, raised by plugin plugin 0 in {hook}"
    )


@pytest.mark.parametrize("hook", CALL)
async def test_a_layer_of_a_call_that_throws_makes_it_an_error_and_the_turn_goes_on(
    tmp_path: Path, hook: str
) -> None:
    broken = answering(CALL[hook], RuntimeError("boom"))
    replies: list[Step] = [say("", ("1", "quick", {}), ("2", "quick", {})), say("done")]
    session = await ran(tmp_path, replies, broken)
    results = of(session, ToolResult)
    assert [(r.call_id, r.code, r.is_error) for r in results] == [
        ("1", "TOOL_FAILED", True), ("2", "TOOL_FAILED", True),
    ]  # fmt: skip
    for result in results:
        assert result.content.startswith("<tool error: ")
        assert f"RuntimeError: boom, raised by plugin plugin 0 in {hook}" in result.content
    assert [end.end.kind for end in of(session, TurnEnd)] == ["completed", "completed"]


async def test_a_guard_that_throws_makes_the_call_an_error_and_runs_nothing(
    tmp_path: Path,
) -> None:
    def throw(_: Execution) -> Deny | None:
        raise RuntimeError("boom")

    def install(ctx: PluginContext) -> None:
        ctx.hooks.guard(throw)

    session = await ran(tmp_path, [say("", ("1", "quick", {})), say("done")], install)
    assert [result.code for result in of(session, ToolResult)] == ["TOOL_FAILED"]
    assert of(session, ToolStart) == []


async def test_a_layer_of_request_error_that_throws_lets_the_models_failure_stand(
    tmp_path: Path,
) -> None:
    async def breaks(_: Request, emit: Emit) -> Reply:
        emit(Delta(text="half"))
        raise ModelUnavailable("server", "503")

    broken = answering(lambda ctx: ctx.hooks.request_error, RuntimeError("boom"))
    session = await ran(tmp_path, [breaks], broken)
    end = of(session, TurnEnd)[0].end
    assert (end.kind, end.failure.kind, end.failure.message) == ("error", "server", "503")
    assert [failed.failure.message for failed in of(session, LlmFailed)] == ["503"]
    kept = of(session, AssistantMessage)[0]
    assert (kept.content, kept.interrupted, kept.finish) == ("half", True, "error")


@pytest.mark.parametrize("kind", [UserMessage, StepStart, LlmStream, ToolCall, ToolResult, TurnEnd])
async def test_an_observer_that_throws_is_contained(tmp_path: Path, kind: type[Fact]) -> None:
    def throw(_: Fact) -> None:
        raise RuntimeError("boom")

    def install(ctx: PluginContext) -> None:
        ctx.on(kind, throw)

    session = await ran(tmp_path, [say("", ("1", "quick", {})), say("done")], install)
    assert [end.end.kind for end in of(session, TurnEnd)] == ["completed", "completed"]
    assert [result.content for result in of(session, ToolResult)] == ["ok"]


# Nonsense


@pytest.mark.parametrize("answer", [None, True, "enter", Enter, Allow()])
@pytest.mark.parametrize("hook", ["system-prompt/assemble", "agent/pre-step", "agent/request"])
async def test_nonsense_from_a_layer_of_the_loop_ends_the_turn_as_an_error(
    tmp_path: Path, hook: str, answer: object
) -> None:
    session = await ran(tmp_path, [], answering(LOOP[hook], answer))
    end = of(session, TurnEnd)[0].end
    assert end.kind == "error"
    assert f"plugin 0 in {hook}" in end.failure.message
    assert of(session, LlmStream) == []


@pytest.mark.parametrize("reason", [None, 5, b"bytes"])
@pytest.mark.parametrize("kind", [Stop, Reject])
async def test_a_reason_that_is_no_text_ends_the_turn_as_an_error_that_names_who_gave_it(
    tmp_path: Path, kind: type, reason: object
) -> None:
    async def refuse(_: PreStep, _next: Next[PreStep, Decision]) -> Decision:
        decision: Decision = kind(reason)
        return decision

    def install(ctx: PluginContext) -> None:
        ctx.hooks.pre_step.use(refuse)

    session = await ran(tmp_path, [], install)
    ends = [end.end for end in of(session, TurnEnd)]
    assert [end.kind for end in ends] == ["error", "error"]
    assert "plugin 0 in agent/pre-step" in ends[0].failure.message


@pytest.mark.parametrize("content", [None, 5])
async def test_a_message_that_could_not_be_read_back_ends_the_turn_and_harms_no_log(
    tmp_path: Path, content: Any
) -> None:
    wrong = Enter((UserMessage(turn=1, step=1, content=content),))
    session = await ran(tmp_path, [], answering(LOOP["agent/pre-step"], wrong))
    assert [end.end.kind for end in of(session, TurnEnd)] == ["error", "error"]
    async with driven(Scripted([]), tmp_path, session_id=session.opened.session.id) as again:
        assert again.opened.session.damage is None
        assert len(again.facts) == len(session.facts)


async def test_a_failure_of_no_kind_is_an_end_like_any_other(tmp_path: Path) -> None:
    odd = ModelUnavailable("whatever", "no")  # type: ignore[arg-type]
    for number, plugins in enumerate([[], [answering(LOOP["agent/request"], odd)]]):
        session = await ran(tmp_path / str(number), [odd, odd], *plugins)
        ends = [end.end for end in of(session, TurnEnd)]
        assert [(end.kind, end.failure.kind) for end in ends] == [("error", "hook")] * 2


@pytest.mark.parametrize("answer", [None, True, 1, "allow", Allow, Accept(), Stop("x"), [Allow()]])
async def test_nonsense_from_a_policy_never_allows(tmp_path: Path, answer: object) -> None:
    policy = answering(CALL["tools/pre-execute"], answer)
    calls = say("", ("1", "make", {}), ("2", "quick", {}))
    session = await ran(tmp_path, [calls, say("done")], policy, allow=True)
    assert of(session, ToolStart) == []
    assert [result.code for result in of(session, ToolResult)] == ["TOOL_FAILED"] * 2


@pytest.mark.parametrize("answer", [True, False, 0, "", "no", Allow(), Allow])
async def test_nonsense_from_a_guard_denies(tmp_path: Path, answer: Any) -> None:
    def guard(_: Execution) -> Deny | None:
        return answer  # type: ignore[no-any-return]

    def install(ctx: PluginContext) -> None:
        ctx.hooks.guard(guard)

    session = await ran(tmp_path, [say("", ("1", "quick", {})), say("done")], install)
    assert of(session, ToolStart) == []
    assert [result.code for result in of(session, ToolResult)] == ["DENIED"]


async def test_no_layer_and_no_person_can_allow_what_a_guard_denies(tmp_path: Path) -> None:
    def guard(_: Execution) -> Deny | None:
        return Deny("never")

    def install(ctx: PluginContext) -> None:
        ctx.hooks.guard(guard)

    allow = answering(CALL["tools/pre-execute"], Allow())
    calls = say("", ("1", "make", {}), ("2", "quick", {}))
    session = await ran(tmp_path, [calls, say("done")], install, allow, allow=True)
    contents = [result.content for result in of(session, ToolResult)]
    assert contents == ["<tool error: never>"] * 2


async def test_a_guard_denies_before_anybody_is_asked(tmp_path: Path) -> None:
    def guard(_: Execution) -> Deny | None:
        return Deny("never")

    def install(ctx: PluginContext) -> None:
        ctx.hooks.guard(guard)

    session = await ran(tmp_path, [say("", ("1", "make", {})), say("done")], install, allow=True)
    assert of(session, ApprovalAsked) == []
    assert [result.code for result in of(session, ToolResult)] == ["DENIED"]


@pytest.mark.parametrize("error", [SystemExit(1), asyncio.CancelledError()])
async def test_a_judge_that_wants_out_or_cancels_itself_makes_the_call_an_error(
    tmp_path: Path, error: BaseException
) -> None:
    async def out(_: Executed, __: Next[Executed, PostExecute]) -> PostExecute:
        raise error

    def install(ctx: PluginContext) -> None:
        ctx.hooks.post_execute.use(out)

    calls = say("", ("1", "quick", {}), ("2", "quick", {}))
    session = await ran(tmp_path, [calls, say("done")], install)
    assert [result.code for result in of(session, ToolResult)] == ["TOOL_FAILED"] * 2
    assert [end.end.kind for end in of(session, TurnEnd)] == ["completed", "completed"]


@pytest.mark.parametrize("answer", [None, True, "ok", Replace, Allow(), Outcome(content="x")])
async def test_nonsense_from_post_execute_makes_the_call_an_error(
    tmp_path: Path, answer: object
) -> None:
    judge = answering(CALL["tools/post-execute"], answer)
    session = await ran(tmp_path, [say("", ("1", "quick", {})), say("done")], judge)
    assert [result.code for result in of(session, ToolResult)] == ["TOOL_FAILED"]
    assert [end.end.kind for end in of(session, TurnEnd)] == ["completed", "completed"]


@pytest.mark.parametrize(
    "answer",
    [Replace(None), Replace(b"x"), Enrich("text"), Enrich((1,)), Enrich(None)],  # type: ignore[arg-type]
)
async def test_a_decision_that_holds_nonsense_makes_the_call_an_error(
    tmp_path: Path, answer: object
) -> None:
    judge = answering(CALL["tools/post-execute"], answer)
    session = await ran(tmp_path, [say("", ("1", "quick", {})), say("done")], judge)
    assert [result.code for result in of(session, ToolResult)] == ["TOOL_FAILED"]
    assert [end.end.kind for end in of(session, TurnEnd)] == ["completed", "completed"]


@pytest.mark.parametrize(
    "answer",
    [True, "again", Retry, Retry(math.nan), Retry(math.inf), Retry(1e300), Retry("1")],  # type: ignore[arg-type]
)
async def test_nonsense_from_request_error_lets_the_models_failure_stand(
    tmp_path: Path, answer: object
) -> None:
    wrong = answering(lambda ctx: ctx.hooks.request_error, answer)
    session = await ran(tmp_path, [ModelUnavailable("server", "503")], wrong)
    end = of(session, TurnEnd)[0].end
    assert (end.kind, end.failure.kind) == ("error", "server")


@pytest.mark.parametrize("error", [SystemExit(1), asyncio.CancelledError()])
async def test_a_layer_of_request_error_that_wants_out_lets_the_models_failure_stand(
    tmp_path: Path, error: BaseException
) -> None:
    async def out(_: RequestFailure, __: Next[RequestFailure, Retry | None]) -> Retry | None:
        raise error

    def install(ctx: PluginContext) -> None:
        ctx.hooks.request_error.use(out)

    session = await ran(tmp_path, [ModelUnavailable("server", "503")], install)
    end = of(session, TurnEnd)[0].end
    assert (end.kind, end.failure.kind) == ("error", "server")


async def test_a_negative_wait_is_none(tmp_path: Path) -> None:
    at_once = answering(lambda ctx: ctx.hooks.request_error, Retry(-5))
    session = await ran(tmp_path, [ModelUnavailable("server", "503"), say("ok")], at_once)
    assert [end.end.kind for end in of(session, TurnEnd)] == ["completed", "completed"]


# Next


async def twice(value: Any, next_: Next[Any, Any]) -> Any:
    await next_(value)
    return await next_(value)


async def at_once(value: Any, next_: Next[Any, Any]) -> Any:
    answers: list[Any] = []

    async def ask() -> None:
        answers.append(await next_(value))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        tasks.start_soon(ask)
    return answers[-1]


@pytest.mark.parametrize("hook", [*LOOP, *CALL])
@pytest.mark.parametrize("around", [twice, at_once])
async def test_next_may_be_called_twice_one_after_the_other_or_at_once(
    tmp_path: Path, hook: str, around: Any
) -> None:
    pick = (LOOP | CALL)[hook]
    replies: list[Step] = [say("", ("1", "quick", {})), say("done")]
    session = await ran(tmp_path, replies, layer(pick, around))
    assert [end.end.kind for end in of(session, TurnEnd)] == ["completed", "completed"]
    assert [result.content for result in of(session, ToolResult)] == ["ok"]
    starts = [start.attempt for start in of(session, ToolStart)]
    assert starts == ([1, 2] if hook == "tools/execute" else [1])


async def test_a_layer_that_never_calls_next_decides_alone(tmp_path: Path) -> None:
    async def never(_: PreStep, _next: Next[PreStep, Decision]) -> Decision:
        raise AssertionError("the layer above did not ask")

    stop = answering(LOOP["agent/pre-step"], Stop("enough"))
    session = await ran(tmp_path, [], stop, layer(LOOP["agent/pre-step"], never))
    assert [end.end.reason for end in of(session, TurnEnd)] == ["enough", "enough"]


# What a layer's answer does


async def test_the_prompt_is_what_its_layers_make_of_it_and_can_always_be_written_down(
    tmp_path: Path,
) -> None:
    async def add(prompt: Prompt, next_: Next[Prompt, Prompt]) -> Prompt:
        made = await next_(prompt)
        odd = Section(name="odd", text="{{who}} in \ud800 {{what}}")
        return Prompt(sections=(*made.sections, odd), variables={"who": "you"})

    session = await ran(tmp_path, [say("ok")], layer(LOOP["system-prompt/assemble"], add))
    assert [header.system for header in of(session, RequestHeader)] == [
        "## odd\n\nyou in � {{what}}"
    ]


@pytest.mark.parametrize(
    ("decision", "content", "code"),
    [
        (Accept(), "ok", None),
        (Replace("kind words"), "kind words", None),
        (Enrich(("by the way",)), "ok", None),
        (Block("withheld"), "<tool error: withheld>", "DENIED"),
    ],
)
async def test_post_execute_accepts_replaces_enriches_and_blocks(
    tmp_path: Path, decision: PostExecute, content: str, code: str | None
) -> None:
    judge = answering(CALL["tools/post-execute"], decision)
    session = await ran(tmp_path, [say("", ("1", "quick", {})), say("done")], judge)
    assert [(r.content, r.code) for r in of(session, ToolResult)] == [(content, code)]
    contexts = [m.content for m in of(session, UserMessage) if m.source == "context"]
    assert contexts == (["by the way"] if isinstance(decision, Enrich) else [])


async def test_a_failed_attempt_tells_the_layers_what_failed(tmp_path: Path) -> None:
    seen: list[RequestFailure] = []

    async def look(
        failure: RequestFailure, next_: Next[RequestFailure, Retry | None]
    ) -> Retry | None:
        seen.append(failure)
        await next_(failure)
        return Retry(0)

    replies: list[Step] = [
        ModelUnavailable("server", "503", provider="p", status=503),
        ModelUnavailable("rate-limit", "slow down", retry_after=2.0),
        say("ok"),
    ]
    session = await ran(tmp_path, replies, layer(lambda ctx: ctx.hooks.request_error, look))
    told = [(f.attempt, f.failure.attempt, f.failure.kind, f.failure.status) for f in seen]
    assert told == [(1, 1, "server", 503), (2, 2, "rate-limit", None)]
    assert seen[1].failure.retry_after == 2.0
    assert [stream.attempt for stream in of(session, LlmStream)] == [1, 2, 3, 1]


async def test_each_attempt_runs_the_request_layers_again(tmp_path: Path) -> None:
    attempts: list[int] = []

    async def note(request: Request, next_: Next[Request, Request]) -> Request:
        attempts.append(len(request.messages))
        return await next_(request)

    again = answering(lambda ctx: ctx.hooks.request_error, Retry(0))
    replies: list[Step] = [ModelUnavailable("server", "503"), say("ok")]
    await ran(tmp_path, replies, layer(LOOP["agent/request"], note), again)
    assert attempts == [1, 1, 3]


async def test_a_layer_may_pass_a_stricter_call_on_but_not_another_one(tmp_path: Path) -> None:
    from dataclasses import replace

    async def other(_arguments: dict[str, Any], _: Go) -> str:
        raise AssertionError("it was never approved")

    async def swap(execution: Execution, next_: Next[Execution, Outcome]) -> Outcome:
        make = tool("other", other)
        # Any workspace will do: the tool does not look at it.
        prepared = await make.prepare(make.parameters(), None)  # type: ignore[arg-type]
        return await next_(replace(execution, prepared=prepared))

    session = await ran(
        tmp_path, [say("", ("1", "quick", {})), say("done")], layer(CALL["tools/execute"], swap)
    )
    assert of(session, ToolStart) == []
    assert [result.code for result in of(session, ToolResult)] == ["TOOL_FAILED"]


async def test_a_policy_may_ask_about_what_would_be_allowed(tmp_path: Path) -> None:
    from turnbuckle.tools.hooks import Ask

    async def careful(execution: Execution, next_: Next[Execution, PreExecute]) -> PreExecute:
        decision = await next_(execution)
        return Ask("I am careful") if isinstance(decision, Allow) else decision

    policy = layer(CALL["tools/pre-execute"], careful)
    session = await ran(tmp_path, [say("", ("1", "quick", {})), say("done")], policy, allow=False)
    assert [result.code for result in of(session, ToolResult)] == ["DENIED"]


async def test_a_judge_sees_each_call_with_its_outcome_in_the_models_order(
    tmp_path: Path,
) -> None:
    seen: list[str] = []

    async def look(executed: Executed, next_: Next[Executed, PostExecute]) -> PostExecute:
        seen.append(f"{executed.call.call_id} {executed.outcome.code}")
        return await next_(executed)

    calls = say("", ("1", "make", {}), ("2", "quick", {}), ("3", "gone", {}), ("4", "quick", "["))
    judge = layer(CALL["tools/post-execute"], look)
    await ran(tmp_path, [calls, say("done")], judge, allow=False)
    assert seen == ["1 DENIED", "2 None", "3 UNKNOWN_TOOL", "4 INVALID_ARGS"]
