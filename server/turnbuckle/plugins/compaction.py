"""Keep the conversation within the model's window, before it is full and when it was too full."""

from turnbuckle.agent.compaction import TAIL, THRESHOLD
from turnbuckle.agent.hooks import RequestFailure, Retry
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.model.port import Request


def install(ctx: PluginContext, *, threshold: float = THRESHOLD, tail: float = TAIL) -> None:
    """Make room above `threshold`; after an overflow once a step, and ask again if that helped.

    Both are shares of the window; the newest `tail` stays as it is. Where the window is not known,
    only an overflow tells. It stands outermost, so that it sees each request as it would be sent.
    """
    asked: tuple[str, Request] | None = None
    recovered: tuple[int, int] | None = None

    async def make_room(request: Request, next_layer: Next[Request, Request]) -> Request:
        nonlocal asked
        made = await next_layer(request)
        if made.why is None:
            await ctx.compactor.relieve(request.system, made, threshold=threshold, tail=tail)
            asked = (request.system, made)
        return made

    async def recover(
        failed: RequestFailure, next_layer: Next[RequestFailure, Retry | None]
    ) -> Retry | None:
        nonlocal recovered
        decided = await next_layer(failed)
        overflow = failed.failure.kind == "overflow" and failed.why is None
        if decided is not None or not overflow or asked is None:
            return decided
        if recovered == (failed.turn, failed.step):
            return None
        recovered = (failed.turn, failed.step)
        return Retry(0.0) if await ctx.compactor.recover(*asked, tail=tail) else None

    ctx.hooks.request.use(make_room, outermost=True)
    ctx.hooks.request_error.use(recover)
