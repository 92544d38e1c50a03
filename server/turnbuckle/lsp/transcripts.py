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

_LOADS = re.compile(
    r"(?P<image>!\[)"
    r"|(?P<link>\]\((?!(?!//)[\w./#%-]*\)))"  # any but a relative path
    r"|(?P<name>(?:^|\r)[ \t>*+\-\d.)]*\[(?:[^\]\\]|\\.){1,300}\]:)"
    r"|(?P<tag><(?=[a-z][a-z0-9-]*[\s/:@.+]|style|script|[!?/]))",
    re.IGNORECASE | re.MULTILINE,
)
"""What a Markdown viewer may fetch, or show under another name than its own."""


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
            return "\n".join(f"> {line}" for line in plain(content).splitlines())
        case AssistantMessage(content=content) if content:
            return plain(content)
        case ToolCall(name=name, arguments=arguments):
            return f"- {_code(name[:100])} {_code(arguments[:200])}"
        case ToolResult(is_error=True, content=content):
            return f"- failed: {_code(content[:200])}"
        case TurnEnd(end=end) if end.kind != "completed":
            return f"*{plain(_ended(end))}*"
        case _:
            return None


def plain(text: str) -> str:
    """Markdown without pictures, remote links and HTML that does more than mark: spelt out."""

    def spelt(found: re.Match[str]) -> str:
        match found.lastgroup:
            case "image":
                return "!\\["
            case "link":
                return "]\\("
            case "tag":
                return "&lt;"
            case _:
                return found[0].replace("[", "\\[", 1)

    return _LOADS.sub(spelt, text)


def _ended(end: End) -> str:
    why = end.reason or end.cause or (end.failure.message if end.failure else None)
    return f"{end.kind}: {why}" if why else end.kind


def _code(text: str) -> str:
    line = " ".join(text.replace("`", "'").split())
    return f"`{line}`" if line else ""
