"""Notice a model that makes the same call over and over, and gets the same each time."""

from dataclasses import dataclass, field

import orjson

from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.session.events import TurnStart, UserMessage
from turnbuckle.session.parts import Call
from turnbuckle.tools.hooks import (
    Accept,
    Deny,
    Enrich,
    Executed,
    Execution,
    PostExecute,
    Replace,
)

HINT, DENY = 3, 5
"""At which same result in a row the model is told, and at which same call it is refused."""


@dataclass(slots=True)
class _Row:
    """The last call, its result, and how often in a row both were the same."""

    call: tuple[str, bytes] | None = None
    result: tuple[str | None, str] | None = None
    count: int = 0
    refused: set[str] = field(default_factory=set)

    def add(self, call: tuple[str, bytes], result: tuple[str | None, str]) -> int:
        """Take the next result in the model's order, and give how long the row is now."""
        same = call == self.call and result == self.result
        self.call, self.result = call, result
        self.count = self.count + 1 if same else 1
        return self.count

    def clear(self) -> None:
        """Begin anew."""
        self.call, self.result, self.count = None, None, 0
        self.refused.clear()


def install(ctx: PluginContext, *, hint: int = HINT, deny: int = DENY) -> None:
    """Say so at the third same result in a row, and deny the call from the fifth time on.

    Waiting for something to change is no repetition: another result begins a new row, as do
    another call and a word from the person.
    """
    row = _Row()

    def refuse(execution: Execution) -> Deny | None:
        if row.count < deny - 1 or _key(execution.call) != row.call:
            return None
        row.refused.add(execution.call.call_id)
        return Deny(
            f"the same call gave the same result {row.count} times in a row, so it was not run"
            " again; do something else, or say what stands in the way"
        )

    async def count(executed: Executed, next_layer: Next[Executed, PostExecute]) -> PostExecute:
        decision = await next_layer(executed)
        if executed.call.call_id in row.refused:
            return decision
        result = (executed.outcome.code, executed.outcome.content)
        times = row.add(_key(executed.call), result)
        return _hinted(decision, times) if times == hint else decision

    def start(_: TurnStart) -> None:
        row.clear()

    def heard(message: UserMessage) -> None:
        if message.source == "user":
            row.clear()

    ctx.hooks.guard(refuse)
    ctx.hooks.post_execute.use(count)
    ctx.on(TurnStart, start)
    ctx.on(UserMessage, heard)


def _hinted(decision: PostExecute, times: int) -> PostExecute:
    said = (
        f"The same call has given the same result {times} times in a row. Making it again will not"
        " help: look at what it says, and do something else or ask the person."
    )
    match decision:
        case Accept():
            return Enrich((said,))
        case Enrich(contexts):
            return Enrich((*contexts, said))
        case Replace(content):
            return Replace(f"{content}\n\n{said}")
        case _:
            return decision


def _key(call: Call) -> tuple[str, bytes]:
    """The call by its name and what its arguments mean, however they are spelt."""
    try:
        value = orjson.loads(call.arguments.strip() or "{}")
        return call.name, orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (ValueError, TypeError):  # no JSON, or nested deeper than can be written
        return call.name, call.arguments.encode("utf-8", "replace")
