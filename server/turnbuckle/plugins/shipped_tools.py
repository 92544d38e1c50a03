"""Offer the tools that ship."""

from turnbuckle.agent.plugin import PluginContext
from turnbuckle.tools.builtin import builtin_tools


def install(ctx: PluginContext) -> None:
    """Register every one of them."""
    for tool in builtin_tools():
        ctx.tools.register(tool)
