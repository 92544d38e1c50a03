"""Give every tool a time limit of its own."""

import anyio

from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.tools.hooks import Execution
from turnbuckle.tools.tool import Change, Outcome, ToolError

LIMITS = {"search": 20.0}
OTHERS = 120.0
"""Seconds."""


def install(ctx: PluginContext, *, limits: dict[str, float] = LIMITS) -> None:
    """Cancel a body that takes too long; the model reads that it did, and goes on."""

    async def limit(execution: Execution, next: Next[Execution, Outcome]) -> Outcome:
        if isinstance(execution.prepared.subject, Change):
            return await next(execution)  # it waits for the person, who may take all day
        name = execution.tool.name
        seconds = limits.get(name, OTHERS)
        with anyio.move_on_after(seconds):
            return await next(execution)
        raise ToolError("TIMEOUT", f"{name} took longer than {seconds:g} s")

    ctx.hooks.execute.use(limit)
