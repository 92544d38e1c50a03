"""Answers of a chat completions endpoint, for a model server to play."""

import json
import re

from turnbuckle.session.parts import JsonObject
from turnbuckle.testing.modelserver import Response

DONE = b"data: [DONE]\n\n"


def event(data: object) -> bytes:
    """One server-sent event with this JSON."""
    return b"data: " + json.dumps(data, separators=(",", ":")).encode() + b"\n\n"


def chunk(delta: JsonObject | None = None, finish: str | None = None) -> bytes:
    """One chunk of a chat completion."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return event({"object": "chat.completion.chunk", "choices": [choice]})


def answer(
    text: str = "",
    *calls: tuple[str, str, JsonObject],
    finish: str | None = None,
    usage: tuple[int, int] = (10, 5),
) -> Response:
    """A whole answer: text word by word, calls as (id, name, arguments), usage as (in, out)."""
    chunks = [chunk({"content": word}) for word in re.findall(r"\S+\s*|\s+", text)]
    for index, (id_, name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"index": index, "id": id_, "type": "function", "function": function}
        chunks.append(chunk({"tool_calls": [call]}))
    chunks.append(chunk(finish=finish or ("tool_calls" if calls else "stop")))
    tokens = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    chunks.append(event({"choices": [], "usage": tokens | {"total_tokens": sum(usage)}}))
    return Response(chunks=(*chunks, DONE))


def failure(status: int, error: object, headers: dict[str, str] | None = None) -> Response:
    """A refusal with an error object."""
    body = json.dumps({"error": error}).encode()
    json_type = {"content-type": "application/json"}
    return Response(status=status, headers=json_type | (headers or {}), chunks=(body,))
