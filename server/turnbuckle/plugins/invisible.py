"""Let nothing reach the model from files and tools that the person could not see there."""

from dataclasses import replace

from turnbuckle.agent.hooks import Decision, Enter, PreStep
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.session.events import UserMessage
from turnbuckle.tools.hooks import Execution
from turnbuckle.tools.tool import Outcome
from turnbuckle.workspace.unseen import Seen, seen


def install(ctx: PluginContext) -> None:
    """Clean what tools give and what others than the person add, and say how much that was.

    Words in letters that are never shown are removed, what else is invisible is written out. What
    the person types stays as it is.
    """

    def tell(found: Seen, where: str) -> None:
        ctx.session.note("status", {"text": f"{_counted(found)} in {where}"})

    async def entering(step: PreStep, next_layer: Next[PreStep, Decision]) -> Decision:
        decision = await next_layer(step)
        if not isinstance(decision, Enter):
            return decision
        return Enter(tuple(cleaned(message) for message in decision.messages))

    def cleaned(message: UserMessage) -> UserMessage:
        found = seen(message.content) if message.source != "user" else Seen(message.content)
        if not found.count:
            return message
        tell(found, message.content.partition("\n")[0][:80])
        return replace(message, content=f"{found.text}\n[{_counted(found)}]")

    async def running(execution: Execution, next_layer: Next[Execution, Outcome]) -> Outcome:
        outcome = await next_layer(execution)
        found = seen(outcome.content)
        if not found.count:
            return outcome
        tell(found, f"what {execution.call.name} gave")
        return replace(outcome, content=f"{found.text}\n[{_counted(found)}]")

    ctx.hooks.pre_step.use(entering)
    ctx.hooks.execute.use(running)


def _counted(found: Seen) -> str:
    parts = [
        f"{count} invisible character{'s' * (count != 1)} {how}"
        for count, how in ((found.removed, "removed"), (found.marked, "written out"))
        if count
    ]
    return " and ".join(parts)
