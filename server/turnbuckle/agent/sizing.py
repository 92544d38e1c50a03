"""How many tokens a request is: what the provider counted, and an estimate for what came since."""

from collections.abc import Iterable
from itertools import takewhile

from turnbuckle.model.overflow import IMAGE
from turnbuckle.model.port import Request
from turnbuckle.session import codec
from turnbuckle.session.events import (
    AssistantMessage,
    ContextSummary,
    Message,
    ToolResult,
    UserMessage,
)
from turnbuckle.session.session import Session

BYTES = 4
"""Bytes of UTF-8 that are about a token, in text and in code."""

_EACH = 4
"""Tokens that a message takes beside its text."""

_LEAST, _MOST = 0.25, 4.0
"""How far an estimate is corrected at most."""


def tokens(text: str) -> int:
    """About how many tokens a text is."""
    return (len(text) if text.isascii() else len(text.encode("utf-8", "replace"))) // BYTES


def tokens_of(messages: Iterable[Message]) -> int:
    """About how many tokens messages are."""
    return sum(map(_tokens, messages))


def _tokens(message: Message) -> int:
    match message:
        case UserMessage(content=text, image=image) if image:
            return _EACH + tokens(text) + IMAGE
        case UserMessage(content=text) | ToolResult(content=text) | ContextSummary(text=text):
            return _EACH + tokens(text)
        case AssistantMessage():
            calls = (tokens(call.name) + tokens(call.arguments) for call in message.tool_calls)
            thoughts = tokens(message.reasoning or "")
            return _EACH + tokens(message.content) + thoughts + sum(calls)


def tokens_before(request: Request) -> int:
    """About how many tokens stand before the messages of a request: its prompt and its tools."""
    return tokens(request.system) + len(codec.encode(request.tools)) // BYTES


class Sizing:
    """The size of a session's next request.

    What the provider counted is the truth. Where the history was made another since, all of it is
    estimated, corrected by how far the estimate was off when it could still be compared.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._scale: float | None = None

    @property
    def sure(self) -> bool:
        """Whether a count of the provider stands behind the sizes."""
        return self._scale is not None or bool(self._session.usage.context)

    def size(self, before: int) -> int:
        """Tokens of the whole request; `before` is the estimate of what precedes its messages."""
        usage, shown = self._session.usage, self._session.projection
        if not usage.context:
            return self.scaled(before + tokens_of(shown.messages))
        newest = zip(reversed(shown.seqs), reversed(shown.messages), strict=True)
        later = (message for _, message in takewhile(lambda row: row[0] > usage.counted, newest))
        return usage.context + tokens_of(later)

    def scaled(self, estimate: int) -> int:
        """An estimate, corrected."""
        return round(estimate * (self._scale or 1.0))

    def learn(self, before: int) -> None:
        """Compare the estimate with what the provider counted, as long as it counted this."""
        usage, shown = self._session.usage, self._session.projection
        if usage.context:
            rows = zip(shown.seqs, shown.messages, strict=True)
            known = tokens_of(message for seq, message in rows if seq <= usage.counted)
            scale = usage.context / max(1, before + known)
            self._scale = min(max(scale, _LEAST), _MOST)
