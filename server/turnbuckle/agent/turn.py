"""One turn: steps until nothing is owed."""

from turnbuckle.agent.agent import Agent
from turnbuckle.agent.hooks import Decision, Enter, PreStep, Reject, Stop, TurnStopping
from turnbuckle.agent.inbox import owes_step
from turnbuckle.agent.pointed import messages_of
from turnbuckle.agent.step import run_step
from turnbuckle.model.port import Cut, cut
from turnbuckle.session.parts import End

_CUTS: dict[Cut, End] = {
    "limit": End(kind="max-tokens"),
    "filter": End(kind="stopped", reason="the provider's content filter cut the answer"),
    "break": End(kind="stopped", reason="the answer broke off without an end"),
}
"""How a turn ends whose answer was cut: it may hold half of what was meant, so nothing is run."""


async def run_turn(agent: Agent, turn: int) -> End:
    """Run steps until the model calls no tool and no input waits, or something ends the turn.

    Raises:
        Exception: what ended the turn as an error: a model, the store, a layer.
    """
    step = 0
    while True:
        step += 1
        claimed = agent.inbox.claim(turn, prompt=step == 1)
        system = await agent.prompt.assemble(agent.hooks)
        messages = tuple(m for item in claimed for m in messages_of(item, turn, step))
        decision = await _may_enter(agent, PreStep(turn=turn, step=step, messages=messages))
        keys = tuple(item.key for item in claimed)
        if not isinstance(decision, Enter):
            if step == 1:
                agent.inbox.drop(keys, "refused")
            else:
                agent.inbox.unclaim(keys)
            return _refused(decision)
        answer = await run_step(agent, turn, step, system, decision.messages)
        agent.inbox.drop(keys, "rewritten")
        if short := cut(answer.finish):
            return _CUTS[short]
        if answer.tool_calls or owes_step(agent.inbox):
            continue
        await agent.hooks.turn_stopping.run(TurnStopping(turn), _nothing)
        if not owes_step(agent.inbox):
            return End(kind="completed")


async def _may_enter(agent: Agent, pre_step: PreStep) -> Decision:
    async def enter(value: PreStep) -> Decision:
        if value.step > agent.settings.max_steps:
            return Stop("max-steps")
        return Enter(value.messages)

    return await agent.hooks.pre_step.run(pre_step, enter)


def _refused(decision: Reject | Stop) -> End:
    match decision:
        case Reject(reason):
            return End(kind="blocked", reason=reason)
        case Stop(reason):
            return End(kind="stopped", reason=reason)


async def _nothing(_: TurnStopping) -> None:
    return None
