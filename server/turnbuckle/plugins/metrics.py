"""Count the calls of each tool and the time they take, and keep that with each turn."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.session.events import TurnEnd, TurnStart
from turnbuckle.tools.hooks import Executed, Execution, PostExecute
from turnbuckle.tools.tool import Outcome


@dataclass(slots=True)
class _Tally:
    """Of one tool in one turn; `seconds` is the time in its body, waiting for answers excluded."""

    calls: int = 0
    failed: int = 0
    runs: int = 0
    seconds: float = 0.0


def install(ctx: PluginContext, *, clock: Callable[[], float] = time.monotonic) -> None:
    """Keep `plugin/metrics` {turn, tools: {name: {calls, failed, runs, ms}}} when a turn ends.

    Calls are those that got a result, denied ones included; a turn without any keeps nothing.
    `clock` gives seconds that never go back.
    """
    tools: dict[str, _Tally] = {}

    async def timed(execution: Execution, next_layer: Next[Execution, Outcome]) -> Outcome:
        tally = tools.setdefault(execution.tool.name, _Tally())
        tally.runs += 1
        begun = clock()
        try:
            return await next_layer(execution)
        finally:
            tally.seconds += clock() - begun

    async def count(executed: Executed, next_layer: Next[Executed, PostExecute]) -> PostExecute:
        tally = tools.setdefault(executed.call.name, _Tally())
        tally.calls += 1
        tally.failed += executed.outcome.code is not None
        return await next_layer(executed)

    def start(_: TurnStart) -> None:
        tools.clear()

    def end(turn: TurnEnd) -> None:
        if tools:
            ctx.session.keep({"turn": turn.turn, "tools": {n: _row(t) for n, t in tools.items()}})

    ctx.hooks.execute.use(timed)
    ctx.hooks.post_execute.use(count)
    ctx.on(TurnStart, start)
    ctx.on(TurnEnd, end)


def _row(tally: _Tally) -> dict[str, int]:
    return {
        "calls": tally.calls,
        "failed": tally.failed,
        "runs": tally.runs,
        "ms": round(tally.seconds * 1000),
    }
