"""Let another model answer where the first one does not."""

from collections.abc import Sequence
from dataclasses import replace

from turnbuckle.agent.hooks import RequestFailure, Retry
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.model.port import Request
from turnbuckle.session.events import LlmStream, TurnStart
from turnbuckle.session.parts import FailureKind

ELSEWHERE: frozenset[FailureKind] = frozenset(
    {"auth", "quota", "rate-limit", "server", "timeout", "transport", "empty", "model"}
)
"""Failures of a model or its provider, after which another one may well answer the same."""


def install(ctx: PluginContext, *, models: Sequence[str]) -> None:
    """Ask these models, registered in the session, one after another, once nothing else helps.

    The one that took over answers to the end of the turn; the next turn begins with the first
    model again. Layers below, such as one that retries, see the attempts of each model counted
    from 1.
    """
    failover = _Failover(ctx, models)
    ctx.on(TurnStart, failover.start)
    ctx.on(LlmStream, failover.sent)
    ctx.hooks.request.use(failover.stand_in)
    ctx.hooks.request_error.use(failover.take_over)


class _Failover:
    """Which model answers: the one that a request names, or one that took over in this turn."""

    def __init__(self, ctx: PluginContext, models: Sequence[str]) -> None:
        self._ctx = ctx
        self._models = tuple(models)
        self._next = 0
        self._taken: str | None = None
        self._asked = ""
        self._before = 0

    def start(self, _: TurnStart) -> None:
        """Begin with the first model again."""
        self._next, self._taken = 0, None

    def sent(self, stream: LlmStream) -> None:
        """See which model is asked; with a first attempt, all are counted from 1."""
        self._asked = stream.model
        if stream.attempt == 1 and stream.why is None:
            self._before = 0

    async def stand_in(self, request: Request, next_layer: Next[Request, Request]) -> Request:
        """Name the model that took over."""
        if self._taken is not None:
            request = replace(request, config=replace(request.config, model=self._taken))
        return await next_layer(request)

    async def take_over(
        self, failed: RequestFailure, next_layer: Next[RequestFailure, Retry | None]
    ) -> Retry | None:
        """Go on with the next model where the layers below give up."""
        before = self._before if failed.why is None else 0
        decided = await next_layer(replace(failed, attempt=failed.attempt - before))
        if decided is not None or failed.failure.kind not in ELSEWHERE:
            return decided
        while self._next < len(self._models):
            self._taken = self._models[self._next]
            self._next += 1
            if self._taken != self._asked:
                self._before = failed.attempt if failed.why is None else self._before
                why = f"{self._asked} does not answer ({failed.failure.kind})"
                said = f"{why}; {self._taken} is asked for the rest of this turn"
                self._ctx.session.note("status", {"text": said})
                return Retry(0.0)
        return None
