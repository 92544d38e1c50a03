"""A session as Markdown, for people; ids of questions are never in it."""

import re
from collections.abc import Iterable

from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    AssistantMessage,
    Fact,
    ToolCall,
    ToolResult,
    TurnEnd,
    UserMessage,
)
from turnbuckle.session.parts import End

_IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)]*)\)")


def markdown(title: str | None, entries: Iterable[Entry]) -> str:
    """The whole conversation; pictures become plain links, so that nothing is fetched."""
    parts = [f"# {title or 'Turnbuckle'}"]
    parts += [part for entry in entries if (part := _part(entry.fact))]
    return "\n\n".join(parts) + "\n"


def answer_of(entries: Iterable[Entry], turn: int) -> str:
    """What the agent said last in a turn; empty if nothing."""
    said = ""
    for entry in entries:
        match entry.fact:
            case AssistantMessage(turn=at, content=content) if at == turn and content:
                said = content
            case _:
                pass
    return said


def _part(fact: Fact) -> str | None:
    match fact:
        case UserMessage(source="user", content=content):
            return "\n".join(f"> {line}" for line in content.splitlines())
        case AssistantMessage(content=content) if content:
            return _IMAGE.sub(r"\1 (\2)", content)
        case ToolCall(name=name, arguments=arguments):
            return f"- `{name}` {_code(arguments[:200])}"
        case ToolResult(is_error=True, content=content):
            return f"- failed: {_code(content[:200])}"
        case TurnEnd(end=end) if end.kind != "completed":
            return f"*{_ended(end)}*"
        case _:
            return None


def _ended(end: End) -> str:
    why = end.reason or end.cause or (end.failure.message if end.failure else None)
    return f"{end.kind}: {why}" if why else end.kind


def _code(text: str) -> str:
    line = " ".join(text.replace("`", "'").split())
    return f"`{line}`" if line else ""
