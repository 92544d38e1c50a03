"""A client that knows nothing of the protocol: bytes that it wrote itself, and what comes back."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import orjson

from turnbuckle.lsp.client import bare_errors
from turnbuckle.lsp.rpc.framing import Frames, frame
from turnbuckle.lsp.rpc.streams import Link, PeerGone, Sink, Source
from turnbuckle.lsp.spawn import ServerProcess

Json = dict[str, Any]  # Any: JSON

DEADLINE = 30.0
"""Seconds after which an answer counts as lost, on a machine that does much else."""

INITIALIZE: Json = {"id": "init", "method": "initialize", "params": {"capabilities": {}}}


def message(body: Json) -> bytes:
    """A frame with a message; what is missing of JSON-RPC is added."""
    return frame(orjson.dumps({"jsonrpc": "2.0", **body}))


class RawPeer:
    """Writes bytes as they are given, and keeps every message that came; `data` is their bytes.

    What was sent with an id may be answered once. The requests of the server are never answered.
    """

    def __init__(self, source: Source, sink: Sink, process: ServerProcess | None = None) -> None:
        self.messages: list[Json] = []
        self.data = bytearray()
        self.over = False
        self.process = process
        self._source = source
        self._sink = sink
        self._frames = Frames()
        self._changed = anyio.Event()
        self._free = anyio.Event()
        self._free.set()
        self._counted = 0

    def write(self, data: bytes) -> None:
        """Write bytes, whatever they are; to a server that is gone they are lost."""
        try:
            self._sink.write(data)
        except PeerGone:
            return

    def send(self, *bodies: Json) -> None:
        """Write messages in one go."""
        self.write(b"".join(map(message, bodies)))

    async def drained(self) -> None:
        """Wait until the system has taken what was written; a server that is gone takes nothing."""
        with suppress(PeerGone):
            await self._sink.drained()

    def hold(self) -> None:
        """Read no more, for now."""
        self._free = anyio.Event()

    def let_go(self) -> None:
        """Read on."""
        self._free.set()

    async def stalled(self, seconds: float) -> bool:
        """Whether for so long nothing is taken of what was written; false once all of it is."""
        rest = -1
        while rest != (rest := self.left()):
            # A stretch of time without progress is what is waited for.
            with anyio.move_on_after(seconds):
                await self._sink.drained()
                return False
        return True

    def left(self) -> int:
        """Bytes that were written and that the system has not taken yet."""
        assert isinstance(self._sink, Link)
        return self._sink.left

    async def run(self) -> None:
        """Read until the server says nothing any more."""
        while data := await self._read():
            self.data += data
            self.messages += map(orjson.loads, self._frames.feed(data))
            self._change()
        self.over = True
        self._change()

    async def _read(self) -> bytes:
        await self._free.wait()
        data = await self._source.read()
        await self._free.wait()
        return data

    def answers(self, identity: object) -> list[Json]:
        """All answers that bear an id; an int is no float, and 1 is not True."""
        return [
            one
            for one in self.messages
            if "method" not in one and type(one["id"]) is type(identity) and one["id"] == identity
        ]

    async def answer(self, identity: object, count: int = 1) -> Json:
        """Wait for the answer with an id; the last of so many.

        Raises:
            AssertionError: it does not come.
        """
        with anyio.move_on_after(DEADLINE):
            while len(found := self.answers(identity)) < count and not self.over:
                await self._changed.wait()
            if len(found) >= count:
                return found[count - 1]
        raise AssertionError(f"no answer to {identity!r}; the last: {self.messages[-3:]}")

    async def ask(self, method: str, params: object = None) -> Json:
        """Send a request with an id of its own and wait for its answer, result or error."""
        self._counted += 1
        identity = f"ask-{self._counted}"
        self.send({"id": identity, "method": method, "params": params})
        return await self.answer(identity)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds of what came."""
        with anyio.fail_after(DEADLINE):
            while not condition():
                await self._changed.wait()

    async def until_over(self) -> None:
        """Wait until the server says nothing any more."""
        await self.until(lambda: self.over)

    def of(self, method: str) -> list[Json]:
        """The params of all messages of a method."""
        return [one["params"] for one in self.messages if one.get("method") == method]

    def errors(self) -> Iterator[tuple[object, int]]:
        """Every error that came: id and code."""
        for one in self.messages:
            if "error" in one:
                yield one.get("id"), one["error"]["code"]

    def end(self) -> None:
        """Write no more, and read on."""
        self._sink.close()

    def stop_reading(self) -> None:
        """Close what is read, and write on."""
        self._source.close()

    def close(self) -> None:
        """Close both directions."""
        self._sink.close()
        self._source.close()

    def _change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


@asynccontextmanager
async def reading(
    source: Source, sink: Sink, process: ServerProcess | None = None
) -> AsyncIterator[RawPeer]:
    """A peer that reads while the block runs, and closes its streams afterwards."""
    peer = RawPeer(source, sink, process)
    with bare_errors():
        async with anyio.create_task_group() as group:
            group.start_soon(peer.run)
            try:
                yield peer
            finally:
                group.cancel_scope.cancel()
                peer.close()
