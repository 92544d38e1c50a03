"""Lines that must not type-check: mypy fails on an ignore that is not needed.

Run by the type checker, never executed.
"""

from typing import Any

from pydantic import BaseModel

from turnbuckle.agent.hooks import (
    Decision,
    Enter,
    Hooks,
    PreStep,
    Prompt,
    Reject,
    RequestFailure,
    Retry,
    Stop,
    TurnStopping,
)
from turnbuckle.agent.plugin import Install, PluginContext
from turnbuckle.kernel.scope import Scope
from turnbuckle.kernel.waterfall import Next, Waterfall
from turnbuckle.model.port import Delta, Emit, Model, Reply, Request
from turnbuckle.session.events import AssistantMessage, ToolResult, TurnEnd, TurnStart
from turnbuckle.tools.hooks import (
    Accept,
    Allow,
    Ask,
    Block,
    Deny,
    Enrich,
    Executed,
    Execution,
    PostExecute,
    PreExecute,
    Replace,
)
from turnbuckle.tools.tool import Go, Internal, Outcome, Prepared, Tool, ToolError, Verdict
from turnbuckle.workspace.port import Workspace

# -- layers --------------------------------------------------------------------------------------


async def stop(step: PreStep, next_: Next[PreStep, Decision]) -> Decision:
    return Stop("enough") if step.step > 3 else await next_(step)


async def route(request: Request, next_: Next[Request, Request]) -> Request:
    return await next_(request)


async def wrong_result(step: PreStep, _next: Next[PreStep, Decision]) -> str:
    return str(step)


async def wrong_next(step: PreStep, _next: Next[Request, Decision]) -> Decision:
    return Enter(step.messages)


async def without_next(step: PreStep) -> Decision:
    return Enter(step.messages)


def not_async(step: PreStep, _next: Next[PreStep, Decision]) -> Decision:
    return Enter(step.messages)


async def too_much_of_a_failure(
    failure: RequestFailure, _next: Next[RequestFailure, Retry | None]
) -> Retry | Stop:
    return Stop(failure.failure.message)


async def answers_stopping(_: TurnStopping, _next: Next[TurnStopping, None]) -> Enter:
    return Enter(())


async def judges(_: Execution, _next: Next[Execution, PreExecute]) -> PreExecute:
    return Ask("why not")


async def judges_after(_: Executed, _next: Next[Executed, PostExecute]) -> PostExecute:
    return Accept()


async def runs(execution: Execution, next_: Next[Execution, Outcome]) -> Outcome:
    return await next_(execution)


def layers(ctx: PluginContext, hooks: Hooks, scope: Scope) -> None:
    hooks.pre_step.use(scope, stop)
    ctx.hooks.pre_step.use(stop, outermost=True)
    ctx.hooks.request.use(route)
    ctx.hooks.pre_execute.use(judges)
    ctx.hooks.post_execute.use(judges_after)
    ctx.hooks.execute.use(runs)

    hooks.pre_step.use(stop)  # type: ignore[call-arg, arg-type]  # the owner is forgotten
    ctx.hooks.pre_step.use(scope, stop)  # type: ignore[call-arg, arg-type]
    ctx.hooks.pre_step.use(stop, True)  # type: ignore[call-arg]
    ctx.hooks.pre_step.use(route)  # type: ignore[arg-type]
    ctx.hooks.request.use(stop)  # type: ignore[arg-type]
    ctx.hooks.prompt.use(route)  # type: ignore[arg-type]
    ctx.hooks.pre_step.use(wrong_result)  # type: ignore[arg-type]
    ctx.hooks.pre_step.use(wrong_next)  # type: ignore[arg-type]
    ctx.hooks.pre_step.use(without_next)  # type: ignore[arg-type]
    ctx.hooks.pre_step.use(not_async)  # type: ignore[arg-type]
    ctx.hooks.pre_step.use(stop(PreStep(turn=1, step=1, messages=()), None))  # type: ignore[arg-type]
    ctx.hooks.request_error.use(too_much_of_a_failure)  # type: ignore[arg-type]
    ctx.hooks.turn_stopping.use(answers_stopping)  # type: ignore[arg-type]
    ctx.hooks.execute.use(judges)  # type: ignore[arg-type]
    ctx.hooks.pre_execute.use(runs)  # type: ignore[arg-type]
    ctx.hooks.post_execute.use(judges)  # type: ignore[arg-type]
    ctx.hooks.pre_stepp.use(stop)  # type: ignore[attr-defined]
    ctx.hooks["pre_step"].use(stop)  # type: ignore[index]


# -- what a layer answers ------------------------------------------------------------------------


async def answers_none(step: PreStep, next_: Next[PreStep, Decision]) -> Decision:
    await next_(step)
    return None  # type: ignore[return-value]


async def forgets_to_wait(step: PreStep, next_: Next[PreStep, Decision]) -> Decision:
    return next_(step)  # type: ignore[return-value]


async def passes_other(step: PreStep, next_: Next[PreStep, Decision]) -> Decision:
    return await next_(step.messages)  # type: ignore[arg-type]


async def passes_nothing(_: PreStep, next_: Next[PreStep, Decision]) -> Decision:
    return await next_()  # type: ignore[call-arg]


async def judges_with_words(_: Execution, _next: Next[Execution, PreExecute]) -> PreExecute:
    return "allow"  # type: ignore[return-value]


async def judges_too_late(_: Execution, _next: Next[Execution, PreExecute]) -> PreExecute:
    return Block("no")  # type: ignore[return-value]


async def allows_afterwards(_: Executed, _next: Next[Executed, PostExecute]) -> PostExecute:
    return Allow()  # type: ignore[return-value]


async def runs_to_words(_: Execution, _next: Next[Execution, Outcome]) -> Outcome:
    return "done"  # type: ignore[return-value]


async def changes_the_prompt(prompt: Prompt, next_: Next[Prompt, Prompt]) -> Prompt:
    prompt.sections += ()  # type: ignore[misc]
    return await next_(prompt)


async def changes_the_step(step: PreStep, next_: Next[PreStep, Decision]) -> Decision:
    step.messages = ()  # type: ignore[misc]
    return await next_(step)


def values() -> None:
    Enter("text")  # type: ignore[arg-type]
    Enter()  # type: ignore[call-arg]
    Stop()  # type: ignore[call-arg]
    Reject(3)  # type: ignore[arg-type]
    Retry("soon")  # type: ignore[arg-type]
    Deny()  # type: ignore[call-arg]
    Ask(None)  # type: ignore[arg-type]
    Allow("because")  # type: ignore[call-arg]
    Replace(b"bytes")  # type: ignore[arg-type]
    Enrich("text")  # type: ignore[arg-type]
    Stop("enough").reason = "more"  # type: ignore[misc]
    Outcome("text")  # type: ignore[call-arg]
    Outcome(content="text", code=404)  # type: ignore[arg-type]
    Verdict(rejected="h1")  # type: ignore[arg-type]
    ToolError("NOT_FOUND")  # type: ignore[call-arg]


# -- guards --------------------------------------------------------------------------------------


def abstains(_: Execution) -> Deny | None:
    return None


def allows(_: Execution) -> Allow | None:
    return Allow()


def asks(_: Execution) -> Ask:
    return Ask("may it?")


async def denies_later(_: Execution) -> Deny | None:
    return Deny("no")


def guards(ctx: PluginContext) -> None:
    ctx.hooks.guard(abstains)
    ctx.hooks.guard(allows)  # type: ignore[arg-type]
    ctx.hooks.guard(asks)  # type: ignore[arg-type]
    ctx.hooks.guard(denies_later)  # type: ignore[arg-type]
    ctx.hooks.guard(judges)  # type: ignore[arg-type]


# -- facts ---------------------------------------------------------------------------------------


def count(message: AssistantMessage) -> None:
    assert message.content


async def counts_later(message: AssistantMessage) -> None:
    assert message.content


def facts(ctx: PluginContext) -> None:
    ctx.on(AssistantMessage, count)

    ctx.on(TurnStart, count)  # type: ignore[arg-type]
    ctx.on(ToolResult, count)  # type: ignore[arg-type]
    ctx.on(str, count)  # type: ignore[type-var, arg-type]
    ctx.on("assistant/message", count)  # type: ignore[arg-type]
    ctx.on(AssistantMessage, counts_later)  # type: ignore[arg-type]
    ctx.on(AssistantMessage, lambda message: message.text)  # type: ignore[attr-defined]
    TurnEnd(turn=1, end="completed")  # type: ignore[arg-type]
    TurnStart(turn=1).turn = 2  # type: ignore[misc]
    ctx.session.facts.append(TurnStart(turn=1))  # type: ignore[attr-defined]
    ctx.session.facts[0].fact = TurnStart(turn=1)  # type: ignore[misc]
    ctx.session.keep("text")  # type: ignore[arg-type]
    ctx.session.inject(3)  # type: ignore[arg-type]
    ctx.session.append(TurnStart(turn=1))  # type: ignore[attr-defined]


async def asks_the_person(ctx: PluginContext) -> str:
    return await ctx.session.ask("Which?", ["this", "that"])  # type: ignore[return-value]  # nobody may answer


# -- tools ---------------------------------------------------------------------------------------


class Path(BaseModel):
    path: str


class Query(BaseModel):
    query: str


async def prepare(arguments: Path, _: Workspace) -> Prepared:
    async def perform(_go: Go) -> Outcome:
        return Outcome(content=arguments.path)

    return Prepared(subject=Internal(), perform=perform)


async def prepares_words(arguments: Path, _: Workspace) -> str:
    return arguments.path


async def without_workspace(_: Path) -> Prepared:
    return await prepare(Path(path=""), None)  # type: ignore[arg-type]


async def performs_alone() -> Outcome:
    return Outcome(content="")


async def performs_words(_: Go) -> str:
    return ""


async def never_performs(_: Go) -> None:
    return None


def tools(ctx: PluginContext, go: Go) -> None:
    ctx.tools.register(Tool(name="a", description="b", parameters=Path, prepare=prepare))

    Tool(name="a", description="b", parameters=Query, prepare=prepare)  # type: ignore[arg-type]
    Tool(name="a", description="b", parameters=Path, prepare=prepares_words)  # type: ignore[arg-type]
    Tool(name="a", description="b", parameters=Path, prepare=without_workspace)  # type: ignore[arg-type]
    Tool(name="a", description="b", parameters=dict, prepare=prepare)  # type: ignore[type-var, arg-type]
    Tool(name="a", parameters=Path, prepare=prepare)  # type: ignore[call-arg]
    Tool("a", "b", Path, prepare)  # type: ignore[call-arg]
    Tool(
        name="a",
        description="b",
        parameters=Path,
        prepare=prepare,
        execution_mode="sometimes",  # type: ignore[arg-type]
    )
    Tool(
        name="a",
        description="b",
        parameters=Path,
        prepare=prepare,
        execution_mode=lambda query: query.query,  # type: ignore[attr-defined]
    )
    Prepared(subject="read", perform=performs_alone)  # type: ignore[arg-type]
    Prepared(subject=Internal(), perform=performs_words)  # type: ignore[arg-type]
    Prepared(subject=Internal(), perform=never_performs)  # type: ignore[arg-type]
    ctx.tools.register(prepare)  # type: ignore[arg-type]
    go.note(3)  # type: ignore[arg-type]
    go.accepted = None  # type: ignore[misc, assignment]


# -- prompt, models, files, undoing --------------------------------------------------------------


class Streams:
    """A model of another kind: an asynchronous iterator."""

    window = None

    async def __call__(self, request: Request) -> Reply:
        return Reply(content=request.system, finish="stop")


class Answers:
    window = None

    async def __call__(self, request: Request, emit: Emit) -> Reply:
        emit(Delta(text="hi"))
        return Reply(content=request.system, finish="stop")


def rest(ctx: PluginContext) -> None:
    ctx.models.register("a", Answers())
    ctx.defer(lambda: None)

    ctx.models.register("a", Streams())  # type: ignore[arg-type]
    ctx.models.register("a", Answers)  # type: ignore[arg-type]
    ctx.models.register(Answers())  # type: ignore[call-arg, arg-type]
    ctx.prompt.section("Rules", 3)  # type: ignore[arg-type]
    ctx.prompt.section("Rules")  # type: ignore[call-arg]
    ctx.defer(3)  # type: ignore[arg-type]
    ctx.defer(lambda text: None)  # type: ignore[arg-type, misc]
    ctx.workspace.apply()  # type: ignore[attr-defined]
    ctx.workspace.cwd = None  # type: ignore[misc]
    ctx.settings.max_steps = 3  # type: ignore[misc]
    assert ctx.setings.max_steps  # type: ignore[attr-defined]


# -- plugins -------------------------------------------------------------------------------------


def plain(_: PluginContext) -> None:
    return None


async def installs_later(_: PluginContext) -> None:
    return None


def takes_nothing() -> None:
    return None


first: Install = plain
second: Install = installs_later  # type: ignore[assignment]
third: Install = takes_nothing  # type: ignore[assignment]


# -- the ground ----------------------------------------------------------------------------------


async def ground(fall: Waterfall[int, str], scope: Scope, model: Model) -> Any:
    async def core(value: int) -> str:
        return str(value)

    async def other(value: str) -> str:
        return value

    await fall.run(1, core)

    await fall.run("1", core)  # type: ignore[arg-type]
    await fall.run(1, other)  # type: ignore[arg-type]
    await fall.run(1)  # type: ignore[call-arg]
    scope.defer("undo")  # type: ignore[arg-type]
    await model("request", print)  # type: ignore[arg-type]
