"""The pipeline of one call: it never raises for a tool's failure."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias, assert_never

import anyio
import orjson
from pydantic import BaseModel, ValidationError

from turnbuckle.session.blobs import Blobs
from turnbuckle.session.events import Fact, ToolStart
from turnbuckle.session.parts import Call
from turnbuckle.session.store import StoreFailed
from turnbuckle.tools.hooks import Allow, Ask, Deny, Execution, PreExecute, ToolHooks
from turnbuckle.tools.registry import AnyTool, ToolRegistry
from turnbuckle.tools.schedule import Slot
from turnbuckle.tools.subject import Change, Command, Internal, Question, Read
from turnbuckle.tools.tool import Go, Outcome, ToolError, Verdict
from turnbuckle.workspace.paths import NoFolder
from turnbuckle.workspace.port import Workspace, WorkspaceError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """The person's answer, or the policy's: what may be performed.

    `accepted` and `verdict` as in `Go`; `close` settles what is still open when the call ends.
    """

    allowed: bool
    why: str
    accepted: Callable[[], AsyncIterator[tuple[str, ...]]]
    verdict: Callable[[], Verdict]
    answer: str | None = None
    close: Callable[[], None] = lambda: None


AskPerson: TypeAlias = Callable[[Execution, str], Awaitable[Permission]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """What the pipeline needs of a session: nothing here knows what a session is."""

    registry: ToolRegistry
    hooks: ToolHooks
    workspace: Workspace
    blobs: Blobs
    ask: AskPerson
    append: Callable[[Fact], object]
    flush: Callable[[], Awaitable[None]]
    note: Callable[[str, str], None]
    slots: anyio.CapacityLimiter


async def execute(slot: Slot, turn: int, step: int, ports: Ports) -> Outcome:
    """Validate, prepare, judge, ask and perform one call.

    Raises:
        StoreFailed: the log could not be written, so nothing was run; it ends the turn.
    """
    call = slot.call
    try:
        tool = find(call, ports.registry)
        arguments = parse_arguments(tool, call.arguments)
        prepared = await tool.prepare(arguments, ports.workspace)
        slot.execution = Execution(
            turn=turn, step=step, call=call, tool=tool, arguments=arguments, prepared=prepared
        )
        permission = await _permit(slot.execution, ports)
        try:
            return await _perform(slot, slot.execution, permission, ports)
        finally:
            permission.close()
    except StoreFailed:
        raise
    except (ToolError, WorkspaceError) as error:
        meta = error.meta if isinstance(error, ToolError) else None
        return Outcome(content=error_text(str(error)), code=error.code, meta=meta)
    except NoFolder as error:
        return Outcome(content=error_text(str(error)), code="OUTSIDE")
    except Exception as error:
        logger.exception("the call of %s failed", call.name)
        said = f"{type(error).__name__}: {error}"
        return Outcome(content=error_text(said), code="TOOL_FAILED")


def error_text(message: str) -> str:
    """How every failure of a call reads to the model."""
    return f"<tool error: {message}>"


def find(call: Call, registry: ToolRegistry) -> AnyTool:
    """The tool that a call names.

    Raises:
        ToolError: UNKNOWN_TOOL, with close names.
    """
    tool = registry.get(call.name)
    if tool is None:
        like = ", ".join(registry.like(call.name))
        hint = f"; did you mean {like}?" if like else ""
        raise ToolError("UNKNOWN_TOOL", f"there is no tool named {call.name!r}{hint}")
    return tool


def parse_arguments(tool: AnyTool, raw: str) -> BaseModel:
    """The validated arguments; JSON is never repaired.

    Raises:
        ToolError: INVALID_ARGS, naming every violation.
    """
    try:
        value = orjson.loads(raw) if raw.strip() else {}
    except orjson.JSONDecodeError as error:
        raise ToolError("INVALID_ARGS", f"the arguments are not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ToolError("INVALID_ARGS", "the arguments must be a JSON object")
    try:
        arguments: BaseModel = tool.parameters.model_validate(value)
    except ValidationError as error:
        faults = (
            f"{'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_input=False)
        )
        raise ToolError("INVALID_ARGS", "; ".join(faults)) from error
    return arguments


async def innermost(execution: Execution) -> PreExecute:
    """What stands when no layer says otherwise: nothing is allowed by accident."""
    subject = execution.prepared.subject
    match subject:
        case Internal():
            return Allow()
        case Read(places=places) if all(p.inside and not p.secret for p in places):
            return Allow()
        case Read():
            return Ask("it reads outside the workspace, or something that looks secret")
        case Command():
            return Ask("commands are asked about first")
        case Change():
            return Ask("changes are asked about first")
        case Question():
            return Ask("it is a question")
        case _:
            assert_never(subject)  # and an error never allows


async def _permit(execution: Execution, ports: Ports) -> Permission:
    """Judge a call, and ask where that is the judgement.

    Raises:
        ToolError: DENIED, or UNKNOWN_TOOL where the tool went away meanwhile.
    """
    decision = await ports.hooks.pre_execute.run(execution, innermost)
    if isinstance(decision, Deny):
        raise ToolError("DENIED", decision.reason)
    for guard in ports.hooks.guards.values():
        if denied := guard(execution):
            raise ToolError("DENIED", denied.reason)
    # Whatever is not exactly an Allow is asked: nothing is allowed by accident.
    if not isinstance(decision, Allow):
        permission = await ports.ask(execution, decision.reason)
    else:
        permission = allow_all(execution)
    if not permission.allowed:
        raise ToolError("DENIED", permission.why)
    if ports.registry.get(execution.call.name) is not execution.tool:
        permission.close()
        raise ToolError("UNKNOWN_TOOL", f"the tool {execution.call.name!r} was removed")
    return permission


def allow_all(execution: Execution) -> Permission:
    """The permission to do all of it."""
    subject = execution.prepared.subject
    hunks = subject.hunk_ids if isinstance(subject, Change) else ()

    async def accepted() -> AsyncIterator[tuple[str, ...]]:
        if hunks:
            yield hunks

    return Permission(allowed=True, why="", accepted=accepted, verdict=Verdict)


async def _perform(
    slot: Slot, execution: Execution, permission: Permission, ports: Ports
) -> Outcome:
    call_id = slot.call.call_id
    attempt = 0

    async def record(fact: Fact) -> None:
        ports.append(fact)
        await ports.flush()

    async def body(current: Execution) -> Outcome:
        nonlocal attempt
        attempt += 1
        await record(ToolStart(call_id=call_id, attempt=attempt))
        slot.started = True
        return await current.prepared.perform(go)

    go = Go(
        call_id=call_id,
        accepted=permission.accepted,
        verdict=permission.verdict,
        record=record,
        note=lambda text: ports.note(call_id, text),
        blobs=ports.blobs,
        answer=permission.answer,
    )
    async with ports.slots:
        return await ports.hooks.execute.run(execution, body)
