"""Lines that must not type-check: mypy fails on an ignore that is not needed.

Run by the type checker, never executed.
"""

from turnbuckle.agent.hooks import Decision, Enter, Hooks, PreStep, Stop
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.scope import Scope
from turnbuckle.kernel.waterfall import Next
from turnbuckle.model.port import Request
from turnbuckle.session.events import AssistantMessage, TurnEnd, TurnStart


async def stop(step: PreStep, next_: Next[PreStep, Decision]) -> Decision:
    return Stop("enough") if step.step > 3 else await next_(step)


async def wrong_value(request: Request, next_: Next[Request, Request]) -> Request:
    return await next_(request)


async def wrong_result(step: PreStep, _next: Next[PreStep, Decision]) -> str:
    return str(step)


def count(message: AssistantMessage) -> None:
    assert message.content


def misuse(ctx: PluginContext, hooks: Hooks, scope: Scope) -> None:
    hooks.pre_step.use(scope, stop)
    ctx.hooks.pre_step.use(stop)
    ctx.on(AssistantMessage, count)

    hooks.pre_step.use(stop)  # type: ignore[call-arg, arg-type]  # the owner is forgotten
    ctx.hooks.pre_step.use(wrong_value)  # type: ignore[arg-type]
    ctx.hooks.pre_step.use(wrong_result)  # type: ignore[arg-type]
    ctx.hooks.pre_stepp.use(stop)  # type: ignore[attr-defined]
    ctx.on(TurnStart, count)  # type: ignore[arg-type]
    ctx.on(str, count)  # type: ignore[type-var, arg-type]
    TurnEnd(turn=1, end="completed")  # type: ignore[arg-type]
    TurnStart(turn=1).turn = 2  # type: ignore[misc]
    Enter("text")  # type: ignore[arg-type]
