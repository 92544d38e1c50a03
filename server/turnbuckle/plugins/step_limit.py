"""Ask the person whether a turn that has had many steps is to go on."""

from turnbuckle.agent.hooks import Decision, PreStep, Stop
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.session.events import TurnStart

STEPS = 100
"""Steps that a turn may have before the person is asked, and again after each yes."""

REASON = "max-steps"
STOP = "Stop"


def install(ctx: PluginContext, *, steps: int = STEPS) -> None:
    """Ask when `steps` are used up; whatever is not a yes ends the turn, and no answer waits.

    A yes is good for as many steps again, in this turn only.
    """
    allowed = steps
    more = f"Go on for {steps} more steps" if steps > 1 else "Go on for 1 more step"

    def reset(_: TurnStart) -> None:
        nonlocal allowed
        allowed = steps

    async def ask_on(step: PreStep, next_layer: Next[PreStep, Decision]) -> Decision:
        nonlocal allowed
        if step.step > allowed:
            said = f"This turn has had {step.step - 1:,} steps and is not done. Go on?"
            if await ctx.session.ask(said, (more, STOP)) != more:
                return Stop(REASON)
            allowed = step.step - 1 + steps
        return await next_layer(step)

    ctx.on(TurnStart, reset)
    ctx.hooks.pre_step.use(ask_on)
