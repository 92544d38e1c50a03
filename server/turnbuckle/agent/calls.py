"""One step's calls: told apart, run, and their results committed in order."""

import secrets
from collections.abc import Collection
from dataclasses import replace

import anyio

from turnbuckle.agent.agent import Agent
from turnbuckle.kernel.failures import told
from turnbuckle.kernel.stopping import FAILURES, is_failure
from turnbuckle.session import codec
from turnbuckle.session.codec import NotJson, scrub
from turnbuckle.session.events import ToolCall, ToolResult
from turnbuckle.session.parts import Call
from turnbuckle.tools.arguments import is_parallel
from turnbuckle.tools.execute import Ports, error_text, execute
from turnbuckle.tools.finalize import finalize, finalize_now
from turnbuckle.tools.hooks import Accept, Executed, PostExecute, separate, settle
from turnbuckle.tools.schedule import Slot, schedule
from turnbuckle.tools.tool import Outcome

_ABORTED: dict[str, str] = {
    "ABORTED": "cancelled while it ran; what it did until then is unknown, look before repeating",
    "ABORTED_BEFORE_DISPATCH": "cancelled before it was started",
}
"""What the model is told of a call whose turn was stopped, by its code."""


def told_apart(calls: Collection[Call], used: Collection[str]) -> tuple[Call, ...]:
    """The calls of one answer with ids that are unique in the session.

    The same call twice (same provider id, name and arguments) is one call.
    """
    seen: set[Call] = set()
    taken = set(used)
    result: list[Call] = []
    for call in calls:
        if call.call_id and call in seen:
            continue
        seen.add(call)
        call_id = scrub(call.call_id)
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
    limit = max(1, agent.settings.max_parallel_tool_calls)
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
        # Kept at once: a cancel from here on must not bring back what a layer withheld.
        slot.outcome = await _judge(agent, slot, slot.outcome)
        _write(agent, turn, step, slot, await finalize(slot.outcome, agent.blobs))

    def abandon(slot: Slot) -> None:
        begin(slot)
        code = "ABORTED" if slot.started else "ABORTED_BEFORE_DISPATCH"
        aborted = Outcome(content=error_text(_ABORTED[code]), code=code)
        kept = aborted if slot.outcome is None else writable(slot.outcome)
        _write(agent, turn, step, slot, finalize_now(kept, agent.blobs))

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
        return is_parallel(call, agent.tools)
    except FAILURES:
        return False  # it will fail in its place, alone


async def _judge(agent: Agent, slot: Slot, outcome: Outcome) -> Outcome:
    async def accept(_: Executed) -> PostExecute:
        return Accept()

    outcome = writable(outcome)
    executed = Executed(call=slot.call, execution=slot.execution, outcome=outcome)
    try:
        decision = await agent.hooks.tools.post_execute.run(executed, accept)
        return writable(settle(outcome, decision))
    except FAILURES as error:
        if not is_failure(error):
            raise
        said = f"a layer of tools/post-execute failed: {told(error)}"
        return Outcome(content=error_text(said), code="TOOL_FAILED", facts=outcome.facts)


def writable(outcome: Outcome) -> Outcome:
    """The outcome, if it can be written down as it is; else an error that says why it cannot."""
    try:
        codec.sealed(_result(1, 1, "", outcome))
        for fact in outcome.facts:
            codec.sealed(fact)
        contexts = tuple(map(scrub, separate(outcome.contexts)))
        return replace(outcome, content=scrub(outcome.content), contexts=contexts)
    except Exception as error:
        why = str(error) if isinstance(error, NotJson) else told(error)
        said = f"the result cannot be written down: {why}"
        return Outcome(content=error_text(said), code="TOOL_FAILED")


def _result(turn: int, step: int, call_id: str, outcome: Outcome) -> ToolResult:
    return ToolResult(
        turn=turn,
        step=step,
        call_id=call_id,
        content=scrub(outcome.content),
        is_error=outcome.code is not None,
        code=outcome.code,
        meta=outcome.meta,
    )


def _write(agent: Agent, turn: int, step: int, slot: Slot, outcome: Outcome) -> None:
    call_id = slot.call.call_id
    agent.session.append(_result(turn, step, call_id, outcome))
    slot.committed = True
    for fact in outcome.facts:
        agent.session.append(fact)
    for number, text in enumerate(outcome.contexts):
        key = f"{call_id}/context/{number}"
        agent.inbox.add(key, text, target="step", source="context")
