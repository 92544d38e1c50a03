"""The plugins that ship, in the order in which they are installed: the first stands outermost."""

from collections.abc import Sequence

from turnbuckle.agent.plugin import Install
from turnbuckle.app.models import Models
from turnbuckle.plugins import ground_rules, retry, shipped_tools


def shipped(models: Models) -> Sequence[tuple[str, Install]]:
    """Names and installs; a configuration can leave none of these out."""
    return (
        ("model", models.plugin),
        ("ground_rules", ground_rules.install),
        ("shipped_tools", shipped_tools.install),
        ("retry", retry.install),
    )
