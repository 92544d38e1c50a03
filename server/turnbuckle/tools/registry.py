"""Which tools there are now."""

import difflib
from typing import Any, TypeAlias

from turnbuckle.kernel.scope import Disposer, Scope
from turnbuckle.model.port import ToolSpec
from turnbuckle.session import codec
from turnbuckle.tools.tool import Tool

AnyTool: TypeAlias = Tool[Any]  # Any: a registry holds tools of every argument type


class DuplicateTool(ValueError):
    """A tool of this name is registered already."""


class ToolRegistry:
    """The tools of one session, by name."""

    def __init__(self) -> None:
        self._tools: dict[str, tuple[AnyTool, ToolSpec]] = {}

    def register(self, scope: Scope, tool: AnyTool) -> Disposer:
        """Add a tool that leaves with its scope; it is offered from the next step on.

        Raises:
            DuplicateTool: its name is taken.
            NotJson: what it says of itself cannot be written down.
        """
        if tool.name in self._tools:
            raise DuplicateTool(f"a tool named {tool.name} is registered already")
        schema = tool.parameters.model_json_schema()
        schema.pop("title", None)
        spec = ToolSpec(name=tool.name, description=tool.description, parameters=schema)
        codec.encode(spec)  # now, and not in every request

        def remove() -> None:
            self._tools = {name: pair for name, pair in self._tools.items() if pair[0] is not tool}

        dispose = scope.defer(remove, f"tool {tool.name}")
        self._tools = self._tools | {tool.name: (tool, spec)}
        return dispose

    def get(self, name: str) -> AnyTool | None:
        """The tool of this name, or None."""
        pair = self._tools.get(name)
        return pair[0] if pair else None

    def specs(self) -> tuple[ToolSpec, ...]:
        """All tools as a model is told of them, in the order in which they came."""
        return tuple(spec for _, spec in self._tools.values())

    def like(self, name: str) -> list[str]:
        """Names that are close to one that is not there."""
        return difflib.get_close_matches(name, self._tools, n=3)
