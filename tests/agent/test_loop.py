"""The loop, as transcripts: data in, what the model and the person see out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from inline_snapshot import snapshot

from turnbuckle.agent.agent import Settings
from turnbuckle.agent.hooks import Decision, Enter, PreStep, Reject, RequestFailure, Retry, Stop
from turnbuckle.agent.inbox import Ended, until_ended
from turnbuckle.agent.plugin import Install, PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.model.port import Delta, Emit, ModelRefused, ModelUnavailable, Reply, Request
from turnbuckle.session.events import (
    AssistantChunk,
    AssistantMessage,
    LlmStream,
    RequestHeader,
    ToolCall,
    ToolStart,
)
from turnbuckle.session.parts import Usage
from turnbuckle.session.rebuild import verify
from turnbuckle.session.store import read_lines
from turnbuckle.testing.agents import MODEL, Driven, driven
from turnbuckle.testing.scripted import Scripted, Step, say
from turnbuckle.testing.tools import COMMAND, tool
from turnbuckle.testing.transcript import transcript
from turnbuckle.tools.hooks import (
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
from turnbuckle.tools.tool import Go, Outcome, Tool, ToolError


async def read(arguments: dict[str, Any], _: Go) -> str:
    return f"<{arguments['path']}>"


READ = tool("read", read)
MAKE = tool("make", read, subject=COMMAND, mode="exclusive")


async def check(
    folder: Path,
    prompts: str | list[str],
    replies: list[Step],
    expected: str,
    *,
    tools: Sequence[Tool[Any]] = (READ, MAKE),
    plugins: Sequence[Install] = (),
    allow: bool | None = None,
    settings: Settings | None = None,
) -> Driven:
    """The one place that knows how a turn is driven; every request must rebuild from the file."""
    async with driven(
        Scripted(replies), folder, tools=tools, plugins=plugins, settings=settings
    ) as session:
        if allow is not None:
            session.answer_approvals(allow=allow)
        for prompt in [prompts] if isinstance(prompts, str) else prompts:
            await session.say(prompt)
    assert transcript(session.entries) == expected
    assert_rebuilds(session)
    return session


def assert_rebuilds(session: Driven) -> None:
    store = session.opened.session.store
    assert store is not None
    lines, torn = read_lines(store.path)
    assert torn == b""
    assert len(lines) == len(session.entries)
    requests = [fact for fact in session.facts if isinstance(fact, LlmStream)]
    assert [same for _, same in verify(iter(lines))] == [True] * len(requests)


async def test_a_turn_ends_when_the_model_stops_calling_tools(tmp_path: Path) -> None:
    await check(
        tmp_path,
        "fix it",
        [say("looking", ("1", "read", {"path": "a.py"})), say("done")],
        snapshot("""\
user      fix it
assistant looking
  call    1 read(path='a.py')
  result  1 <a.py>
assistant done
end       completed
"""),
    )


async def test_each_prompt_is_a_turn_and_the_history_goes_on(tmp_path: Path) -> None:
    session = await check(
        tmp_path,
        ["one", "two"],
        [say("1"), say("2")],
        snapshot("""\
user      one
assistant 1
end       completed
user      two
assistant 2
end       completed
"""),
    )
    headers = [fact for fact in session.facts if isinstance(fact, RequestHeader)]
    assert [header.why for header in headers] == ["initial"]


async def test_calls_run_beside_one_another_and_results_keep_the_models_order(
    tmp_path: Path,
) -> None:
    second = anyio.Event()

    async def slow(arguments: dict[str, Any], _: Go) -> str:
        if arguments["n"] == 1:
            await second.wait()
        else:
            second.set()
        return str(arguments["n"])

    await check(
        tmp_path,
        "go",
        [say("", ("a", "slow", {"n": 1}), ("b", "slow", {"n": 2})), say("done")],
        snapshot("""\
user      go
  call    a slow(n=1)
  call    b slow(n=2)
  result  a 1
  result  b 2
assistant done
end       completed
"""),
        tools=[tool("slow", slow)],
    )


async def test_an_approved_command_runs_and_a_rejected_one_does_not(tmp_path: Path) -> None:
    replies: list[Step] = [say("", ("1", "make", {"path": "x"})), say("done")]
    yes = await check(
        tmp_path / "yes",
        "go",
        replies,
        snapshot("""\
user      go
  call    1 make(path='x')
  asked   1 command: commands are asked about first
  decided allowed by test
  result  1 <x>
assistant done
end       completed
"""),
        allow=True,
    )
    no = await check(
        tmp_path / "no",
        "go",
        replies,
        snapshot("""\
user      go
  call    1 make(path='x')
  asked   1 command: commands are asked about first
  decided rejected by test
  result  1 DENIED <tool error: the person said no>
assistant done
end       completed
"""),
        allow=False,
    )
    assert [type(f) for f in yes.facts].count(ToolStart) == 1
    assert [type(f) for f in no.facts].count(ToolStart) == 0


async def test_every_failure_of_a_call_is_a_result_and_the_turn_goes_on(tmp_path: Path) -> None:
    async def throw(_arguments: dict[str, Any], _: Go) -> str:
        raise ValueError("boom")

    async def unserialisable(_arguments: dict[str, Any], _: Go) -> Outcome:
        return Outcome(content="x", meta={"bad": float("nan")})

    async def surrogate(_arguments: dict[str, Any], _: Go) -> str:
        return "a\ud800b"

    await check(
        tmp_path,
        "go",
        [
            say(
                "",
                ("1", "throw", {}),
                ("2", "reed", {}),
                ("3", "read", "{"),
                ("4", "read", "[]"),
                ("5", "gone", {}),
                ("6", "unserialisable", {}),
                ("7", "surrogate", ""),
            ),
            say("done"),
        ],
        snapshot("""\
user      go
  call    1 throw()
  result  1 TOOL_FAILED <tool error: ValueError: boom>
  call    2 reed()
  result  2 UNKNOWN_TOOL <tool error: there is no tool named 'reed'; did you mean read?>
  call    3 read({)
  call    4 read([])
  call    5 gone()
  call    6 unserialisable()
  call    7 surrogate()
  result  3 INVALID_ARGS <tool error: the arguments are not JSON: unexpected end of data: line 1 column 2 (char 1)>
  result  4 INVALID_ARGS <tool error: the arguments must be a JSON object>
  result  5 NOT_FOUND <tool error: no such file>
  result  6 TOOL_FAILED <tool error: the result cannot be written down: nan is not JSON>
  result  7 a�b
assistant done
end       completed
"""),
        tools=[
            READ,
            tool("throw", throw),
            tool("gone", read, subject=ToolError("NOT_FOUND", "no such file")),
            tool("unserialisable", unserialisable),
            tool("surrogate", surrogate),
        ],
    )


async def test_ids_that_are_empty_or_used_are_replaced_and_a_doubled_call_runs_once(
    tmp_path: Path,
) -> None:
    twice = ("1", "read", {"path": "a"})
    replies: list[Step] = [
        say("", twice, twice, ("1", "read", {"path": "b"}), ("", "read", {"path": "c"})),
        say("", twice),
        say("done"),
    ]
    async with driven(Scripted(replies), tmp_path, tools=[READ]) as session:
        await session.say("go")
    calls = [fact for fact in session.facts if isinstance(fact, ToolCall)]
    assert [call.arguments for call in calls] == [
        '{"path": "a"}', '{"path": "b"}', '{"path": "c"}', '{"path": "a"}',
    ]  # fmt: skip
    assert len({call.call_id for call in calls}) == 4
    assert_rebuilds(session)


async def test_a_cut_answer_runs_no_tool(tmp_path: Path) -> None:
    call = ("1", "read", {"path": "a"})
    await check(
        tmp_path / "length",
        "go",
        [say("half", call, finish="length")],
        snapshot("""\
user      go
assistant half
end       max-tokens
"""),
    )
    await check(
        tmp_path / "cut",
        "go",
        [say("half", call, finish="truncated")],
        snapshot("""\
user      go
assistant half
end       stopped (the answer broke off without an end)
"""),
    )


async def test_a_model_that_refuses_ends_the_turn_with_its_words_and_the_next_one_works(
    tmp_path: Path,
) -> None:
    refusal = ModelRefused("auth", "the key was not accepted", provider="x", status=401)
    await check(
        tmp_path,
        ["one", "two"],
        [refusal, say("2")],
        snapshot("""\
user      one
failed    auth: the key was not accepted
end       error (auth: the key was not accepted)
user      two
assistant 2
end       completed
"""),
    )


async def test_what_was_said_before_the_stream_broke_is_kept(tmp_path: Path) -> None:
    async def breaks(_: Request, emit: Emit) -> Reply:
        emit(Delta(text="half an "))
        raise ModelUnavailable("transport", "the connection was reset")

    await check(
        tmp_path,
        ["one", "two"],
        [breaks, say("2")],
        snapshot("""\
user      one
failed    transport: the connection was reset
assistant half an  (interrupted)
end       error (transport: the connection was reset)
user      two
assistant 2
end       completed
"""),
    )


async def test_a_retry_stays_in_the_step_and_discards_what_the_failed_attempt_said(
    tmp_path: Path,
) -> None:
    async def breaks(_: Request, emit: Emit) -> Reply:
        emit(Delta(text="half an "))
        raise ModelUnavailable("server", "503")

    async def again(failure: RequestFailure, _: Next[RequestFailure, Retry | None]) -> Retry | None:
        return Retry(0) if failure.attempt < 3 else None

    def retry(ctx: PluginContext) -> None:
        ctx.hooks.request_error.use(again)

    session = await check(
        tmp_path,
        "go",
        [breaks, breaks, say("whole")],
        snapshot("""\
user      go
failed    server: 503
failed    server: 503
assistant whole
end       completed
"""),
        plugins=[retry],
    )
    streams = [fact for fact in session.facts if isinstance(fact, LlmStream)]
    assert [(s.step, s.attempt) for s in streams] == [(1, 1), (1, 2), (1, 3)]


async def test_an_unknown_model_is_named(tmp_path: Path) -> None:
    await check(
        tmp_path,
        "go",
        [],
        snapshot("""\
user      go
end       error (model: there is no model named 'gone'; configured: scripted)
"""),
        settings=Settings(model="gone"),
    )


async def test_the_step_limit_stops_a_turn(tmp_path: Path) -> None:
    await check(
        tmp_path,
        "go",
        [say("", ("1", "read", {"path": "a"})), say("never asked")],
        snapshot("""\
user      go
  call    1 read(path='a')
  result  1 <a>
end       stopped (max-steps)
"""),
        tools=[READ],
        settings=Settings(model=MODEL, max_steps=1),
    )


def deciding(decision: Decision) -> Install:
    async def decide(_: PreStep, _next: Next[PreStep, Decision]) -> Decision:
        return decision

    def install(ctx: PluginContext) -> None:
        ctx.hooks.pre_step.use(decide)

    return install


async def test_pre_step_may_reject_stop_or_rewrite_the_input(tmp_path: Path) -> None:
    await check(
        tmp_path / "r",
        "go",
        [],
        snapshot("""\
dropped   p1: refused
end       blocked (no such words)
"""),
        plugins=[deciding(Reject("no such words"))],
    )
    await check(
        tmp_path / "s",
        "go",
        [],
        snapshot("""\
dropped   p1: refused
end       stopped (token budget)
"""),
        plugins=[deciding(Stop("token budget"))],
    )

    async def redact(step: PreStep, next_: Next[PreStep, Decision]) -> Decision:
        decision = await next_(step)
        return Enter(()) if isinstance(decision, Enter) and step.step > 1 else decision

    def install(ctx: PluginContext) -> None:
        ctx.hooks.pre_step.use(redact)

    await check(
        tmp_path / "w",
        "go",
        [say("hello")],
        snapshot("""\
user      go
assistant hello
end       completed
"""),
        plugins=[install],
    )


async def test_a_layer_that_throws_ends_the_turn_and_the_next_one_works(tmp_path: Path) -> None:
    thrown = False

    async def throw_once(step: PreStep, next_: Next[PreStep, Decision]) -> Decision:
        nonlocal thrown
        if not thrown:
            thrown = True
            raise RuntimeError("broken plugin")
        return await next_(step)

    def install(ctx: PluginContext) -> None:
        ctx.hooks.pre_step.use(throw_once)

    await check(
        tmp_path,
        ["one", "two"],
        [say("2")],
        snapshot("""\
dropped   p1: error
end       error (hook: RuntimeError: broken plugin, raised by plugin plugin 0 in agent/pre-step)
user      two
assistant 2
end       completed
"""),
        plugins=[install],
    )


async def test_a_rewritten_request_is_in_the_log_and_rebuilds(tmp_path: Path) -> None:
    from dataclasses import replace

    from turnbuckle.session.events import UserMessage

    async def redact(request: Request, next_: Next[Request, Request]) -> Request:
        messages = tuple(
            replace(m, content=m.content.replace("hunter2", "…"))
            if isinstance(m, UserMessage)
            else m
            for m in request.messages
        )
        return await next_(replace(request, messages=messages))

    def install(ctx: PluginContext) -> None:
        ctx.hooks.request.use(redact)

    model = Scripted([say("ok"), say("ok")])
    async with driven(model, tmp_path, plugins=[install]) as session:
        await session.say("my password is hunter2")
        await session.say("and now?")
    assert [m.content for m in model.requests[1].messages if isinstance(m, UserMessage)] == [
        "my password is …", "and now?",
    ]  # fmt: skip
    patches = [fact.patch for fact in session.facts if isinstance(fact, LlmStream)]
    assert [(p.start, p.end) for p in patches if p] == [(0, 1), (0, 1)]
    assert_rebuilds(session)


async def test_policy_layers_allow_and_deny_and_guards_have_the_last_word(tmp_path: Path) -> None:
    async def allow(_: Execution, _next: Next[Execution, PreExecute]) -> PreExecute:
        return Allow()

    def forbid(execution: Execution) -> Deny | None:
        return Deny("never b") if "b" in execution.call.arguments else None

    def install(ctx: PluginContext) -> None:
        ctx.hooks.pre_execute.use(allow)
        ctx.hooks.guard(forbid)

    await check(
        tmp_path,
        "go",
        [say("", ("1", "make", {"path": "a"}), ("2", "make", {"path": "b"})), say("done")],
        snapshot("""\
user      go
  call    1 make(path='a')
  result  1 <a>
  call    2 make(path='b')
  result  2 DENIED <tool error: never b>
assistant done
end       completed
"""),
        plugins=[install],
    )


@pytest.mark.parametrize("broken", [None, "allow", RuntimeError("policy")])
async def test_a_policy_that_answers_nonsense_never_allows(tmp_path: Path, broken: object) -> None:
    async def nonsense(_: Execution, _next: Next[Execution, PreExecute]) -> PreExecute:
        if isinstance(broken, Exception):
            raise broken
        return broken  # type: ignore[return-value]

    def install(ctx: PluginContext) -> None:
        ctx.hooks.pre_execute.use(nonsense)

    replies = [say("", ("1", "make", {"path": "a"})), say("done")]
    async with driven(Scripted(replies), tmp_path, tools=[MAKE], plugins=[install]) as session:
        await session.say("go")
    assert not [fact for fact in session.facts if isinstance(fact, ToolStart)]


async def test_post_execute_replaces_enriches_and_blocks_also_denied_calls(tmp_path: Path) -> None:
    async def judge(executed: Executed, next_: Next[Executed, PostExecute]) -> PostExecute:
        match executed.call.call_id:
            case "1":
                return Replace("replaced")
            case "2":
                return Enrich(("by the way",))
            case "3":
                return Block("withheld")
            case "4":
                return Replace("denied, and said kindly")
            case "5":
                raise RuntimeError("judge")
            case _:
                return await next_(executed)

    def install(ctx: PluginContext) -> None:
        ctx.hooks.post_execute.use(judge)

    calls = [(str(n), "make" if n == 4 else "read", {"path": str(n)}) for n in range(1, 7)]
    await check(
        tmp_path,
        "go",
        [say("", *calls), say("done")],
        snapshot("""\
user      go
  call    1 read(path='1')
  call    2 read(path='2')
  call    3 read(path='3')
  result  1 replaced
  result  2 <2>
  result  3 DENIED <tool error: withheld>
  call    4 make(path='4')
  asked   4 command: commands are asked about first
  decided rejected by test
  result  4 DENIED denied, and said kindly
  call    5 read(path='5')
  call    6 read(path='6')
  result  5 TOOL_FAILED <tool error: a layer of tools/post-execute failed: RuntimeError: judge, raised by plugin plugin 0 in tools/post-execute>
  result  6 <6>
context   by the way
assistant done
end       completed
"""),
        plugins=[install],
        allow=False,
    )


async def test_context_lands_after_all_results_and_never_opens_a_turn(tmp_path: Path) -> None:
    async def inject(arguments: dict[str, Any], _: Go) -> Outcome:
        return Outcome(content="ok", contexts=(f"context of {arguments['n']}",))

    def install(ctx: PluginContext) -> None:
        ctx.session.inject("known beforehand")

    await check(
        tmp_path,
        "go",
        [say("", ("a", "inject", {"n": 1}), ("b", "inject", {"n": 2})), say("done")],
        snapshot("""\
plugin    known beforehand
user      go
  call    a inject(n=1)
  call    b inject(n=2)
  result  a ok
  result  b ok
context   context of 1
context   context of 2
assistant done
end       completed
"""),
        tools=[tool("inject", inject)],
        plugins=[install],
    )


async def test_a_steered_message_enters_at_the_next_step(tmp_path: Path) -> None:
    async def steer(_arguments: dict[str, Any], _: Go) -> str:
        session.opened.driver.send("s", "and be brief", target="step")
        return "ok"

    replies = [say("", ("1", "steer", {})), say("done")]
    async with driven(Scripted(replies), tmp_path, tools=[tool("steer", steer)]) as session:
        await session.say("go")
        end = await until_ended(session.opened.agent.inbox, "s")
    assert isinstance(end, Ended)
    assert end.turn == 1
    assert transcript(session.entries) == snapshot("""\
user      go
  call    1 steer()
  result  1 ok
user      and be brief
assistant done
end       completed
""")


async def test_the_same_key_joins_the_same_turn(tmp_path: Path) -> None:
    model = Scripted([say("once")])
    async with driven(model, tmp_path) as session:
        inbox, driver = session.opened.agent.inbox, session.opened.driver
        assert driver.send("k", "go")
        first = await until_ended(inbox, "k")
        assert not driver.send("k", "go")
        assert await until_ended(inbox, "k") == first
    assert len(model.requests) == 1


async def test_what_is_said_is_a_chunk_at_once_and_the_rest_of_a_burst_is_one_more(
    tmp_path: Path,
) -> None:
    said: list[int] = []

    async def burst(_: Request, emit: Emit) -> Reply:
        emit(Delta(text="a"))
        said.append(len(chunks()))
        for word in ("b", "c", "d"):
            emit(Delta(text=word))
        said.append(len(chunks()))
        for _turn in range(5):
            await anyio.lowlevel.checkpoint()
        said.append(len(chunks()))
        emit(Delta(text="e"))
        emit(Delta(reasoning="why"))
        return Reply(content="abcde", finish="stop")

    def chunks() -> list[AssistantChunk]:
        return [fact for fact in session.facts if isinstance(fact, AssistantChunk)]

    async with driven(Scripted([burst]), tmp_path) as session:
        await session.say("go")
        assert said == [1, 1, 2]
        assert [(c.text, c.reasoning) for c in chunks()] == [
            ("a", None),
            ("bcd", None),
            ("e", None),
            (None, "why"),
        ]


async def test_what_a_model_says_after_its_answer_is_not_heard(tmp_path: Path) -> None:
    late: list[Emit] = []

    async def hasty(_: Request, emit: Emit) -> Reply:
        late.append(emit)
        return Reply(content="done", finish="stop")

    async with driven(Scripted([hasty]), tmp_path) as session:
        await session.say("go")
        before = len(session.facts)
        late[0](Delta(text="more"))
        assert len(session.facts) == before


async def test_a_long_result_is_cut_and_kept_as_a_blob(tmp_path: Path) -> None:
    async def long(_arguments: dict[str, Any], _: Go) -> str:
        return "a" * 50_000 + "é" * 50_000

    replies = [say("", ("1", "long", {})), say("done")]
    async with driven(Scripted(replies), tmp_path, tools=[tool("long", long)]) as session:
        await session.say("go")
        message = session.opened.session.projection.messages[2]
        assert not isinstance(message, AssistantMessage)
        content = message.content  # type: ignore[union-attr]
        digest = content.partition("blob:")[2].partition("]")[0]
        kept = await session.opened.agent.blobs.get(digest)
    assert kept == b"a" * 50_000 + "é".encode() * 50_000
    assert len(content.encode()) < 96 * 1024


async def test_a_header_is_written_only_on_a_change_and_again_after_a_resume(
    tmp_path: Path,
) -> None:
    contexts: list[PluginContext] = []
    model = Scripted([say("1"), say("2"), say("3"), say("4")])
    async with driven(model, tmp_path, plugins=[contexts.append]) as session:
        await session.say("one")
        await session.say("two")
        contexts[0].prompt.section("more", "text")
        await session.say("three")
        session_id = session.opened.session.id
    assert_rebuilds(session)
    async with driven(model, tmp_path, session_id=session_id) as again:
        again.prompts = session.prompts  # a key that is known would join its turn
        await again.say("four")
    headers = [fact for fact in again.facts if isinstance(fact, RequestHeader)]
    assert [header.why for header in headers] == ["initial", "change", "resume"]
    assert_rebuilds(again)


async def test_an_empty_answer_is_logged_with_what_it_cost_and_not_shown_to_the_model(
    tmp_path: Path,
) -> None:
    cost = Usage(input=10, output=0, total=10)
    model = Scripted([say("", usage=cost), say("2")])
    async with driven(model, tmp_path) as session:
        await session.say("one")
        await session.say("two")
    answers = [fact for fact in session.facts if isinstance(fact, AssistantMessage)]
    assert [(a.content, a.usage) for a in answers] == [("", cost), ("2", None)]
    assert [m.content for m in model.requests[1].messages] == ["one", "two"]  # type: ignore[union-attr]


async def test_the_same_call_without_an_id_is_another_call_each_time(tmp_path: Path) -> None:
    nameless = ("", "read", {"path": "a"})
    named = ("1", "read", {"path": "a"})
    model = Scripted([say("", nameless, named, nameless, named), say("done")])
    async with driven(model, tmp_path, tools=[READ]) as session:
        await session.say("go")
    calls = [fact.call_id for fact in session.facts if isinstance(fact, ToolCall)]
    assert len(set(calls)) == len(calls) == 3
