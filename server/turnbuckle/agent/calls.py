"""One step's calls: told apart, run, and their results committed in order."""

import secrets
from collections.abc import Collection
from dataclasses import replace

import anyio

from turnbuckle.agent.agent import Agent
from turnbuckle.session.codec import NotJson, scrub
from turnbuckle.session.events import ToolCall, ToolResult
from turnbuckle.session.parts import Call
from turnbuckle.tools.execute import Ports, error_text, execute, find, parse_arguments
from turnbuckle.tools.finalize import finalize
from turnbuckle.tools.hooks import Accept, Executed, PostExecute, settle
from turnbuckle.tools.schedule import Slot, schedule
from turnbuckle.tools.tool import Outcome, ToolError


def told_apart(calls: Collection[Call], used: Collection[str]) -> tuple[Call, ...]:
    """The calls of one answer with ids that are unique in the session.

    The same call twice (same provider id, name and arguments) is one call.
    """
    seen: dict[Call, None] = dict.fromkeys(calls)
    taken = set(used)
    result: list[Call] = []
    for call in seen if any(call.call_id for call in calls) else calls:
        call_id = call.call_id
        if not call_id or call_id in taken:
            call_id = f"call_{secrets.token_hex(8)}"
        taken.add(call_id)
        result.append(Call(call_id=call_id, name=scrub(call.name), arguments=scrub(call.arguments)))
    return tuple(result)


async def run_calls(agent: Agent, turn: int, step: int, calls: tuple[Call, ...]) -> None:
    """Run a step's calls; each gets exactly one result, on every way out.

    Raises:
        StoreFailed: the log could not be written.
    """
    limit = agent.settings.max_parallel_tool_calls
    slots = [Slot(call, parallel=limit > 1 and _is_parallel(agent, call)) for call in calls]
    ports = _ports(agent, limit)

    def begin(slot: Slot) -> None:
        if not slot.called:
            slot.called = True
            call = slot.call
            agent.session.append(
                ToolCall(
                    turn=turn,
                    step=step,
                    call_id=call.call_id,
                    name=call.name,
                    arguments=call.arguments,
                )
            )

    async def work(slot: Slot) -> Outcome:
        begin(slot)
        return await execute(slot, turn, step, ports)

    async def commit(slot: Slot) -> None:
        assert slot.outcome is not None
        outcome = await _judge(agent, slot, slot.outcome)
        _write(agent, turn, step, slot, await finalize(outcome, agent.blobs))

    def abandon(slot: Slot) -> None:
        begin(slot)
        code = "ABORTED" if slot.started else "ABORTED_BEFORE_DISPATCH"
        aborted = Outcome(content=error_text("the turn was stopped"), code=code)
        _write(agent, turn, step, slot, slot.outcome or aborted)

    await schedule(slots, work=work, commit=commit, abandon=abandon)


def _ports(agent: Agent, limit: int) -> Ports:
    session = agent.session
    return Ports(
        registry=agent.tools,
        hooks=agent.hooks.tools,
        workspace=agent.workspace,
        blobs=agent.blobs,
        ask=agent.approvals.ask,
        append=session.append,
        flush=session.flush,
        note=lambda call_id, text: session.note("tool/output", {"callId": call_id, "text": text}),
        slots=anyio.CapacityLimiter(limit),
    )


def _is_parallel(agent: Agent, call: Call) -> bool:
    try:
        tool = find(call, agent.tools)
        mode = tool.execution_mode
        return (
            mode(parse_arguments(tool, call.arguments)) if callable(mode) else mode
        ) == "parallel"
    except ToolError:
        return False  # it will fail in its place, alone


async def _judge(agent: Agent, slot: Slot, outcome: Outcome) -> Outcome:
    async def accept(_: Executed) -> PostExecute:
        return Accept()

    executed = Executed(call=slot.call, execution=slot.execution, outcome=outcome)
    try:
        return settle(outcome, await agent.hooks.tools.post_execute.run(executed, accept))
    except Exception as error:
        said = f"a layer of tools/post-execute failed: {type(error).__name__}: {error}"
        return Outcome(content=error_text(said), code="TOOL_FAILED", facts=outcome.facts)


def _write(agent: Agent, turn: int, step: int, slot: Slot, outcome: Outcome) -> None:
    call_id = slot.call.call_id
    result = ToolResult(
        turn=turn,
        step=step,
        call_id=call_id,
        content=scrub(outcome.content),
        is_error=outcome.code is not None,
        code=outcome.code,
        meta=outcome.meta,
    )
    try:
        agent.session.append(result)
    except NotJson as error:
        said = error_text(f"the result cannot be written down: {error}")
        agent.session.append(
            replace(result, content=said, is_error=True, code="TOOL_FAILED", meta=None)
        )
    slot.committed = True
    for fact in outcome.facts:
        agent.session.append(fact)
    for number, text in enumerate(outcome.contexts):
        key = f"{call_id}/context/{number}"
        agent.inbox.add(key, scrub(text), target="step", source="context")
