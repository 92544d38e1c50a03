"""Offer the tools that ship."""

from collections.abc import Sequence

from turnbuckle.agent.plugin import PluginContext
from turnbuckle.tools.builtin import builtin_tools


def install(ctx: PluginContext, *, environment: Sequence[str] = ()) -> None:
    """Register every one of them; commands inherit the variables that `environment` names, too."""
    for tool in builtin_tools(environment):
        ctx.tools.register(tool)
