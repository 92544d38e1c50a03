"""Ask another provider for the rest of a turn in which the first one failed."""

from dataclasses import replace

from turnbuckle.agent.hooks import RequestFailure, Retry
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.model.openai_chat import OpenAIChat
from turnbuckle.model.port import Request
from turnbuckle.session.events import TurnStart

URL, BACKUP = "http://127.0.0.1:11434/v1", "qwen3:8b"


def install(ctx: PluginContext, *, url: str = URL, backup: str = BACKUP) -> None:
    """Send the same step to the backup, unless it was the backup that failed."""
    failed = False

    def reset(_: TurnStart) -> None:
        nonlocal failed
        failed = False

    async def divert(request: Request, next: Next[Request, Request]) -> Request:
        config = replace(request.config, model=backup) if failed else request.config
        return await next(replace(request, config=config))

    async def again(why: RequestFailure, next: Next[RequestFailure, Retry | None]) -> Retry | None:
        nonlocal failed
        if failed or why.failure.kind == "overflow":  # as long there as here
            return await next(why)
        failed = True
        return Retry(after=0)

    model = OpenAIChat(url)
    ctx.defer(model.aclose, "the connection to the backup")
    ctx.models.register(backup, model)
    ctx.on(TurnStart, reset)
    ctx.hooks.request.use(divert)
    ctx.hooks.request_error.use(again)
