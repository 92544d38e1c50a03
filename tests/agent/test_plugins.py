"""A plugin comes and goes while a session lives: all it added goes with it, and nothing else."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from inline_snapshot import snapshot

from turnbuckle.agent.hooks import Decision, PreStep, Prompt, RequestFailure, Retry, TurnStopping
from turnbuckle.agent.plugin import Install, PluginContext, PluginFailed, checked, install, within
from turnbuckle.kernel.scope import ScopeClosed
from turnbuckle.kernel.waterfall import Next, Waterfall
from turnbuckle.model.port import Emit, Reply, Request
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    ApprovalAsked,
    AssistantMessage,
    PluginFact,
    ToolResult,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from turnbuckle.session.parts import JsonObject
from turnbuckle.testing.agents import Driven, driven
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.tools import tool
from turnbuckle.testing.transcript import transcript
from turnbuckle.tools.hooks import Deny, Executed, Execution, PostExecute, PreExecute
from turnbuckle.tools.tool import Go, Outcome


async def hello(_arguments: JsonObject, _go: Go) -> str:
    return "hello"


def everything(ctx: PluginContext) -> None:
    """Uses all that a plugin can use."""

    async def prompt(value: Prompt, next_: Next[Prompt, Prompt]) -> Prompt:
        return await next_(value)

    async def pre_step(value: PreStep, next_: Next[PreStep, Decision]) -> Decision:
        return await next_(value)

    async def request(value: Request, next_: Next[Request, Request]) -> Request:
        return await next_(value)

    async def request_error(
        value: RequestFailure, next_: Next[RequestFailure, Retry | None]
    ) -> Retry | None:
        return await next_(value)

    async def turn_stopping(value: TurnStopping, next_: Next[TurnStopping, None]) -> None:
        await next_(value)

    async def pre_execute(value: Execution, next_: Next[Execution, PreExecute]) -> PreExecute:
        return await next_(value)

    async def execute(value: Execution, next_: Next[Execution, Outcome]) -> Outcome:
        return await next_(value)

    async def post_execute(value: Executed, next_: Next[Executed, PostExecute]) -> PostExecute:
        return await next_(value)

    async def close() -> None:
        await anyio.lowlevel.checkpoint()

    ctx.hooks.prompt.use(prompt)
    ctx.hooks.pre_step.use(pre_step, outermost=True)
    ctx.hooks.request.use(request)
    ctx.hooks.request_error.use(request_error)
    ctx.hooks.turn_stopping.use(turn_stopping)
    ctx.hooks.pre_execute.use(pre_execute)
    ctx.hooks.execute.use(execute)
    ctx.hooks.post_execute.use(post_execute)
    ctx.hooks.guard(lambda _: None)
    ctx.hooks.typed(lambda text: text)
    ctx.tools.register(tool("hello", hello))
    ctx.prompt.section("Everything", "All of it.")
    ctx.models.register("everything", Scripted([]))
    ctx.on(TurnStart, lambda _: None)
    ctx.on(AssistantMessage, lambda _: None)
    ctx.defer(close, "a connection")
    ctx.defer(lambda: None, "a file")


def held(session: Driven) -> dict[str, object]:
    """All that is registered anywhere in a session, as it is now."""
    agent = session.opened.agent
    falls = [
        value
        for hooks in (agent.hooks, agent.hooks.tools)
        for value in vars(hooks).values()
        if isinstance(value, Waterfall)
    ]
    assert len(falls) == 8
    return {
        **{fall.name: tuple(fall._layers) for fall in falls},
        "guards": tuple(agent.hooks.tools.guards),
        "tools": dict(agent.tools._tools),
        "models": tuple(agent.models._models),
        "sections": tuple(agent.prompt._sections),
        "typed": tuple(agent.hooks.typed._cleaners),
        "observers": tuple(agent.session.log._observers),
        "note observers": tuple(agent.session._note_observers),
        "scope": agent.session.scope.labels,
        "waiting": agent.inbox.waiting,
    }


# -- load and unload -----------------------------------------------------------------------------


async def test_everything_a_plugin_added_is_gone_after_it_is_unloaded(tmp_path: Path) -> None:
    async with driven(Scripted([say("hi")]), tmp_path) as session:
        before = held(session)
        await session.plugins.exchange([("everything", everything)])
        with_it = held(session)
        assert [name for name, value in with_it.items() if value == before[name]] == [
            "note observers",
            "waiting",
        ]
        await session.say("go")
        await session.plugins.exchange([])
        assert held(session) == before
    assert session.failures == []


async def test_a_plugin_that_is_loaded_again_is_there_once(tmp_path: Path) -> None:
    async with driven(Scripted([]), tmp_path, plugins=[everything]) as session:
        before = sizes(session)
        for _ in range(3):
            await session.plugins.exchange([])
            await session.plugins.exchange([("everything", everything)])
        assert sizes(session) == before
    assert session.failures == []


async def test_what_the_old_one_registered_is_gone_before_the_new_one_comes(tmp_path: Path) -> None:
    async with driven(Scripted([]), tmp_path, plugins=[("p", everything)]) as session:
        before = sizes(session)
        await session.plugins.exchange([("p", lambda ctx: everything(ctx))])
        assert sizes(session) == before
    assert session.failures == []  # its tool's name was free again


def sizes(session: Driven) -> dict[str, int]:
    return {
        name: len(value) for name, value in held(session).items() if isinstance(value, dict | tuple)
    }


async def test_what_a_plugin_adds_after_it_was_unloaded_is_refused_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    kept: list[PluginContext] = []
    async with driven(Scripted([]), tmp_path) as session:
        before = held(session)
        await session.plugins.exchange([("late", kept.append)])
        await session.plugins.exchange([])
        (ctx,) = kept
        late: list[Callable[[], object]] = [
            lambda: ctx.tools.register(tool("late", hello)),
            lambda: ctx.prompt.section("Late", "x"),
            lambda: ctx.models.register("late", Scripted([])),
            lambda: ctx.on(TurnEnd, lambda _: None),
            lambda: ctx.hooks.guard(lambda _: None),
            lambda: ctx.hooks.typed(lambda text: text),
            lambda: ctx.hooks.execute.use(lambda value, next_: next_(value)),
            lambda: ctx.defer(lambda: None),
        ]
        for add in late:
            with pytest.raises(ScopeClosed):
                add()
        assert held(session) == before


async def test_all_sessions_get_the_plugins_that_there_are_now(tmp_path: Path) -> None:
    seen: list[str] = []

    def first(ctx: PluginContext) -> None:
        seen.append(f"first in {ctx.session.id}")

    def second(ctx: PluginContext) -> None:
        seen.append(f"second in {ctx.session.id}")

    async with driven(Scripted([]), tmp_path, plugins=[("p", first)]) as session:
        one = session.opened.session.id
        two = (await session.sessions.open()).session.id
        await session.plugins.exchange([("p", second)])
        three = (await session.sessions.open()).session.id
        await session.sessions.close(two)
        await session.plugins.exchange([("p", first)])
    assert seen == [
        f"first in {one}", f"first in {two}",
        f"second in {one}", f"second in {two}", f"second in {three}",
        f"first in {one}", f"first in {three}",
    ]  # fmt: skip


@pytest.mark.parametrize("by_itself", [False, True])
async def test_what_registered_leaves_first_and_deferred_effects_last_first(
    tmp_path: Path, by_itself: bool
) -> None:
    order: list[str] = []

    def plugin(ctx: PluginContext) -> None:
        ctx.defer(lambda: order.append("connection"))
        ctx.tools.register(tool("hello", hello))
        ctx.on(TurnEnd, lambda _: None)

        async def note() -> None:
            now = held(session)
            order.append("all" if now["observers"] == before["observers"] else "observers are left")
            order.append("all" if now["tools"] == before["tools"] else "tools are left")

        ctx.defer(note)

    async with driven(Scripted([]), tmp_path) as session:
        before = held(session)
        if by_itself:
            agent = session.opened.agent
            await (await install(agent, agent.session.scope, "p", plugin)).aclose()
        else:
            await session.plugins.exchange([("p", plugin)])
            await session.plugins.exchange([])
        assert held(session) == before
    assert order == ["all", "all", "connection"]


async def test_a_plugin_can_take_something_back_by_itself(tmp_path: Path) -> None:
    async with driven(Scripted([]), tmp_path) as session:
        before = held(session)

        def plugin(ctx: PluginContext) -> None:
            for dispose in (
                ctx.tools.register(tool("hello", hello)),
                ctx.prompt.section("x", "y"),
                ctx.on(TurnEnd, lambda _: None),
                ctx.defer(lambda: None),
            ):
                dispose()
                dispose()

        await session.plugins.exchange([("p", plugin)])
        now = held(session)
        assert {**now, "scope": ()} == {**before, "scope": ()}


# -- exchange in mid-session ---------------------------------------------------------------------


def says(text: str) -> Install:
    """A plugin that appends its word to the system prompt, in the order of its layer."""

    def plugin(ctx: PluginContext) -> None:
        async def layer(request: Request, next_: Next[Request, Request]) -> Request:
            return await next_(replace(request, system=f"{request.system} {text}".strip()))

        ctx.hooks.request.use(layer)

    return plugin


async def test_a_reloaded_plugin_keeps_its_place(tmp_path: Path) -> None:
    model = Scripted([say("1"), say("2"), say("3"), say("4")])
    named = [("a", says("a")), ("b", says("b")), ("c", says("c"))]
    async with driven(model, tmp_path, plugins=named) as session:
        await session.say("one")
        await session.plugins.exchange([named[0], ("b", says("B")), named[2]])
        await session.say("two")
        await session.plugins.exchange([named[2], named[0]])
        await session.say("three")
        await session.plugins.exchange([named[2], named[0], named[1]])
        await session.say("four")
    assert [request.system for request in model.requests] == ["a b c", "a B c", "c a", "c a b"]


async def test_what_is_the_same_at_the_beginning_of_the_list_is_not_installed_again(
    tmp_path: Path,
) -> None:
    seen: list[str] = []

    def noting(name: str) -> Install:
        def plugin(ctx: PluginContext) -> None:
            seen.append(f"+{name}")
            ctx.defer(lambda: seen.append(f"-{name}"))

        return plugin

    a, b, c, new = (("n", noting(name)) for name in ("a", "b", "c", "new"))
    async with driven(Scripted([]), tmp_path, plugins=[a, b, c]) as session:
        seen.clear()
        await session.plugins.exchange([a, new, c])
    # What the old ones deferred is undone only when the new ones stand.
    assert seen[:4] == ["+new", "+c", "-c", "-b"]


async def test_a_reload_takes_effect_at_the_next_step_of_a_turn_that_runs(tmp_path: Path) -> None:
    model = Scripted([say("", ("1", "hold", {})), say("done")])
    reached, go_on = anyio.Event(), anyio.Event()

    async def hold(_arguments: JsonObject, _go: Go) -> str:
        reached.set()
        await go_on.wait()
        return "held"

    async with driven(
        model, tmp_path, tools=[tool("hold", hold)], plugins=[("p", says("old"))]
    ) as session:
        async with anyio.create_task_group() as group:
            group.start_soon(session.say, "go")
            await reached.wait()
            await session.plugins.exchange([("p", says("new"))])
            go_on.set()
        assert transcript(session.entries) == snapshot("""\
user      go
  call    1 hold()
  result  1 held
assistant done
end       completed
""")
    assert [request.system for request in model.requests] == ["old", "new"]


async def test_runs_in_progress_finish_with_the_layers_that_they_began_with(tmp_path: Path) -> None:
    reached, go_on = anyio.Event(), anyio.Event()
    order: list[str] = []

    def outer(ctx: PluginContext) -> None:
        async def layer(value: Execution, next_: Next[Execution, Outcome]) -> Outcome:
            reached.set()
            await go_on.wait()
            return await next_(value)

        ctx.hooks.execute.use(layer)

    def inner(ctx: PluginContext) -> None:
        async def layer(value: Execution, next_: Next[Execution, Outcome]) -> Outcome:
            order.append("old layer")
            return await next_(value)

        ctx.hooks.execute.use(layer)
        ctx.defer(lambda: order.append("unloaded"))

    model = Scripted([say("", ("1", "hello", {})), say("", ("2", "hello", {})), say("done")])
    tools = [tool("hello", hello)]
    async with driven(model, tmp_path, tools=tools, plugins=[outer, inner]) as session:
        async with anyio.create_task_group() as group:
            group.start_soon(session.say, "go")
            await reached.wait()
            await session.plugins.exchange([])
            go_on.set()
        results = [fact for fact in session.facts if isinstance(fact, ToolResult)]
    assert [(result.content, result.code) for result in results] == [("hello", None)] * 2
    assert order == ["unloaded", "old layer"]


async def test_a_body_that_has_started_ends_normally_after_its_tool_is_gone(tmp_path: Path) -> None:
    model = Scripted([say("", ("1", "hold", {})), say("", ("2", "hold", {})), say("done")])
    go_on = anyio.Event()

    def plugin(ctx: PluginContext) -> None:
        async def hold(_arguments: JsonObject, _go: Go) -> str:
            await go_on.wait()
            return "held"

        ctx.tools.register(tool("hold", hold))

    async with driven(model, tmp_path, plugins=[plugin]) as session:
        async with anyio.create_task_group() as group:
            group.start_soon(session.say, "go")
            await session.until(ToolStart)
            await session.plugins.exchange([])
            go_on.set()
        results = [fact for fact in session.facts if isinstance(fact, ToolResult)]
    assert [result.code for result in results] == [None, "UNKNOWN_TOOL"]
    assert results[0].content == "held"


async def test_a_call_that_waits_while_its_tool_goes_ends_unknown_tool(tmp_path: Path) -> None:
    model = Scripted([say("", ("1", "hold", {}), ("2", "theirs", {})), say("done")])
    go_on = anyio.Event()

    async def hold(_arguments: JsonObject, _go: Go) -> str:
        await go_on.wait()
        return "held"

    def plugin(ctx: PluginContext) -> None:
        ctx.tools.register(tool("theirs", hello, mode="exclusive"))

    tools = [tool("hold", hold, mode="exclusive")]
    async with driven(model, tmp_path, tools=tools, plugins=[plugin]) as session:
        async with anyio.create_task_group() as group:
            group.start_soon(session.say, "go")
            await session.until(ToolStart)
            await session.plugins.exchange([])
            go_on.set()
        results = [fact for fact in session.facts if isinstance(fact, ToolResult)]
    assert [result.code for result in results] == [None, "UNKNOWN_TOOL"]


async def test_a_model_that_is_gone_ends_the_turn_with_an_error_that_names_it(
    tmp_path: Path,
) -> None:
    def plugin(ctx: PluginContext) -> None:
        ctx.models.register("theirs", Scripted([say("1")]))

    def route(ctx: PluginContext) -> None:
        async def layer(request: Request, next_: Next[Request, Request]) -> Request:
            return await next_(replace(request, config=replace(request.config, model="theirs")))

        ctx.hooks.request.use(layer)

    named = [("route", route), ("model", plugin)]
    async with driven(Scripted([]), tmp_path, plugins=named) as session:
        await session.say("one")
        await session.plugins.exchange(named[:1])
        await session.say("two")
        ends = [fact.end for fact in session.facts if isinstance(fact, TurnEnd)]
    assert ends[0].kind == "completed"
    assert ends[1].failure is not None
    assert "'theirs'" in ends[1].failure.message


@pytest.mark.parametrize("moment", range(24))
async def test_a_plugin_can_be_loaded_again_at_any_moment_of_a_turn(
    tmp_path: Path, moment: int
) -> None:
    replies = [say("", ("1", "hello", {}), ("2", "theirs", {})), say("", ("3", "hello", {}))]
    theirs, reached = tool("theirs", hello), anyio.Event()

    def count(entry: Entry, _line: bytes) -> None:
        if entry.seq == moment:
            reached.set()

    async def again(session: Driven) -> None:
        await reached.wait()
        await session.plugins.exchange([("p", lambda ctx: everything(ctx))])

    plugins = [("p", everything)]
    model = Scripted([*replies, say("done")])
    async with driven(model, tmp_path, tools=[theirs], plugins=plugins) as session:
        before = sizes(session)
        session.opened.session.log.observe(session.scope, count)
        async with anyio.create_task_group() as group:
            group.start_soon(again, session)
            await session.say("go")
            reached.set()
        await session.scope.aclose()
        assert sizes(session) == before
    assert session.failures == []
    results = {f.call_id: f.code for f in session.facts if isinstance(f, ToolResult)}
    assert results["2"] is None
    assert {results["1"], results["3"]} <= {None, "UNKNOWN_TOOL"}
    assert isinstance(session.facts[-1], TurnEnd)
    assert session.facts[-1].end.kind == "completed"


async def test_no_step_runs_without_a_guard_that_is_being_reloaded(tmp_path: Path) -> None:
    """What the old one deferred may take its time: the new one stands before that."""
    going, go_on, tried = anyio.Event(), anyio.Event(), anyio.Event()

    def guarding(ctx: PluginContext) -> None:
        ctx.hooks.guard(lambda _: Deny("no"))

        async def slowly() -> None:
            going.set()
            await go_on.wait()

        ctx.defer(slowly)

    async def reply(_request: Request, _emit: Emit) -> Reply:
        await going.wait()
        tried.set()
        return say("", ("1", "hello", {}))

    model = Scripted([reply, say("done")])
    plugins = [("p", guarding)]
    async with driven(model, tmp_path, tools=[tool("hello", hello)], plugins=plugins) as session:
        async with anyio.create_task_group() as group:
            group.start_soon(session.say, "go")
            group.start_soon(session.plugins.exchange, [("p", lambda ctx: guarding(ctx))])
            await session.until(ToolResult)
            go_on.set()
        result = next(fact for fact in session.facts if isinstance(fact, ToolResult))
    assert result.code == "DENIED"


async def test_facts_of_before_are_there_for_a_plugin_that_comes_later(tmp_path: Path) -> None:
    later: list[str] = []
    before: list[int] = []

    def plugin(ctx: PluginContext) -> None:
        before.extend(1 for entry in ctx.session.facts if isinstance(entry.fact, AssistantMessage))
        ctx.on(AssistantMessage, lambda message: later.append(message.content))

    async with driven(Scripted([say("one"), say("two")]), tmp_path) as session:
        await session.say("go")
        await session.plugins.exchange([("p", plugin)])
        await session.say("go")
    assert (before, later) == ([1], ["two"])


# -- what fails ----------------------------------------------------------------------------------


async def throws(folder: Path, plugin: Install) -> str:
    """Why this plugin could not be installed; the session is as it was before, and goes on."""
    async with driven(Scripted([say("on I go")]), folder) as session:
        before = held(session)
        await session.plugins.exchange([("bad", plugin)])
        assert held(session) == before
        await session.say("go")
        assert isinstance(session.facts[-1], TurnEnd)
        assert session.facts[-1].end.kind == "completed"
    ((name, why),) = session.failures
    assert name == "bad"
    return why


async def test_an_install_that_throws_is_named_and_undone(tmp_path: Path) -> None:
    def plugin(ctx: PluginContext) -> None:
        everything(ctx)
        raise RuntimeError("the token\nis missing")

    assert "RuntimeError: the token is missing (test_plugins.py, line " in await throws(
        tmp_path, plugin
    )


async def test_an_error_that_cannot_even_be_told_is_contained(tmp_path: Path) -> None:
    class Nasty(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    def plugin(_ctx: PluginContext) -> None:
        raise Nasty

    assert "Nasty" in await throws(tmp_path, plugin)


async def test_an_undo_that_throws_hides_neither_the_failure_nor_the_other_undos(
    tmp_path: Path,
) -> None:
    undone: list[str] = []

    def fail() -> None:
        raise OSError("gone already")

    def plugin(ctx: PluginContext) -> None:
        ctx.defer(lambda: undone.append("first"))
        ctx.defer(fail)
        everything(ctx)
        raise RuntimeError("no")

    assert "RuntimeError: no" in await throws(tmp_path, plugin)
    assert undone == ["first"]


async def test_a_tool_name_that_is_taken_is_named(tmp_path: Path) -> None:
    def plugin(ctx: PluginContext) -> None:
        ctx.tools.register(tool("hello", hello))
        ctx.tools.register(tool("hello", hello))

    assert "a tool named hello is registered already" in await throws(tmp_path, plugin)


async def test_a_plugin_that_wants_to_end_the_process_does_not(tmp_path: Path) -> None:
    def plugin(_ctx: PluginContext) -> None:
        raise SystemExit(3)

    assert "SystemExit: 3" in await throws(tmp_path, plugin)


async def test_an_asynchronous_install_is_named(tmp_path: Path) -> None:
    async def plugin(_ctx: PluginContext) -> None:
        raise AssertionError("never run")

    # Whoever writes without a type checker does this.
    said = await throws(tmp_path, plugin)  # type: ignore[arg-type]
    assert said == "`install` must be a plain function, not an async one"


async def test_one_that_fails_does_not_touch_those_beside_it(tmp_path: Path) -> None:
    def bad(_ctx: PluginContext) -> None:
        raise RuntimeError("no")

    model = Scripted([say("1"), say("2")])
    named = [("a", says("a")), ("bad", bad), ("c", says("c"))]
    async with driven(model, tmp_path, plugins=named) as session:
        await session.say("go")
        await session.plugins.exchange([named[0], ("bad", says("mended")), named[2]])
        await session.say("go")
    assert [request.system for request in model.requests] == ["a c", "a mended c"]
    assert [name for name, _ in session.failures] == ["bad"]


async def test_an_undo_that_never_returns_is_given_up() -> None:
    with pytest.raises(TimeoutError, match="the connection was not undone within 0 s"):
        await within(0, anyio.sleep_forever(), "the connection")


async def test_an_undo_that_fails_later_does_not_hide_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    undone: list[str] = []

    def plugin(ctx: PluginContext) -> None:
        ctx.defer(lambda: undone.append("first"))

        async def fails() -> None:
            raise OSError("no")

        ctx.defer(fails, "the connection")

    async with driven(Scripted([]), tmp_path, plugins=[plugin]) as session:
        await session.plugins.exchange([])
    assert undone == ["first"]
    assert "not all could be undone" in caplog.text


async def test_a_session_that_was_closed_gets_no_plugins_any_more(tmp_path: Path) -> None:
    async with driven(Scripted([]), tmp_path) as session:
        opened = session.opened
        await session.sessions.close(opened.session.id)
        await session.plugins.exchange([("everything", everything)])
        assert session.plugins._sessions == []
        with pytest.raises(ScopeClosed):
            await install(opened.agent, opened.session.scope, "late", everything)
    assert session.failures == []


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, "it has no `install(ctx)`"),
        (3, "it has no `install(ctx)`"),
        (lambda: None, "`install` must take one argument, the context"),
        (lambda _ctx, _more: None, "`install` must take one argument, the context"),
        (lambda *, ctx: None, "`install` must take one argument, the context"),
        (throws, "`install` must be a plain function, not an async one"),
    ],
)
def test_what_is_no_install_is_named(found: object, said: str) -> None:
    with pytest.raises(PluginFailed) as caught:
        checked(lambda: found)
    assert said in str(caught.value)


@pytest.mark.parametrize("found", [lambda _ctx: None, lambda _ctx, more=1: None, lambda *_: None])
def test_what_takes_the_context_is_an_install(found: Callable[..., None]) -> None:
    assert checked(lambda: found) is found


# -- what throws later ---------------------------------------------------------------------------


def throwing(hook: str) -> Install:
    """A plugin whose layer of this hook throws, the first time."""
    thrown: list[str] = []

    async def layer(value: object, next_: Next[object, object]) -> object:
        if not thrown:
            thrown.append(hook)
            raise RuntimeError("the layer broke")
        return await next_(value)

    def guard(_: Execution) -> Deny | None:
        if not thrown:
            thrown.append(hook)
            raise RuntimeError("the layer broke")
        return None

    def plugin(ctx: PluginContext) -> None:
        if hook == "guard":
            ctx.hooks.guard(guard)
        else:
            getattr(ctx.hooks, hook).use(layer)

    return plugin


@pytest.mark.parametrize(
    "hook",
    ["prompt", "pre_step", "request", "turn_stopping", "pre_execute", "guard", "execute", "post_execute"],
)  # fmt: skip
async def test_a_layer_that_throws_is_named_contained_and_the_session_goes_on(
    tmp_path: Path, hook: str
) -> None:
    replies = [say("", (str(n), "hello", {})) if n % 2 else say("done") for n in range(1, 7)]
    plugins = [("culprit", throwing(hook))]
    async with driven(
        Scripted(replies), tmp_path, tools=[tool("hello", hello)], plugins=plugins
    ) as session:
        await session.say("go")
        said = transcript(session.entries)
        await session.say("again")
        assert isinstance(session.facts[-1], TurnEnd)
        assert session.facts[-1].end.kind == "completed"
    assert "plugin culprit" in said
    assert "the layer broke" in said


async def test_an_observer_that_throws_is_logged_and_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def look(_: AssistantMessage) -> None:
        raise RuntimeError("the observer broke")

    def plugin(ctx: PluginContext) -> None:
        ctx.on(AssistantMessage, look)

    async with driven(Scripted([say("hi")]), tmp_path, plugins=[plugin]) as session:
        await session.say("go")
        assert transcript(session.entries).endswith("assistant hi\nend       completed\n")
    assert "an observer of assistant/message failed" in caplog.text


# -- what a plugin sees --------------------------------------------------------------------------


async def test_the_facts_that_a_plugin_looks_at_are_those_of_now(tmp_path: Path) -> None:
    seen: list[PluginContext] = []
    async with driven(Scripted([say("hi")]), tmp_path, plugins=[seen.append]) as session:
        facts = seen[0].session.facts
        assert len(facts) == 0
        await session.say("go")
        assert list(facts) == session.entries
        assert facts[-1] is session.entries[-1]
        assert list(facts[:2]) == session.entries[:2]


async def test_a_plugin_can_look_at_the_files_of_the_workspace(tmp_path: Path) -> None:
    seen: list[PluginContext] = []
    async with driven(Scripted([]), tmp_path, plugins=[seen.append]) as _:
        (tmp_path / "work" / "a.txt").write_text("unsaved text counts, too")
        workspace = seen[0].workspace
        snapshot_ = await workspace.read(workspace.resolve("a.txt"))
    assert snapshot_.text == "unsaved text counts, too"
    assert (workspace.cwd, workspace.folders) == (tmp_path / "work", (tmp_path / "work",))
    assert not hasattr(workspace, "apply")
    assert seen[0].settings.max_steps == 8


async def test_a_plugin_keeps_facts_of_its_own(tmp_path: Path) -> None:
    def plugin(ctx: PluginContext) -> None:
        ctx.on(TurnEnd, lambda end: ctx.session.keep({"turn": end.turn}))

    async with driven(Scripted([say("hi")]), tmp_path, plugins=[("mine", plugin)]) as session:
        await session.say("go")
    assert PluginFact(name="mine", data={"turn": 1}) in session.facts


async def test_a_plugin_can_ask_the_person(tmp_path: Path) -> None:
    seen: list[PluginContext] = []
    answers: list[str | None] = []

    async def ask(question: Callable[[], Awaitable[str | None]]) -> None:
        answers.append(await question())

    async with (
        driven(Scripted([]), tmp_path, plugins=[("asker", seen.append)]) as session,
        anyio.create_task_group() as group,
    ):
        group.start_soon(ask, lambda: seen[0].session.ask("Which?", ["this", "that"]))
        asked = await session.until(ApprovalAsked)
        assert isinstance(asked, ApprovalAsked)
        session.opened.agent.approvals.decide(
            asked.approval_id, allow=True, by="test", answer="that"
        )
    assert answers == ["that"]
