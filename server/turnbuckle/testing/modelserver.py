"""An HTTP server that plays recorded answers of a model, byte for byte, and records who asked."""

import asyncio
import json
import socket
import struct
import sys
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, Self, TypeAlias, cast

import anyio

from turnbuckle.session.parts import JsonObject

EVENT_STREAM = {"content-type": "text/event-stream"}

End: TypeAlias = Literal["close", "cut", "reset", "hang"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One answer. Each chunk is sent by itself; an event among them is waited for. There may be no
    end of them: sending stops when the client has gone.

    `close` ends the body as it should be; `cut` closes the connection in the middle of the body;
    `reset` breaks it; `hang` sends nothing more and waits for the client to go. With `keep_alive`
    the body is sent in HTTP's chunks and the connection serves the next request; without it, the
    body ends with the connection.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: dict(EVENT_STREAM))
    chunks: Iterable[bytes | asyncio.Event] = ()
    end: End = "close"
    keep_alive: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request; `closed` is set when the client has closed its connection."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int
    closed: asyncio.Event

    @property
    def json(self) -> JsonObject:
        """The body as JSON."""
        return cast("JsonObject", json.loads(self.body))


OVER = Response(
    status=500,
    headers={"content-type": "text/plain"},
    chunks=(b"The test's script has no answer for this request.",),
)

Play: TypeAlias = Response | Callable[[Received], Response]


class ModelServer:
    """Listens on 127.0.0.1 while its context is open, and answers requests in the script's order.

    A function in the script makes its answer from the request. When the script is at its end,
    requests are answered 500.
    """

    def __init__(self, script: Iterable[Play] = ()) -> None:
        self.script = list(script)
        self.requests: list[Received] = []
        self._port = 0
        self._server: asyncio.Server | None = None
        self._changed = asyncio.Condition()
        self._open: dict[_Connection, asyncio.Event] = {}
        self._count = 0

    @property
    def url(self) -> str:
        """The base URL to give to a model."""
        return f"http://127.0.0.1:{self._port}/v1"

    async def received(self, count: int) -> Received:
        """Wait until so many requests came; the last of these."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.requests) >= count)
        return self.requests[count - 1]

    async def listen(self) -> None:
        """Listen, after a kill on the same port again."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connection, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    def kill(self) -> None:
        """Be gone like a killed process: nobody listens, and what was open is broken off."""
        if self._server is not None:
            self._server.close()
        for connection in self._open:
            connection.abort()

    async def __aenter__(self) -> Self:
        await self.listen()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.kill()
        for ended in list(self._open.values()):
            await ended.wait()

    def _connection(self) -> "_Connection":
        self._count += 1
        return _Connection(self._count, self._serve)

    async def _serve(self, connection: "_Connection") -> None:
        """Answer the requests of one connection, one after the other."""
        ended = self._open[connection] = asyncio.Event()
        try:
            while await connection.play(await self._next(await connection.request())):
                pass
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client has gone: that is what some tests are about
        finally:
            connection.abort()
            del self._open[connection]
            ended.set()

    async def _next(self, request: Received) -> Response:
        async with self._changed:
            count = len(self.requests)
            self.requests.append(request)
            self._changed.notify_all()
        play = self.script[count] if count < len(self.script) else OVER
        return play if isinstance(play, Response) else play(request)


class _Connection(asyncio.StreamReaderProtocol):
    """One HTTP/1.1 connection, which notices at once that the client has gone."""

    def __init__(self, number: int, serve: Callable[["_Connection"], Awaitable[None]]) -> None:
        async def begin(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._writer = writer
            await serve(self)

        self.gone = asyncio.Event()
        self._number = number
        self._reader = asyncio.StreamReader()
        super().__init__(self._reader, begin)

    def eof_received(self) -> bool:
        self.gone.set()
        return bool(super().eof_received())

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        super().connection_lost(exc)

    def abort(self) -> None:
        self._writer.transport.abort()

    async def request(self) -> Received:
        """Wait for the next request."""
        head = await self._reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").splitlines()
        method, path, _ = first.split(" ", 2)
        pairs = (line.partition(":") for line in lines if line)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        body = await self._reader.readexactly(int(headers.get("content-length", 0)))
        return Received(
            method=method,
            path=path,
            headers=headers,
            body=body,
            connection=self._number,
            closed=self.gone,
        )

    async def play(self, response: Response) -> bool:
        """Send the answer, or as much of it as the client waits for; whether more may follow."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch, group.cancel_scope)
            try:
                await self._send(response)
            except OSError:
                self.gone.set()
            group.cancel_scope.cancel()
        return response.keep_alive and response.end == "close" and not self.gone.is_set()

    async def _watch(self, scope: anyio.CancelScope) -> None:
        await self.gone.wait()
        scope.cancel()

    async def _send(self, response: Response) -> None:
        framing = (
            {"transfer-encoding": "chunked"} if response.keep_alive else {"connection": "close"}
        )
        head = [f"HTTP/1.1 {response.status} Played"]
        head += [f"{name}: {value}" for name, value in (response.headers | framing).items()]
        await self._write("\r\n".join([*head, "", ""]).encode("latin-1"))
        for chunk in response.chunks:
            if isinstance(chunk, asyncio.Event):
                await chunk.wait()
            elif chunk:
                await self._write(_framed(chunk) if response.keep_alive else chunk)
        match response.end:
            case "close" if response.keep_alive:
                await self._write(_framed(b""))
            case "hang":
                await self.gone.wait()
            case "reset":
                _reset_on_close(self._writer)
            case _:
                self._writer.close()
                await self.gone.wait()

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()
        await asyncio.sleep(0)  # drain returns at once while there is room; others must run too


def _framed(chunk: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(chunk), chunk)


def _reset_on_close(writer: asyncio.StreamWriter) -> None:
    """Make closing the connection a reset, which the client sees as an error."""
    raw = writer.get_extra_info("socket")
    linger = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
