"""Old tool results, shortened: the first and the last lines stay, and a word on how to get all."""

from collections.abc import Sequence

from turnbuckle.session.events import AssistantMessage, ContextPruned, Message, ToolResult
from turnbuckle.session.parts import Pruned

_HEAD = 0.7
"""The share of what is kept that is kept of the beginning."""

_WORTH = 0.8
"""A result is shortened only if it becomes shorter than this share of what it was."""


def pruned(
    messages: Sequence[Message], seqs: Sequence[int], part: range, limit: int
) -> ContextPruned | None:
    """The fact that shortens the results in a part of the history that are longer than `limit`.

    `limit` is in characters. None where nothing is to be gained.
    """
    results = []
    for index in part:
        message = messages[index]
        if isinstance(message, ToolResult) and len(message.content) > limit:
            short = shortened(message.content, limit, _tool(messages, index))
            if len(short) < _WORTH * len(message.content):
                results.append(Pruned(seq=seqs[index], content=short))
    return ContextPruned(results=tuple(results)) if results else None


def shortened(text: str, limit: int, tool: str) -> str:
    """What the model is shown of a long result of this tool, in about `limit` characters."""
    return ends_of(
        text, limit, f"of this older result are left out; to see them, call {tool} again"
    )


def ends_of(text: str, limit: int, note: str) -> str:
    """The first and the last lines of a text in about `limit` characters.

    Between them stands how much was left out, and `note`.
    """
    head = text[: int(limit * _HEAD)]
    tail = text[len(text) - int(limit * (1 - _HEAD)) :]
    head = head[: head.rfind("\n") + 1] or head
    tail = tail[tail.find("\n") + 1 :] or tail
    between = len(text) - len(head) - len(tail)
    lines = text.count("\n", len(head), len(head) + between)
    left_out = f"{lines} lines" if lines else f"{between} characters"
    head = head if head.endswith("\n") else f"{head}\n"
    return f"{head}[{left_out} {note}]\n{tail}"


def _tool(messages: Sequence[Message], index: int) -> str:
    """The name of the tool whose result stands at this place."""
    result = messages[index]
    assert isinstance(result, ToolResult)
    while index and isinstance(messages[index], ToolResult):
        index -= 1
    answer = messages[index]
    if isinstance(answer, AssistantMessage):
        for call in answer.tool_calls:
            if call.call_id == result.call_id:
                return call.name
    return "the tool"
