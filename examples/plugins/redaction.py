"""Keep what looks like a customer's number or an address away from the model."""

import re
from dataclasses import replace

from turnbuckle.agent.hooks import Decision, PreStep
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next

PATTERNS = {
    "customer": re.compile(r"\bC-\d{6,}\b"),
    "address": re.compile(r"\b[\w.+-]+@[\w-]+(\.[\w-]+)+\b"),
}


def redacted(text: str) -> str:
    """The text with a mark in place of each match."""
    for name, pattern in PATTERNS.items():
        text = pattern.sub(f"[{name}]", text)
    return text


def install(ctx: PluginContext) -> None:
    """Rewrite each message before its step; what is returned is what the model is shown."""

    async def hide(step: PreStep, next: Next[PreStep, Decision]) -> Decision:
        messages = tuple(replace(one, content=redacted(one.content)) for one in step.messages)
        return await next(replace(step, messages=messages))

    ctx.hooks.pre_step.use(hide)
