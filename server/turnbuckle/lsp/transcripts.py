"""A session as Markdown, for people; ids of questions are never in it."""

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
from turnbuckle.session.markdown import code, plain, prose, quoted
from turnbuckle.session.parts import End


def markdown(title: str | None, entries: Iterable[Entry]) -> str:
    """The whole conversation; what would be fetched when it is shown becomes plain text."""
    parts = [f"# {plain(title or 'Turnbuckle')}"]
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
            return quoted(content)
        case AssistantMessage(content=content) if content:
            return prose(content)
        case ToolCall(name=name, arguments=arguments):
            return f"- {code(name[:100])} {code(arguments[:200])}"
        case ToolResult(is_error=True, content=content):
            return f"- failed: {code(content[:200])}"
        case TurnEnd(end=end) if end.kind != "completed":
            return f"*{plain(_ended(end))}*"
        case _:
            return None


def _ended(end: End) -> str:
    why = end.reason or end.cause or (end.failure.message if end.failure else None)
    return f"{end.kind}: {why}" if why else end.kind
