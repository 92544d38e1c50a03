"""Stop a turn that has used up its tokens."""

from turnbuckle.agent.hooks import Decision, PreStep, Stop
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.session.events import AssistantMessage, TurnStart

LIMIT = 50_000
"""Tokens that one turn may use, all its requests and answers together."""


def install(ctx: PluginContext) -> None:
    """Count what the model answers; stop before the step that would go on above the limit."""
    used = 0

    def reset(_: TurnStart) -> None:
        nonlocal used
        used = 0

    def count(message: AssistantMessage) -> None:
        nonlocal used
        used += message.usage.total if message.usage else 0

    async def stop_if_over(step: PreStep, next: Next[PreStep, Decision]) -> Decision:
        return Stop("token budget exceeded") if used > LIMIT else await next(step)

    ctx.on(TurnStart, reset)
    ctx.on(AssistantMessage, count)
    ctx.hooks.pre_step.use(stop_if_over)
