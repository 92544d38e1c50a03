"""Whether a call may run: the layers, what stands without them, and the guards."""

from typing import assert_never

from turnbuckle.tools.hooks import Allow, Ask, Deny, Execution, PreExecute, ToolHooks
from turnbuckle.tools.subject import Change, Command, Internal, Question, Read
from turnbuckle.tools.tool import ToolError


async def judge(execution: Execution, hooks: ToolHooks) -> Allow | Ask:
    """What the layers say of a call, once no guard denies it.

    Raises:
        ToolError: DENIED, with the reason.
        Exception: what a layer or a guard raised; it never allows.
    """
    decision = await hooks.pre_execute.run(execution, innermost)
    if isinstance(decision, Deny):
        raise ToolError("DENIED", decision.reason)
    for guard in hooks.guards:
        denied: object = guard(execution)
        if isinstance(denied, Deny):
            raise ToolError("DENIED", denied.reason)
        if denied is not None:  # whatever it means, it is no permission
            raise ToolError("DENIED", f"a guard answered {type(denied).__name__}")
    return decision


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
