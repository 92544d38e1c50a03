"""One step: a model request and the tool calls of its answer."""

from turnbuckle.agent.agent import Agent
from turnbuckle.agent.calls import run_calls, told_apart
from turnbuckle.agent.requests import ask_model
from turnbuckle.model.port import cut
from turnbuckle.session.codec import scrub
from turnbuckle.session.events import AssistantMessage, StepEnd, StepStart, UserMessage


async def run_step(
    agent: Agent, turn: int, step: int, system: str, messages: tuple[UserMessage, ...]
) -> AssistantMessage:
    """Enter the messages, ask the model once, run what it calls, and give its answer.

    Raises:
        ModelFailed: the request was not answered.
        StoreFailed: the log could not be written.
    """
    session = agent.session
    session.append(StepStart(turn=turn, step=step))
    for message in messages:
        session.append(message)
    answer: AssistantMessage | None = None
    try:
        reply = await ask_model(agent, turn, step, system)
        calls = () if cut(reply.finish) else told_apart(reply.tool_calls, session.call_ids)
        answer = AssistantMessage(
            turn=turn,
            step=step,
            content=scrub(reply.content),
            reasoning=scrub(reply.reasoning) if reply.reasoning is not None else None,
            tool_calls=calls,
            finish=reply.finish,
            usage=reply.usage,
        )
        session.append(answer)
        if calls:
            await run_calls(agent, turn, step, calls)
        return answer
    finally:
        ran = len(answer.tool_calls) if answer else 0
        session.append(StepEnd(turn=turn, step=step, tool_calls=ran))
