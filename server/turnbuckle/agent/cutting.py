"""Where a history can be cut: never within a pair, and not within what was asked last."""

from collections.abc import Sequence

from turnbuckle.agent.sizing import tokens_of
from turnbuckle.session.events import ContextSummary, Message, ToolResult, UserMessage


def start_of_pair(messages: Sequence[Message], index: int) -> int:
    """Where the answer stands that the message at `index` belongs to, or that message."""
    while index > 0 and isinstance(messages[index], ToolResult):
        index -= 1
    return max(index, 0)


def start_of_tail(messages: Sequence[Message], limit: int) -> int:
    """Where the newest messages begin that fit into `limit` tokens; the last is always of them."""
    start = start_of_pair(messages, len(messages) - 1)
    kept = tokens_of(messages[start:])
    while start:
        before = start_of_pair(messages, start - 1)
        kept += tokens_of(messages[before:start])
        if kept > limit:
            break
        start = before
    return start


def end_of_head(messages: Sequence[Message], limit: int) -> int:
    """Where the first messages end that fit into `limit` tokens; 0 if not even the first does."""
    end = kept = 0
    for index in range(1, len(messages) + 1):
        kept += tokens_of(messages[index - 1 : index])
        if kept > limit:
            break
        if index == len(messages) or not isinstance(messages[index], ToolResult):
            end = index
    return end


def start_of_asking(messages: Sequence[Message]) -> int:
    """Where the person's last message begins, with what they pointed at; 0 if there is none."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, UserMessage) and message.source == "user":
            at = (message.turn, message.step)
            while index and _entered(messages[index - 1]) == at:
                index -= 1
            return index
    return 0


def _entered(message: Message) -> tuple[int, int] | None:
    return (message.turn, message.step) if isinstance(message, UserMessage) else None


def worth_a_summary(messages: Sequence[Message]) -> bool:
    """Whether there is anything in these that is not a summary already."""
    return any(not isinstance(message, ContextSummary) for message in messages)
