"""Give up a tool that takes too long."""

from collections.abc import Mapping

import anyio

from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.tools.hooks import Execution
from turnbuckle.tools.tool import Change, Command, Outcome, Question, ToolError

LIMIT = 600.0
"""Seconds that a call may take where nothing else is set."""

UNLIMITED: Mapping[str, float] = {"task": 0.0}
"""Tools that take as long as they take, by name, unless a limit is set for them."""


def install(
    ctx: PluginContext, *, limit: float = LIMIT, limits: Mapping[str, float] | None = None
) -> None:
    """Stop the body of a call after `limit` seconds, or those that `limits` has for its tool.

    0 is no limit. A command has its own limit, unless `limits` names its tool. Changes and
    questions have none at all: they wait for the person.
    """
    named = {**UNLIMITED, **(limits or {})}

    def limit_of(execution: Execution) -> float:
        match execution.prepared.subject:
            case Change() | Question():
                return 0.0
            case Command():
                return named.get(execution.tool.name, 0.0)
            case _:
                return named.get(execution.tool.name, limit)

    async def within(execution: Execution, next_layer: Next[Execution, Outcome]) -> Outcome:
        seconds = limit_of(execution)
        if not seconds:
            return await next_layer(execution)
        with anyio.move_on_after(seconds):
            # What came to an end in spite of the limit counts.
            return await next_layer(execution)
        raise ToolError(
            "TIMEOUT", f"{execution.tool.name} took longer than {seconds:g} s and was stopped"
        )

    ctx.hooks.execute.use(within)
