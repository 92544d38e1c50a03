"""The pipeline of one call: it never raises for a tool's failure."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

import anyio

from turnbuckle.kernel.failures import told
from turnbuckle.kernel.stopping import FAILURES, is_failure
from turnbuckle.session.blobs import Blobs
from turnbuckle.session.events import Fact, ToolStart
from turnbuckle.session.store import StoreFailed
from turnbuckle.tools.arguments import find, parse_arguments
from turnbuckle.tools.hooks import Ask, Execution, ToolHooks
from turnbuckle.tools.judging import judge
from turnbuckle.tools.registry import ToolRegistry
from turnbuckle.tools.schedule import Slot
from turnbuckle.tools.subject import Change
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
    """What the pipeline needs of a session: nothing here knows what a session is.

    `slots` bounds how many calls prepare or perform at once; what waits for the person holds none.
    """

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
        async with ports.slots:
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
    except FAILURES as error:
        if not is_failure(error):
            raise
        return _failed(call.name, error)


def error_text(message: str) -> str:
    """How every failure of a call reads to the model."""
    return f"<tool error: {message}>"


def _failed(name: str, error: BaseException) -> Outcome:
    match error:
        case ToolError():
            return Outcome(content=error_text(str(error)), code=error.code, meta=error.meta)
        case WorkspaceError():
            return Outcome(content=error_text(str(error)), code=error.code)
        case NoFolder():
            return Outcome(content=error_text(str(error)), code="OUTSIDE")
        case TimeoutError():
            said = str(error) or "it took longer than it may"
            return Outcome(content=error_text(said), code="TIMEOUT")
        case _:
            logger.error("the call of %s failed", name, exc_info=error)
            return Outcome(content=error_text(told(error)), code="TOOL_FAILED")


async def _permit(execution: Execution, ports: Ports) -> Permission:
    """Judge a call, and ask where that is the judgement.

    Raises:
        ToolError: DENIED.
    """
    decision = await judge(execution, ports.hooks)
    if not isinstance(decision, Ask):
        return allow_all(execution)
    permission = await ports.ask(execution, decision.reason)
    if not permission.allowed:
        raise ToolError("DENIED", permission.why)
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
    unwritten: list[StoreFailed] = []

    async def record(fact: Fact) -> None:
        ports.append(fact)
        try:
            await ports.flush()
        except StoreFailed as error:
            unwritten.append(error)
            raise
        unwritten.clear()

    async def body(current: Execution) -> Outcome:
        nonlocal attempt
        _require_same(current, execution, ports.registry)
        attempt += 1
        await record(ToolStart(call_id=call_id, attempt=attempt))
        slot.started = True
        outcome: object = await execution.prepared.perform(go)
        if not isinstance(outcome, Outcome):
            raise ToolError("TOOL_FAILED", f"the tool answered {type(outcome).__name__}")
        return outcome

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
        try:
            outcome = await ports.hooks.execute.run(execution, body)
        except Exception:
            if not unwritten:
                raise
    if unwritten:  # whatever a layer or the tool made of it
        raise unwritten[0]
    return outcome


def _require_same(current: Execution, approved: Execution, registry: ToolRegistry) -> None:
    """Pass if a layer hands on the call that was judged, and its tool is still there.

    Raises:
        ToolError: it does not, or the tool was removed while the call waited.
    """
    if current.prepared is not approved.prepared:
        raise ToolError("TOOL_FAILED", "a layer passed on another call than the one approved")
    if registry.get(approved.call.name) is not approved.tool:
        raise ToolError("UNKNOWN_TOOL", f"the tool {approved.call.name!r} was removed")
