"""A request as the JSON body of a chat completion; what was encoded once is kept."""

import base64
import hashlib
import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import assert_never

import orjson

from turnbuckle.model import picturing
from turnbuckle.model.history import History
from turnbuckle.model.overflow import estimated
from turnbuckle.model.port import CallConfig, Request, ToolSpec
from turnbuckle.model.providers import Provider
from turnbuckle.session.events import (
    AssistantMessage,
    ContextSummary,
    Message,
    ToolResult,
    UserMessage,
)
from turnbuckle.session.parts import Call, Image, JsonObject

_SHORT_ID = re.compile(r"[A-Za-z0-9]{9}")

_ODD = re.compile(r"[^A-Za-z0-9_-]+")
_NAME_LIMIT = 64  # characters of a tool's name; strict providers take no more


class Encoder:
    """Writes request bodies for one provider.

    A message is its fact, and facts do not change: each is encoded once, and its bytes are kept as
    long as the next request has the same object.
    """

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._reasoning_field = provider.reasoning_fields[0]
        self._offered: set[str] = set()
        self._pictures: Mapping[str, bytes] = {}
        self._history = History(self._encoded, bridge=provider.bridge)

    def learn(self, reasoning_field: str | None) -> None:
        """Send thoughts back under the name that they came by."""
        if reasoning_field is not None and reasoning_field != self._reasoning_field:
            self._reasoning_field = reasoning_field
            self._history = History(self._encoded, bridge=self._provider.bridge)

    def follow(self, provider: Provider) -> None:
        """Write for other habits from now on."""
        self._provider = provider
        self._history = History(self._encoded, bridge=provider.bridge)

    def wanted(self, request: Request) -> list[Image]:
        """The pictures whose bytes the next body needs."""
        if not self._provider.images:
            return []
        new = self._history.unknown(request.messages)
        return [one.image for one in new if isinstance(one, UserMessage) and one.image]

    def body(self, request: Request, pictures: Mapping[str, bytes] = MappingProxyType({})) -> bytes:
        """The whole body, streaming asked for; `pictures` by digest, in base64."""
        self._pictures = pictures
        before = orjson.dumps(_options(request.config, self._provider))[:-1] + b',"messages":['
        after = b"]}"
        if request.tools:
            self._offered.update(tool.name for tool in request.tools)
            tools = orjson.dumps([_tool(tool) for tool in request.tools])
            after = b'],"tools":' + tools + b"}"
        messages = self._messages(request) or [b""]
        # Joined once, since all of it is copied each time.
        messages[0] = before + messages[0]
        messages[-1] += after
        return b",".join(messages)

    def tokens(self, body: bytes) -> int:
        """About how many tokens the last body is."""
        return estimated(len(body) - self._history.image_bytes, self._history.images)

    def _messages(self, request: Request) -> list[bytes]:
        pieces = self._history.pieces(request.messages)
        if request.system:
            pieces.insert(0, orjson.dumps({"role": "system", "content": request.system}))
        return pieces

    def _encoded(self, message: Message) -> bytes:
        if isinstance(message, UserMessage) and (image := message.image):
            if not self._provider.images:
                return picturing.told(message.content)
            return picturing.shown(message.content, image, self._pictures.get(image.digest))
        # A raw result of orjson holds at least 4 KiB; a copy holds what it needs.
        return bytes(memoryview(orjson.dumps(self._shape(message))))

    def _shape(self, message: Message) -> JsonObject:
        match message:
            case UserMessage(content=content) | ContextSummary(text=content):
                return {"role": "user", "content": content}
            case ToolResult():
                return {
                    "role": "tool",
                    "tool_call_id": _id(message.call_id, short=self._provider.short_call_ids),
                    "content": message.content,
                }
            case AssistantMessage():
                return self._assistant(message)
            case _:
                assert_never(message)

    def _assistant(self, message: AssistantMessage) -> JsonObject:
        shape: JsonObject = {"role": "assistant", "content": message.content}
        if self._echoes(message):
            shape[self._reasoning_field] = message.reasoning or ""
        if message.tool_calls:
            shape["tool_calls"] = [self._call(call) for call in message.tool_calls]
        return shape

    def _call(self, call: Call) -> JsonObject:
        function = {
            "name": _name(call.name, self._offered),
            "arguments": _arguments(call.arguments),
        }
        return {
            "id": _id(call.call_id, short=self._provider.short_call_ids),
            "type": "function",
            "function": function,
        }

    def _echoes(self, message: AssistantMessage) -> bool:
        if not (message.reasoning or self._provider.echo_empty):
            return False
        match self._provider.echo:
            case "always":
                return True
            case "tool-steps":
                return bool(message.tool_calls)
            case "never":
                return False


def _options(config: CallConfig, provider: Provider) -> JsonObject:
    options: JsonObject = {"model": config.model, "stream": True}
    if provider.stream_options:
        options["stream_options"] = {"include_usage": True}
    if config.temperature is not None:
        options["temperature"] = config.temperature
    if config.max_tokens is not None:
        options[provider.max_tokens_field] = config.max_tokens
    return options


def _id(call_id: str, *, short: bool) -> str:
    if not short or _SHORT_ID.fullmatch(call_id):
        return call_id
    digest = hashlib.sha256(call_id.encode()).digest()
    return base64.b32encode(digest).decode()[:9]


def _tool(tool: ToolSpec) -> JsonObject:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return {"type": "function", "function": function}


def _name(name: str, offered: Collection[str]) -> str:
    """A name that every server takes, where a model made one up that is no name at all.

    As with arguments, some would refuse the rest of the session for it.
    """
    if name in offered:
        return name
    return _ODD.sub("_", name)[:_NAME_LIMIT] or "unknown"


def _arguments(raw: str) -> str:
    """Arguments that every server can parse.

    Some answer 400 to a history in which they are not a JSON object, for the rest of the session;
    the result of such a call tells the model what was wrong with what it wrote.
    """
    if not raw.strip():
        return "{}"
    try:
        if isinstance(orjson.loads(raw), dict):
            return raw
    except orjson.JSONDecodeError:
        pass
    return orjson.dumps({"invalid": raw}).decode()
