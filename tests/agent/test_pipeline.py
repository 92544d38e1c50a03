"""One step's calls: which overlap, what they wait for, and the one result that each gets."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel, model_validator

from turnbuckle.agent.agent import Settings
from turnbuckle.agent.calls import _ABORTED
from turnbuckle.agent.inbox import Ended, until_ended
from turnbuckle.agent.plugin import Install, PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.session.events import (
    ApprovalAsked,
    Fact,
    PluginFact,
    StepEnd,
    TodoWrite,
    ToolCall,
    ToolResult,
    ToolStart,
    TurnEnd,
)
from turnbuckle.session.parts import TodoItem
from turnbuckle.testing.agents import MODEL, Driven, driven
from turnbuckle.testing.scripted import Scripted, ScriptedCall, say
from turnbuckle.testing.tools import COMMAND, Anything, tool
from turnbuckle.testing.transcript import transcript
from turnbuckle.tools.hooks import Block, Executed, Execution, PostExecute, Replace
from turnbuckle.tools.tool import ExecutionMode, Go, Outcome, Prepared, Tool
from turnbuckle.workspace.port import Workspace


@dataclass
class Stage:
    """Bodies that say when they run, and end when they are let go."""

    running: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    most: int = 0
    changed: anyio.Event = field(default_factory=anyio.Event)
    free: set[str] = field(default_factory=set)

    def _tell(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()

    def let(self, *names: str) -> None:
        self.free |= set(names)
        self._tell()

    async def until_running(self, *names: str) -> None:
        with anyio.fail_after(10):
            while not set(names) <= set(self.running):
                await self.changed.wait()

    async def body(self, arguments: dict[str, Any], _: Go) -> str:
        name = arguments["n"]
        self.running.append(name)
        self.most = max(self.most, len(self.running))
        self._tell()
        try:
            while name not in self.free:
                await self.changed.wait()
        finally:
            self.running.remove(name)
        self.ended.append(name)
        return str(name)


def calls(*named: str) -> list[ScriptedCall]:
    """`tool:id` each."""
    parts = [name.partition(":") for name in named]
    return [(id_, kind, {"n": id_}) for kind, _, id_ in parts]


def of(session: Driven, kind: type[Fact]) -> list[Any]:
    return [fact for fact in session.facts if isinstance(fact, kind)]


async def quick(_arguments: dict[str, Any], _: Go) -> str:
    return "ok"


async def ran(
    folder: Path,
    tools: Sequence[Tool[Any]],
    *named: str,
    plugins: Sequence[Install] = (),
    allow: bool | None = None,
    settings: Settings | None = None,
) -> Driven:
    """One step with these calls, and one more that ends the turn."""
    model = Scripted([say("", *calls(*named)), say("done")])
    async with driven(model, folder, tools=tools, plugins=plugins, settings=settings) as session:
        if allow is not None:
            session.answer_approvals(allow=allow)
        with anyio.fail_after(10):
            assert isinstance(await session.say("go"), Ended)
    return session


def assert_ended(session: Driven, kind: str) -> None:
    """The turn ended so, and every call of it has exactly one result, in the model's order."""
    assert [end.end.kind for end in of(session, TurnEnd)] == [kind]
    owed = [call.call_id for call in of(session, ToolCall)]
    assert [result.call_id for result in of(session, ToolResult)] == owed
    assert len(of(session, StepEnd)) >= 1


def around_execute(layer: Any) -> Install:  # Any: a layer of tools/execute
    def install(ctx: PluginContext) -> None:
        ctx.hooks.execute.use(layer)

    return install


def judging(decide: Any) -> Install:  # Any: a layer of tools/post-execute
    def install(ctx: PluginContext) -> None:
        ctx.hooks.post_execute.use(decide)

    return install


# What overlaps


async def test_parallel_calls_overlap_up_to_the_limit(tmp_path: Path) -> None:
    stage = Stage()
    model = Scripted([say("", *calls(*(f"p:{n}" for n in range(6)))), say("done")])
    settings = Settings(model=MODEL, max_parallel_tool_calls=3)
    tools = [tool("p", stage.body)]
    async with driven(model, tmp_path, tools=tools, settings=settings) as session:
        key = session.send("go")
        await stage.until_running("0", "1", "2")
        stage.let(*(str(n) for n in range(6)))
        await until_ended(session.opened.agent.inbox, key)
    assert stage.most == 3
    assert_ended(session, "completed")


@pytest.mark.parametrize("cap", [1, 0, -3])
async def test_a_limit_of_one_makes_every_call_exclusive(tmp_path: Path, cap: int) -> None:
    stage = Stage(free={"1", "2", "3"})
    settings = Settings(model=MODEL, max_parallel_tool_calls=cap)
    session = await ran(tmp_path, [tool("p", stage.body)], "p:1", "p:2", "p:3", settings=settings)
    assert stage.most == 1
    kinds = [f.type for f in session.facts if isinstance(f, ToolCall | ToolResult)]
    assert kinds == ["tool/call", "tool/result"] * 3


async def test_parallel_calls_run_beside_one_that_waits_for_its_approval(tmp_path: Path) -> None:
    stage = Stage(free={"1", "2", "3"})
    model = Scripted([say("", *calls("ask:1", "p:2", "p:3")), say("done")])
    settings = Settings(model=MODEL, max_parallel_tool_calls=2)
    tools = [tool("ask", stage.body, subject=COMMAND), tool("p", stage.body)]
    async with driven(model, tmp_path, tools=tools, settings=settings) as session:
        key = session.send("go")
        asked = await session.until(ApprovalAsked)
        with anyio.fail_after(10):
            while stage.ended != ["2", "3"]:
                await stage.changed.wait()
                await anyio.lowlevel.checkpoint()
        assert of(session, ToolResult) == []  # they are committed in the model's order
        session.opened.agent.approvals.decide(asked.approval_id, allow=True, by="test")  # type: ignore[union-attr]
        await until_ended(session.opened.agent.inbox, key)
    assert [r.content for r in of(session, ToolResult)] == ["1", "2", "3"]


async def test_calls_that_wait_for_the_person_hold_no_slot(tmp_path: Path) -> None:
    stage = Stage(free={"1", "2", "3"})
    model = Scripted([say("", *calls("ask:1", "ask:2", "p:3")), say("done")])
    settings = Settings(model=MODEL, max_parallel_tool_calls=2)
    tools = [tool("ask", stage.body, subject=COMMAND), tool("p", stage.body)]
    async with driven(model, tmp_path, tools=tools, settings=settings) as session:
        key = session.send("go")
        await session.until(ApprovalAsked, 2)  # both questions are open at once
        with anyio.fail_after(10):
            while stage.ended != ["3"]:
                await stage.changed.wait()
                await anyio.lowlevel.checkpoint()
        for pending in session.opened.agent.approvals.pending:
            session.opened.agent.approvals.decide(pending.approval_id, allow=True, by="test")
        await until_ended(session.opened.agent.inbox, key)
    assert_ended(session, "completed")


async def test_an_exclusive_call_is_a_barrier_from_prepare_to_commit(tmp_path: Path) -> None:
    order: list[str] = []

    def noting(name: str, mode: ExecutionMode, *, asks: bool = False) -> Tool[Anything]:
        async def body(_arguments: dict[str, Any], _: Go) -> str:
            order.append(f"perform {name}")
            return name

        inner = tool(name, body, subject=COMMAND if asks else None, mode=mode)

        async def prepare(arguments: Anything, workspace: Workspace) -> Prepared:
            order.append(f"prepare {name}")
            return await inner.prepare(arguments, workspace)

        return replace(inner, prepare=prepare)

    async def note(executed: Executed, next_: Next[Executed, PostExecute]) -> PostExecute:
        order.append(f"commit {executed.call.name}")
        return await next_(executed)

    tools = [
        noting("before", "parallel"), noting("alone", "exclusive", asks=True),
        noting("after", "parallel"),
    ]  # fmt: skip
    await ran(
        tmp_path, tools, "before:1", "alone:2", "after:3", plugins=[judging(note)], allow=True
    )
    assert order == [
        f"{what} {name}"
        for name in ("before", "alone", "after")
        for what in ("prepare", "perform", "commit")
    ]


@pytest.mark.parametrize(
    "mode",
    [
        "Parallel", "", None, True, 1, lambda _: "exclusive", lambda _: None, lambda _: 1 / 0,
        lambda _: sys.exit(),
    ],
)  # fmt: skip
async def test_whatever_is_not_exactly_parallel_is_exclusive(tmp_path: Path, mode: Any) -> None:
    stage = Stage(free={"1", "2"})
    odd = replace(tool("odd", stage.body), execution_mode=mode)
    session = await ran(tmp_path, [odd], "odd:1", "odd:2")
    assert stage.most == 1
    assert [r.content for r in of(session, ToolResult)] == ["1", "2"]


async def test_a_tool_may_decide_by_the_arguments_whether_a_call_is_parallel(
    tmp_path: Path,
) -> None:
    stage = Stage()

    def mode(arguments: Anything) -> ExecutionMode:
        return "parallel" if arguments.model_dump()["n"] in "12" else "exclusive"

    both = replace(tool("both", stage.body), execution_mode=mode)
    model = Scripted([say("", *calls("both:1", "both:2", "both:3")), say("done")])
    async with driven(model, tmp_path, tools=[both]) as session:
        key = session.send("go")
        await stage.until_running("1", "2")
        stage.let("1", "2", "3")
        await until_ended(session.opened.agent.inbox, key)
    assert stage.most == 2


async def test_contexts_are_committed_in_the_models_order_whatever_settled_first(
    tmp_path: Path,
) -> None:
    second = anyio.Event()

    async def inject(arguments: dict[str, Any], _: Go) -> Outcome:
        if arguments["n"] == "1":
            await second.wait()
        second.set()
        return Outcome(content="ok", contexts=(f"of {arguments['n']}",))

    async def add(executed: Executed, _: Next[Executed, PostExecute]) -> PostExecute:
        from turnbuckle.tools.hooks import Enrich

        return Enrich((f"and of {executed.call.call_id}",))

    session = await ran(tmp_path, [tool("p", inject)], "p:1", "p:2", plugins=[judging(add)])
    assert transcript(session.entries) == snapshot("""\
user      go
  call    1 p(n='1')
  call    2 p(n='2')
  result  1 ok
  result  2 ok
context   of 1
context   and of 1
context   of 2
context   and of 2
assistant done
end       completed
""")


# Layers around a body


async def limit_of_time(execution: Execution, next_: Next[Execution, Outcome]) -> Outcome:
    # Long for what ends by itself, however busy the machine is.
    with anyio.fail_after(60 if execution.call.name == "quick" else 0.01):
        return await next_(execution)


async def test_a_body_that_outlives_its_time_limit_is_an_error_and_the_turn_goes_on(
    tmp_path: Path,
) -> None:
    async def hang(_arguments: dict[str, Any], _: Go) -> str:
        await anyio.sleep_forever()
        raise AssertionError

    async def stubborn(_arguments: dict[str, Any], _: Go) -> str:
        try:
            await anyio.sleep_forever()
        except BaseException:
            await anyio.sleep_forever()
        raise AssertionError

    tools = [tool("hang", hang), tool("stubborn", stubborn), tool("quick", quick)]
    plugins = [around_execute(limit_of_time)]
    session = await ran(tmp_path, tools, "hang:1", "stubborn:2", "quick:3", plugins=plugins)
    said = "<tool error: it took longer than it may>"
    assert [(r.content, r.code) for r in of(session, ToolResult)] == [
        (said, "TIMEOUT"), (said, "TIMEOUT"), ("ok", None),
    ]  # fmt: skip
    assert_ended(session, "completed")


async def test_a_layer_that_tries_again_runs_the_body_again_and_says_so_before(
    tmp_path: Path,
) -> None:
    ran_at: list[int] = []

    async def flaky(_arguments: dict[str, Any], _: Go) -> str:
        ran_at.append(len(of(session_of[0], ToolStart)))
        if len(ran_at) < 3:
            raise ValueError("not yet")
        return "ok"

    async def again(execution: Execution, next_: Next[Execution, Outcome]) -> Outcome:
        for _ in range(2):
            try:
                return await next_(execution)
            except ValueError:
                pass
        return await next_(execution)

    session_of: list[Driven] = []
    model = Scripted([say("", *calls("flaky:1")), say("done")])
    plugins = [around_execute(again)]
    async with driven(model, tmp_path, tools=[tool("flaky", flaky)], plugins=plugins) as session:
        session_of.append(session)
        await session.say("go")
    assert ran_at == [1, 2, 3]  # each start is a fact before its body runs
    assert [start.attempt for start in of(session, ToolStart)] == [1, 2, 3]
    assert [r.content for r in of(session, ToolResult)] == ["ok"]


async def test_no_layer_and_no_tool_can_make_a_result_of_a_log_that_cannot_be_written(
    tmp_path: Path,
) -> None:
    full = False

    async def sync(_descriptor: int) -> None:
        if full:
            raise OSError(28, "No space left on device")

    async def swallow(execution: Execution, next_: Next[Execution, Outcome]) -> Outcome:
        nonlocal full
        full = True
        try:
            return await next_(execution)
        except Exception:
            return Outcome(content="all is well")

    model = Scripted([say("", *calls("quick:1")), say("never")])
    plugins = [around_execute(swallow)]
    async with driven(
        model, tmp_path, tools=[tool("quick", quick)], plugins=plugins, sync=sync
    ) as session:
        ended = await session.say("go")
        full = False
    assert isinstance(ended, Ended)
    assert ended.end.failure is not None
    assert ended.end.failure.kind == "store"
    assert "No space left" in ended.end.failure.message
    assert [r.code for r in of(session, ToolResult)] == ["ABORTED_BEFORE_DISPATCH"]


async def test_a_log_that_cannot_be_written_ends_the_step_also_while_the_person_is_asked(
    tmp_path: Path,
) -> None:
    full = False

    async def sync(_descriptor: int) -> None:
        if full:
            raise OSError(28, "No space left on device")

    async def fill(execution: Execution, next_: Next[Execution, Outcome]) -> Outcome:
        nonlocal full
        full = True
        return await next_(execution)

    async def wait_for_question(executed: Any, next_: Next[Any, Any]) -> Any:
        if executed.call.name == "quick":
            await session_of[0].until(ApprovalAsked)
        return await next_(executed)

    def install(ctx: PluginContext) -> None:
        ctx.hooks.pre_execute.use(wait_for_question)
        ctx.hooks.execute.use(fill)

    session_of: list[Driven] = []
    model = Scripted([say("", *calls("ask:1", "quick:2")), say("never")])
    tools = [tool("ask", quick, subject=COMMAND), tool("quick", quick)]
    async with driven(model, tmp_path, tools=tools, plugins=[install], sync=sync) as session:
        session_of.append(session)
        with anyio.fail_after(10):
            ended = await session.say("go")
        full = False
    assert isinstance(ended, Ended)
    assert ended.end.kind == "error"
    assert session.opened.agent.approvals.pending == ()
    assert [r.code for r in of(session, ToolResult)] == ["ABORTED_BEFORE_DISPATCH"] * 2


# What a call can come to


class Odd(Exception):
    """It cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    "error",
    [
        ValueError("boom"),
        Odd(),
        SystemExit(1),
        asyncio.CancelledError(),
        ExceptionGroup("g", [OSError(), OSError()]),
    ],
)
async def test_whatever_a_body_raises_is_an_error_and_the_turn_goes_on(
    tmp_path: Path, error: BaseException
) -> None:
    async def throw(_arguments: dict[str, Any], _: Go) -> str:
        raise error

    tools = [tool("throw", throw), tool("quick", quick)]
    session = await ran(tmp_path, tools, "throw:1", "quick:2")
    first, second = of(session, ToolResult)
    assert (first.code, first.is_error) == ("TOOL_FAILED", True)
    assert first.content.startswith(f"<tool error: {type(error).__name__}")
    assert second.content == "ok"
    assert_ended(session, "completed")


@pytest.mark.parametrize("error", [ValueError("boom"), SystemExit(1), asyncio.CancelledError()])
async def test_whatever_prepare_raises_is_an_error_and_the_turn_goes_on(
    tmp_path: Path, error: BaseException
) -> None:
    async def prepare(_: Anything, _workspace: Workspace) -> Prepared:
        raise error

    tools = [replace(tool("odd", quick), prepare=prepare), tool("quick", quick)]
    session = await ran(tmp_path, tools, "odd:1", "quick:2")
    assert [r.code for r in of(session, ToolResult)] == ["TOOL_FAILED", None]
    assert_ended(session, "completed")


async def test_arguments_whose_validation_itself_fails_are_an_error(tmp_path: Path) -> None:
    class Broken(BaseModel):
        @model_validator(mode="before")
        @classmethod
        def fail(cls, _: object) -> object:
            raise RuntimeError("the tool's own")

    async def prepare(_: Broken, _workspace: Workspace) -> Prepared:
        raise AssertionError

    broken = Tool(
        name="broken", description="", parameters=Broken, prepare=prepare,
        execution_mode=lambda _: "parallel",
    )  # fmt: skip
    session = await ran(tmp_path, [broken, tool("quick", quick)], "broken:1", "quick:2")
    assert [r.code for r in of(session, ToolResult)] == ["TOOL_FAILED", None]
    assert_ended(session, "completed")


def knotted() -> dict[str, Any]:
    knot: dict[str, Any] = {}
    knot["self"] = knot
    return knot


@pytest.mark.parametrize(
    "outcome",
    [
        None,
        7,
        Outcome(content=None),  # type: ignore[arg-type]
        Outcome(content=b"bytes"),  # type: ignore[arg-type]
        Outcome(content="x", code=b"bytes"),  # type: ignore[arg-type]
        Outcome(content="x", meta={"bad": float("nan")}),
        Outcome(content="x", meta={"bad": object()}),
        Outcome(content="x", meta={"bad": "\ud800"}),
        Outcome(content="x", meta=knotted()),
        Outcome(content="x", contexts=(None,)),  # type: ignore[arg-type]
        Outcome(content="x", contexts="text"),  # type: ignore[arg-type]
        Outcome(content="x", facts=(PluginFact(name="p", data={"bad": float("inf")}),)),
        Outcome(content="x", facts=("a fact",)),  # type: ignore[arg-type]
        Outcome(content="x", code=5),  # type: ignore[arg-type]
        Outcome(content="x", code=5, meta={"a": [1]}),  # type: ignore[arg-type]
        Outcome(content="x", meta="text"),  # type: ignore[arg-type]
        Outcome(content="x", facts=(TodoWrite(items="text"),)),  # type: ignore[arg-type]
        Outcome(content="x", facts=(PluginFact(name="\ud800", data={}),)),
    ],
)
async def test_a_result_that_cannot_be_serialised_is_an_error_and_the_turn_goes_on(
    tmp_path: Path, outcome: Any
) -> None:
    async def odd(_arguments: dict[str, Any], _: Go) -> Any:
        return outcome

    async def prepare(_: Anything, _workspace: Workspace) -> Prepared:
        from turnbuckle.tools.tool import Internal

        async def perform(go: Go) -> Any:
            return await odd({}, go)

        return Prepared(subject=Internal(), perform=perform)

    tools = [replace(tool("odd", quick), prepare=prepare), tool("quick", quick)]
    session = await ran(tmp_path, tools, "odd:1", "quick:2")
    first, second = of(session, ToolResult)
    assert (first.code, first.is_error) == ("TOOL_FAILED", True)
    assert first.content.startswith("<tool error: ")
    assert second.content == "ok"
    assert_ended(session, "completed")


async def test_the_facts_of_an_outcome_follow_its_result(tmp_path: Path) -> None:
    todo = TodoWrite(items=(TodoItem(text="x", state="open"),))

    async def write(_arguments: dict[str, Any], _: Go) -> Outcome:
        return Outcome(content="ok", facts=(todo,))

    session = await ran(tmp_path, [tool("write", write)], "write:1")
    at = [fact.type for fact in session.facts].index("tool/result")
    assert session.facts[at + 1] == todo


async def test_a_waiting_call_of_a_removed_tool_ends_unknown(tmp_path: Path) -> None:
    dispose: list[Any] = []

    def install(ctx: PluginContext) -> None:
        dispose.append(ctx.tools.register(tool("goes", quick, subject=COMMAND)))
        dispose.append(ctx.tools.register(tool("goes_too", quick, mode="exclusive")))

    model = Scripted([say("", *calls("goes:1", "goes_too:2")), say("done")])
    async with driven(model, tmp_path, plugins=[install]) as session:
        key = session.send("go")
        asked = await session.until(ApprovalAsked)
        for one in dispose:
            one()
        session.opened.agent.approvals.decide(asked.approval_id, allow=True, by="test")  # type: ignore[union-attr]
        await until_ended(session.opened.agent.inbox, key)
    assert [r.code for r in of(session, ToolResult)] == ["UNKNOWN_TOOL"] * 2
    assert of(session, ToolStart) == []


async def test_a_call_that_waits_for_a_slot_of_a_tool_that_is_removed_ends_unknown(
    tmp_path: Path,
) -> None:
    stage = Stage()
    dispose: list[Any] = []

    def install(ctx: PluginContext) -> None:
        dispose.append(ctx.tools.register(tool("goes", stage.body)))

    model = Scripted([say("", *calls("goes:1", "goes:2", "goes:3")), say("done")])
    settings = Settings(model=MODEL, max_parallel_tool_calls=2)
    async with driven(model, tmp_path, plugins=[install], settings=settings) as session:
        key = session.send("go")
        await stage.until_running("1", "2")
        dispose[0]()
        stage.let("1", "2", "3")
        await until_ended(session.opened.agent.inbox, key)
    # Started bodies end normally.
    assert [r.code for r in of(session, ToolResult)] == [None, None, "UNKNOWN_TOOL"]


# What a cancel leaves


async def test_post_execute_also_judges_what_was_denied_and_could_not_be_prepared(
    tmp_path: Path,
) -> None:
    async def kind(executed: Executed, _: Next[Executed, PostExecute]) -> PostExecute:
        return Replace(f"judged {executed.outcome.code}")

    tools = [tool("ask", quick, subject=COMMAND)]
    session = await ran(tmp_path, tools, "ask:1", "gone:2", plugins=[judging(kind)], allow=False)
    assert [r.content for r in of(session, ToolResult)] == ["judged DENIED", "judged UNKNOWN_TOOL"]
    assert [r.code for r in of(session, ToolResult)] == ["DENIED", "UNKNOWN_TOOL"]


async def cancelled_while(session: Driven, reached: anyio.Event) -> None:
    key = session.send("go")
    with anyio.fail_after(10):
        await reached.wait()
        session.opened.driver.cancel("user")
        ended = await until_ended(session.opened.agent.inbox, key)
    assert isinstance(ended, Ended)
    assert ended.end.kind == "aborted"


async def test_post_execute_does_not_judge_what_was_aborted(tmp_path: Path) -> None:
    reached = anyio.Event()
    judged: list[str] = []

    async def hang(_arguments: dict[str, Any], _: Go) -> str:
        reached.set()
        await anyio.sleep_forever()
        raise AssertionError

    async def note(executed: Executed, next_: Next[Executed, PostExecute]) -> PostExecute:
        judged.append(executed.call.call_id)
        return await next_(executed)

    model = Scripted([say("", *calls("quick:1", "hang:2", "quick:3"))])
    tools = [tool("quick", quick), tool("hang", hang, mode="exclusive")]
    async with driven(model, tmp_path, tools=tools, plugins=[judging(note)]) as session:
        await cancelled_while(session, reached)
    assert judged == ["1"]
    assert [r.code for r in of(session, ToolResult)] == [None, "ABORTED", "ABORTED_BEFORE_DISPATCH"]


async def test_an_outcome_that_was_there_before_the_cancel_is_kept(tmp_path: Path) -> None:
    reached = anyio.Event()

    async def hang(_arguments: dict[str, Any], _: Go) -> str:
        await two_done.wait()
        reached.set()
        await anyio.sleep_forever()
        raise AssertionError

    async def second(_arguments: dict[str, Any], _: Go) -> Outcome:
        two_done.set()
        return Outcome(content="the second is done", contexts=("and said so",))

    two_done = anyio.Event()
    model = Scripted([say("", *calls("hang:1", "second:2"))])
    tools = [tool("hang", hang), tool("second", second)]
    async with driven(model, tmp_path, tools=tools) as session:
        await cancelled_while(session, reached)
        waiting = [item.input for item in session.opened.agent.inbox.waiting]
    assert [(r.content, r.code) for r in of(session, ToolResult)] == [
        (f"<tool error: {_ABORTED['ABORTED']}>", "ABORTED"),
        ("the second is done", None),
    ]
    assert waiting == ["and said so"]


async def test_an_outcome_is_kept_that_a_cancel_met_while_it_was_judged(tmp_path: Path) -> None:
    reached = anyio.Event()

    async def hang(_: Executed, _next: Next[Executed, PostExecute]) -> PostExecute:
        reached.set()
        await anyio.sleep_forever()
        raise AssertionError

    model = Scripted([say("", *calls("quick:1", "quick:2"))])
    async with driven(
        model, tmp_path, tools=[tool("quick", quick)], plugins=[judging(hang)]
    ) as session:
        await cancelled_while(session, reached)
    assert [(r.content, r.code) for r in of(session, ToolResult)] == [("ok", None)] * 2


async def test_what_a_judge_withheld_stays_withheld_when_the_turn_is_cancelled_then(
    tmp_path: Path,
) -> None:
    async def withhold(_: Executed, _next: Next[Executed, PostExecute]) -> PostExecute:
        # It takes effect at the next await: while the result is made to fit.
        session_of[0].opened.driver.cancel("user")
        return Block("withheld " + "x" * 200_000)

    session_of: list[Driven] = []
    model = Scripted([say("", *calls("quick:1"))])
    async with driven(
        model, tmp_path, tools=[tool("quick", quick)], plugins=[judging(withhold)]
    ) as session:
        session_of.append(session)
        ended = await session.say("go")
    assert isinstance(ended, Ended)
    assert ended.end.kind == "aborted"
    assert [r.content[:21] for r in of(session, ToolResult)] == ["<tool error: withheld"]


async def test_a_long_outcome_is_bounded_and_whole_in_a_blob_also_after_a_cancel(
    tmp_path: Path,
) -> None:
    reached = anyio.Event()

    async def long(_arguments: dict[str, Any], _: Go) -> str:
        reached.set()
        try:
            await anyio.sleep_forever()
        except BaseException:
            return "x" * 200_000
        raise AssertionError

    model = Scripted([say("", *calls("long:1"))])
    async with driven(model, tmp_path, tools=[tool("long", long)]) as session:
        await cancelled_while(session, reached)
        result = of(session, ToolResult)[0]
        digest = result.content.partition("blob:")[2].partition("]")[0]
        assert await session.opened.agent.blobs.get(digest) == b"x" * 200_000
    assert len(result.content) < 100_000
    assert result.content.count("bytes left out") == 1


async def test_a_result_is_made_to_fit_exactly_once(tmp_path: Path) -> None:
    async def long(_arguments: dict[str, Any], _: Go) -> Outcome:
        return Outcome(content="x" * 200_000, code="TOOL_FAILED")

    async def longer(_: Executed, _next: Next[Executed, PostExecute]) -> PostExecute:
        return Replace("y" * 300_000)

    session = await ran(tmp_path, [tool("long", long)], "long:1", plugins=[judging(longer)])
    content = of(session, ToolResult)[0].content
    assert content.count("bytes left out") == 1
    assert content.startswith("yyy")
    assert content.endswith("yyy")


async def test_an_observer_cannot_change_a_result(tmp_path: Path) -> None:
    async def meta(_arguments: dict[str, Any], _: Go) -> Outcome:
        return Outcome(content="ok", meta={"deep": {"list": [1]}})

    def install(ctx: PluginContext) -> None:
        def meddle(result: ToolResult) -> None:
            assert result.meta is not None
            with pytest.raises(TypeError):
                result.meta["deep"]["list"].append(2)
            with pytest.raises(TypeError):
                result.meta.update(x=1)
            tried.append(result)

        ctx.on(ToolResult, meddle)

    tried: list[ToolResult] = []
    session = await ran(tmp_path, [tool("meta", meta)], "meta:1", plugins=[install])
    assert of(session, ToolResult)[0].meta == {"deep": {"list": [1]}}
    assert tried
