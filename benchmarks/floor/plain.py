"""The lower floor: forwarding with nothing but asyncio and json. No agent, no log, no hooks."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

URL = urlsplit(os.environ["BENCH_URL"])
READ_FILE = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
        },
    },
}
STREAM_LIMIT = 64 * 1024 * 1024


def encoded(value: object) -> bytes:
    """Compact JSON."""
    return json.dumps(value, separators=(",", ":")).encode()


class Model:
    """One HTTP connection to the model, kept from request to request."""

    def __init__(self) -> None:
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, body: bytes) -> asyncio.StreamReader:
        """Send a request and give the stream behind the header of its answer."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(URL.hostname, URL.port)
        reader, writer = self._streams
        writer.write(
            b"POST %b/chat/completions HTTP/1.1\r\nhost: %b\r\ncontent-type: application/json\r\n"
            b"content-length: %d\r\n\r\n%b"
            % (URL.path.encode(), URL.netloc.encode(), len(body), body)
        )
        await reader.readuntil(b"\r\n\r\n")
        return reader

    def drop(self) -> None:
        """Close the connection at once."""
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None


class Floor:
    """Answers `initialize` and `agent/turn`, and cancels."""

    def __init__(self, out: asyncio.WriteTransport, tasks: asyncio.TaskGroup) -> None:
        self._out = out
        self._tasks = tasks
        self._turns: dict[int, asyncio.Task[None]] = {}
        self._model = Model()
        self._history: list[object] = [{"role": "system", "content": "You are a coding agent."}]

    def send(self, message: dict[str, object]) -> None:
        """Write one frame."""
        body = encoded({"jsonrpc": "2.0", **message})
        self._out.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def take(self, message: dict[str, Any]) -> bool:  # Any: JSON
        """Handle one message; false for the last one."""
        method, params = message.get("method"), message.get("params") or {}
        if method in ("initialize", "shutdown"):
            self.send({"id": message["id"], "result": {"capabilities": {}}})
        elif method == "agent/turn":
            turn = self._turn(message["id"], params["prompt"], params["token"])
            self._turns[message["id"]] = self._tasks.create_task(turn)
        elif method == "$/cancelRequest" and params["id"] in self._turns:
            self._turns[params["id"]].cancel()
        return method != "exit"

    async def _turn(self, identity: int, prompt: str, token: str) -> None:
        self._history.append({"role": "user", "content": prompt})
        try:
            while calls := await self._step(token):
                for call in calls:
                    path = json.loads(call["function"]["arguments"])["path"]
                    text = Path(path).read_text(encoding="utf-8")  # noqa: ASYNC240 - a floor
                    self._history.append(
                        {"role": "tool", "tool_call_id": call["id"], "content": text}
                    )
            self.send({"id": identity, "result": {}})
        except asyncio.CancelledError:
            self._model.drop()
            self.send({"id": identity, "error": {"code": -32800, "message": "cancelled"}})
        finally:
            del self._turns[identity]

    async def _step(self, token: str) -> list[dict[str, Any]]:  # Any: JSON
        """Forward one answer; the calls in it."""
        request = {"model": "m", "stream": True, "messages": self._history, "tools": [READ_FILE]}
        reader = await self._model.ask(encoded(request))
        texts: list[str] = []
        calls: list[dict[str, Any]] = []
        while size := int(await reader.readuntil(b"\r\n"), 16):
            data = (await reader.readexactly(size + 2))[:-2]
            if data.startswith(b"data: {"):
                for choice in json.loads(data[6:])["choices"]:
                    calls += choice["delta"].get("tool_calls", ())
                    if text := choice["delta"].get("content"):
                        texts.append(text)
                        value = {"token": token, "value": {"text": text}}
                        self.send({"method": "$/progress", "params": value})
        await reader.readexactly(2)
        answer: dict[str, object] = {"role": "assistant", "content": "".join(texts)}
        self._history.append({**answer, "tool_calls": calls} if calls else answer)
        return calls


async def main() -> None:
    """Serve standard input and output to the end."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=STREAM_LIMIT)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    out, _ = await loop.connect_write_pipe(asyncio.Protocol, sys.stdout)
    async with asyncio.TaskGroup() as tasks:
        floor = Floor(out, tasks)
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                return
            length = int(head.partition(b":")[2])
            if not floor.take(json.loads(await reader.readexactly(length))):
                return


if __name__ == "__main__":
    asyncio.run(main())
