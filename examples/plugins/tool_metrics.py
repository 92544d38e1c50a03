"""Measure the tools: how often each was run, how long it took, how often it failed."""

import time
from collections import defaultdict

from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.session.events import ToolResult, TurnEnd
from turnbuckle.tools.hooks import Execution
from turnbuckle.tools.tool import Outcome


def install(ctx: PluginContext) -> None:
    """Stand around each call; keep a fact of what there was at the end of each turn."""
    counts: dict[str, int] = defaultdict(int)
    seconds: dict[str, float] = defaultdict(float)
    failures = 0

    async def measure(execution: Execution, next: Next[Execution, Outcome]) -> Outcome:
        began = time.perf_counter()
        try:
            return await next(execution)
        finally:
            counts[execution.tool.name] += 1
            seconds[execution.tool.name] += time.perf_counter() - began

    def look(result: ToolResult) -> None:
        nonlocal failures
        failures += result.is_error

    def keep(_: TurnEnd) -> None:
        ctx.session.keep({"counts": counts, "seconds": seconds, "failures": failures})

    ctx.hooks.execute.use(measure)
    ctx.on(ToolResult, look)
    ctx.on(TurnEnd, keep)
