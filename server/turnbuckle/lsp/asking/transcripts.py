"""A session as Markdown, for people, while it grows; ids of questions are never in it."""

from collections import deque
from collections.abc import Iterable

from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    AssistantChunk,
    AssistantMessage,
    ContextRewound,
    Fact,
    LlmStream,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.markdown import code, plain, prose, quoted
from turnbuckle.session.parts import End

LIMIT = 256 * 1024
"""Characters of a transcript that is shown while it grows; of a longer one, its end."""


class Transcript:
    """The conversation up to the last fact that it was fed; `limit` in characters, about.

    What the model has said of an answer that is not over stands at its end.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._parts: deque[str] = deque()
        self._size = 0
        self._cut = False
        self._saying: list[str] = []
        self._runs = False

    def feed(self, entry: Entry) -> None:
        """Take in the next fact."""
        match entry.fact:
            case AssistantChunk(text=str(text)):
                self._saying.append(text)
            case LlmStream() | AssistantMessage():
                self._saying.clear()
            case TurnStart():
                self._runs = True
            case TurnEnd():
                self._runs = False
                self._saying.clear()
            case _:
                pass
        if part := _part(entry.fact, self._limit):
            self._add(part)

    def text(self, title: str | None) -> str:
        """All of it; what would be fetched when it is shown becomes plain text."""
        parts = [f"# {plain(title or 'Turnbuckle')}"]
        if self._cut:
            parts.append("*What was said before is left out here.*")
        parts += self._parts
        if self._runs:
            said = "".join(self._saying)
            parts.append(prose(said if self._limit is None else said[-self._limit :]) or "*…*")
        return "\n\n".join(parts) + "\n"

    def _add(self, part: str) -> None:
        self._parts.append(part)
        self._size += len(part)
        while self._limit is not None and self._size > self._limit and len(self._parts) > 1:
            self._size -= len(self._parts.popleft())
            self._cut = True


def markdown(title: str | None, entries: Iterable[Entry]) -> str:
    """The whole conversation."""
    transcript = Transcript()
    for entry in entries:
        transcript.feed(entry)
    return transcript.text(title)


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


def _part(fact: Fact, limit: int | None) -> str | None:
    match fact:
        case UserMessage(source="user", content=content):
            return quoted(content[:limit])
        case AssistantMessage(content=content) if content:
            return prose(content[:limit])
        case ToolCall(name=name, arguments=arguments):
            return f"- {code(name[:100])} {code(arguments[:200])}"
        case ToolResult(is_error=True, content=content):
            return f"- failed: {code(content[:200])}"
        case ContextRewound():
            return "*The conversation went back to an earlier point.*"
        case TurnEnd(end=end) if end.kind != "completed":
            return f"*{plain(_ended(end))}*"
        case _:
            return None


def _ended(end: End) -> str:
    why = end.reason or end.cause or (end.failure.message if end.failure else None)
    return f"{end.kind}: {why}" if why else end.kind
