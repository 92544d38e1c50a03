"""Let a small model on this machine go on where the big one has begun."""

from dataclasses import replace

from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.model.openai_chat import OpenAIChat
from turnbuckle.model.port import Request
from turnbuckle.session.events import StepStart

URL = "http://127.0.0.1:11434/v1"
SMALL = "qwen3:8b"


def install(ctx: PluginContext, *, url: str = URL, small: str = SMALL) -> None:
    """Ask the session's own model first in each turn, and the small one in all later steps."""
    step = 1

    def remember(start: StepStart) -> None:
        nonlocal step
        step = start.step

    async def route(request: Request, next: Next[Request, Request]) -> Request:
        if step > 1:
            request = replace(request, config=replace(request.config, model=small))
        return await next(request)

    model = OpenAIChat(url)
    ctx.defer(model.aclose, "the connection to the small model")
    ctx.models.register(small, model)
    ctx.on(StepStart, remember)
    ctx.hooks.request.use(route)
