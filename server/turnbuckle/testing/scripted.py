"""A model that says what a test wrote down, and remembers what it was asked."""

import json
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias

import anyio.lowlevel

from turnbuckle.model.port import Delta, Emit, ModelRefused, Reply, Request
from turnbuckle.session.parts import Call, CallDelta, JsonObject, Usage

ScriptedCall: TypeAlias = tuple[str, str, JsonObject | str]
"""Id, name and arguments of a call; a string is taken as the raw arguments."""

Step: TypeAlias = Reply | Exception | Callable[[Request, Emit], Awaitable[Reply]]
"""What one request gets: an answer, an error, or whatever a function does."""

_WORDS = re.compile(r"\S+\s*|\s+")


class Scripted:
    """Gives its replies in order, word by word, and refuses when none is left."""

    def __init__(self, replies: Iterable[Step], *, window: int | None = None) -> None:
        self.window = window
        self.requests: list[Request] = []
        self._replies = list(replies)

    async def __call__(self, request: Request, emit: Emit) -> Reply:
        """Play the next reply; between two words others may run, and a cancel can act."""
        count = len(self.requests)
        self.requests.append(request)
        if count >= len(self._replies):
            raise ModelRefused(
                "protocol",
                f"The scripted model was asked {count + 1} times, but it has only "
                f"{len(self._replies)} replies.",
            )
        reply = self._replies[count]
        if isinstance(reply, Exception):
            raise reply
        if not isinstance(reply, Reply):
            return await reply(request, emit)
        await stream(reply, emit)
        return reply


async def stream(reply: Reply, emit: Emit) -> None:
    """Emit a reply as a provider would: thoughts, then text, then calls, in small pieces."""
    for word in _WORDS.findall(reply.reasoning or ""):
        emit(Delta(reasoning=word))
        await anyio.lowlevel.checkpoint()
    for word in _WORDS.findall(reply.content):
        emit(Delta(text=word))
        await anyio.lowlevel.checkpoint()
    for index, call in enumerate(reply.tool_calls):
        emit(Delta(tool_calls=(CallDelta(index=index, name=call.name),)))
        emit(Delta(tool_calls=(CallDelta(index=index, arguments=call.arguments),)))
        await anyio.lowlevel.checkpoint()


def say(
    text: str,
    *calls: ScriptedCall,
    finish: str | None = None,
    usage: Usage | None = None,
    reasoning: str | None = None,
) -> Reply:
    """A reply that says `text` and makes these calls; `finish` fits them unless it is given."""
    return Reply(
        content=text,
        finish=finish or ("tool_calls" if calls else "stop"),
        tool_calls=tuple(_call(call) for call in calls),
        reasoning=reasoning,
        usage=usage,
    )


def _call(call: ScriptedCall) -> Call:
    id_, name, arguments = call
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return Call(call_id=id_, name=name, arguments=raw)
