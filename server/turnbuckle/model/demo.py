"""The offline model of the demo: it plays a script, reacts to what really happened, and says so."""

import re

import anyio
import orjson

from turnbuckle.model.port import Delta, Emit, Reply, Request
from turnbuckle.model.scene import Scene
from turnbuckle.model.script import next_move
from turnbuckle.session.events import AssistantMessage, ToolResult, UserMessage
from turnbuckle.session.parts import Call, CallDelta, Usage

WHO = "I am the demo model: offline and scripted. No real model is connected."

_WORDS = re.compile(r"\S+\s*|\s+")


class Demo:
    """Answers from a script, a pure function of the request; `delay` is in seconds a word.

    Its usage is an estimate: four characters to a token.
    """

    def __init__(self, *, delay: float = 0.015, window: int | None = 128_000) -> None:
        self.window = window
        self._delay = delay

    async def __call__(self, request: Request, emit: Emit) -> Reply:
        """Say the next thing, word by word."""
        reply = answer(request)
        for word in _WORDS.findall(reply.content):
            emit(Delta(text=word))
            await anyio.sleep(self._delay)
        for index, call in enumerate(reply.tool_calls):
            emit(Delta(tool_calls=(CallDelta(index=index, name=call.name),)))
            emit(Delta(tool_calls=(CallDelta(index=index, arguments=call.arguments),)))
            await anyio.sleep(self._delay)
        return reply


def answer(request: Request) -> Reply:
    """The whole answer to a request."""
    scene = Scene(request)
    move = next_move(scene)
    text = f"{WHO}\n\n{move.text}" if scene.first else move.text
    offered = [call for call in move.calls if scene.can(call[0])]
    calls = tuple(
        Call(call_id=f"demo-{number}", name=name, arguments=orjson.dumps(arguments).decode())
        for number, (name, arguments) in enumerate(offered, scene.count + 1)
    )
    return Reply(
        content=text,
        finish="tool_calls" if calls else "stop",
        tool_calls=calls,
        usage=_estimate(request, text, calls),
    )


def _estimate(request: Request, text: str, calls: tuple[Call, ...]) -> Usage:
    """Four characters to a token."""
    given = len(request.system) + sum(len(repr(tool)) for tool in request.tools)
    for message in request.messages:
        match message:
            case AssistantMessage():
                given += len(message.content) + sum(len(c.arguments) for c in message.tool_calls)
            case UserMessage() | ToolResult():
                given += len(message.content)
            case _:
                given += len(message.text)
    made = len(text) + sum(len(call.name) + len(call.arguments) for call in calls)
    tokens_in, tokens_out = given // 4 + 1, made // 4 + 1
    return Usage(input=tokens_in, output=tokens_out, total=tokens_in + tokens_out)
