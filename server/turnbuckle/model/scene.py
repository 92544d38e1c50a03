"""What the script of the demo model looks at: a request, as a turn so far."""

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import orjson

from turnbuckle.model.port import Request
from turnbuckle.session.events import AssistantMessage, ToolResult, UserMessage
from turnbuckle.session.parts import JsonObject


@dataclass(frozen=True)
class Done:
    """One call of the turn with what came of it."""

    name: str
    arguments: JsonObject
    result: ToolResult

    @property
    def ok(self) -> bool:
        """Whether the result is no error."""
        return not self.result.is_error


class Scene:
    """What the script looks at: the turn so far, and the tools there are."""

    def __init__(self, request: Request) -> None:
        said = [m for m in request.messages if isinstance(m, AssistantMessage)]
        asked = [m for m in request.messages if isinstance(m, UserMessage) and m.source == "user"]
        self.turn = asked[-1].turn if asked else 0
        self.wishes = "\n".join(m.content for m in asked if m.turn == self.turn)
        self.first = not said
        self.earlier = any(m.turn < self.turn for m in said)
        self._calls = [(m.turn, call) for m in said for call in m.tool_calls]
        self._results = {m.call_id: m for m in request.messages if isinstance(m, ToolResult)}
        self._tools = {tool.name for tool in request.tools}

    @property
    def count(self) -> int:
        """How many calls were made in the session."""
        return len(self._calls)

    def can(self, *names: str) -> bool:
        """Whether all these tools are offered."""
        return self._tools.issuperset(names)

    def done(self, name: str) -> list[Done]:
        """The calls of one tool in this turn that have a result."""
        return [done for done in self.all_done if done.name == name]

    @cached_property
    def all_done(self) -> list[Done]:
        """Every call of this turn that has a result."""
        return [
            Done(call.name, _arguments(call.arguments), self._results[call.call_id])
            for turn, call in self._calls
            if turn == self.turn and call.call_id in self._results
        ]

    @cached_property
    def files(self) -> list[str]:
        """The paths that were listed in this turn."""
        listed = [done.result.content for done in self.done("list_files") if done.ok]
        lines = (line.strip().removeprefix("./") for text in listed for line in text.splitlines())
        return [line for line in lines if line]

    def read(self, path: str) -> str | None:
        """What a file was read as in this turn, if that went well."""
        reads = [done for done in self.done("read_file") if done.arguments.get("path") == path]
        return reads[-1].result.content if reads and reads[-1].ok else None


def _arguments(raw: str) -> JsonObject:
    """A call's arguments; those of another model may be anything."""
    try:
        arguments = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    return cast("JsonObject", arguments) if isinstance(arguments, dict) else {}
