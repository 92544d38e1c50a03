"""The scripted model, a process of its own: answers at once, and notes when what happened.

`python -m benchmarks.modelserver` prints its port, then one JSON line for each request and each
answer. All times are nanoseconds of the monotonic clock, which the processes of a machine share.
"""

import asyncio
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import orjson

from benchmarks.script import Script, piece, read_script

_BREATH = 64
"""Chunks that are written before the loop looks at anything else."""


@dataclass(slots=True)
class Answering:
    """One request and what becomes of it."""

    number: int
    script: Script
    events: list[bytes]
    chunks: int
    times: list[int] = field(default_factory=list)


class Caller(asyncio.Protocol):
    """One connection, read by hand, so that arrival and close are seen by the callbacks."""

    requests = 0

    def __init__(self, tasks: asyncio.TaskGroup) -> None:
        self._tasks = tasks
        self._buffer = bytearray()
        self._began = 0
        self._task: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()
        self._closed = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way out."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        """Answer when a request is whole."""
        if not self._buffer:
            self._began = time.monotonic_ns()
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0 or len(self._buffer) < end + 4 + _length(bytes(self._buffer[:end])):
            return
        request = orjson.loads(memoryview(self._buffer)[end + 4 :])
        self._buffer.clear()
        self._task = self._tasks.create_task(self._answer(request))

    def eof_received(self) -> None:
        """The client closed its side."""
        self._gone()

    def connection_lost(self, _: Exception | None) -> None:
        """The connection is closed."""
        self._gone()

    def pause_writing(self) -> None:
        """The client does not read."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """It does again."""
        self._writable.set()

    def _gone(self) -> None:
        self._closed = self._closed or time.monotonic_ns()
        self._writable.set()
        if self._task is not None:
            self._task.cancel()

    async def _answer(self, request: dict[str, Any]) -> None:  # Any: JSON
        Caller.requests += 1
        answering = plan(request, Caller.requests)
        tell(event="request", number=answering.number, time=self._began)
        end = 0
        try:
            self._transport.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                b"transfer-encoding: chunked\r\n\r\n"
            )
            await self._stream(answering)
            self._transport.write(b"0\r\n\r\n")
            end = time.monotonic_ns()
        except asyncio.CancelledError:
            pass  # the client went away: that is what is told
        # After what the client does next, which this would delay.
        asyncio.get_running_loop().call_later(0.001, self._tell, answering, end)

    def _tell(self, answering: Answering, end: int) -> None:
        times = answering.times if answering.script.times else []
        tell(event="answer", number=answering.number, closed=self._closed, times=times, end=end)

    async def _stream(self, answering: Answering) -> None:
        loop, gap = asyncio.get_running_loop(), 0.0
        if answering.script.rate:
            gap = 1 / answering.script.rate
        begin = loop.time()
        for number, event in enumerate(answering.events):
            if number < answering.chunks:
                if gap and (early := begin + number * gap - loop.time()) > 0:
                    await asyncio.sleep(early)
                answering.times.append(time.monotonic_ns())
            self._transport.write(event)
            if number % _BREATH == 0:
                await asyncio.sleep(0)
            if not self._writable.is_set():
                await self._writable.wait()


def plan(request: dict[str, Any], number: int) -> Answering:  # Any: JSON
    """What to answer; all of it is encoded before the first byte goes out."""
    script, step = Script(), 0
    for message in request["messages"]:
        if message["role"] == "user" and (found := read_script(message["content"])):
            script, step = found, 0
        step += message["role"] == "tool"
    calls = step < script.steps
    deltas: list[dict[str, object]] = []
    if calls:
        arguments = script.arguments.replace("{step}", str(step))
        function = {"name": script.tool, "arguments": arguments}
        call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        deltas.append({"tool_calls": [call]})
    else:
        deltas += [{"content": piece(index)} for index in range(script.chunks)]
    events = [_event(number, [{"index": 0, "delta": delta}]) for delta in deltas]
    finish = "tool_calls" if calls else "stop"
    events.append(_event(number, [{"index": 0, "delta": {}, "finish_reason": finish}]))
    if (request.get("stream_options") or {}).get("include_usage"):
        events.append(_event(number, [], {"prompt_tokens": 10, "completion_tokens": 10}))
    events.append(_chunk(b"data: [DONE]\n\n"))
    return Answering(number, script, events, len(deltas))


def _event(number: int, choices: list[object], usage: object = None) -> bytes:
    event = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": choices,
    }
    if usage is not None:
        event["usage"] = usage
    return _chunk(b"data: " + orjson.dumps(event) + b"\n\n")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


def tell(**what: object) -> None:
    """One line for whoever measures."""
    sys.stdout.buffer.write(orjson.dumps(what) + b"\n")
    sys.stdout.buffer.flush()


async def main() -> None:
    """Serve until standard input ends."""
    loop = asyncio.get_running_loop()
    async with asyncio.TaskGroup() as tasks:
        listening = await loop.create_server(lambda: Caller(tasks), "127.0.0.1", 0)
        tell(port=listening.sockets[0].getsockname()[1])
        await loop.run_in_executor(None, sys.stdin.buffer.read)
        listening.close()
        raise SystemExit


if __name__ == "__main__":
    asyncio.run(main())
