"""Bytes in and bytes out behind two small ports; transports of the event loop, and memory."""

import asyncio
from typing import Protocol

import anyio

CHUNK = 64 * 1024
"""How much is read at once, in bytes."""


class PeerGone(Exception):
    """Nobody is at the other end of a stream any more."""


class Source(Protocol):
    """Where bytes come from."""

    async def read(self) -> bytes:
        """The next bytes, as soon as there are any; none at the end."""
        ...

    def close(self) -> None:
        """Read no more."""
        ...


class Sink(Protocol):
    """Where bytes go."""

    def write(self, data: bytes) -> bool:
        """Hand bytes over; false if the system did not take all of them at once.

        After false, nothing is written before `drained` has returned.

        Raises:
            PeerGone: nobody will read them.
        """
        ...

    async def drained(self) -> None:
        """Wait until the system has taken what was handed over.

        Raises:
            PeerGone: it never will.
        """
        ...

    def close(self) -> None:
        """Give up what was not taken, and close."""
        ...


class Link(asyncio.Protocol):
    """A transport of the event loop: one direction of a pipe, or both of a socket."""

    def __init__(self) -> None:
        self._reader = asyncio.StreamReader()
        self._into: asyncio.ReadTransport | None = None
        self._out: asyncio.WriteTransport | None = None
        self._free = anyio.Event()
        self.lost = anyio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Have every byte reported that the system does not take at once."""
        if isinstance(transport, asyncio.ReadTransport):
            self._into = transport
            self._reader.set_transport(transport)
        if isinstance(transport, asyncio.WriteTransport):
            self._out = transport
            transport.set_write_buffer_limits(high=0)

    def data_received(self, data: bytes) -> None:
        """Keep it for `read`; the reader pauses the transport when it holds too much."""
        self._reader.feed_data(data)

    def eof_received(self) -> bool:
        """Stay open for writing: answers may still be wanted."""
        self._reader.feed_eof()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Wake all who wait."""
        self.lost.set()
        self._free.set()
        self._reader.feed_eof()

    def pause_writing(self) -> None:
        """The system did not take everything."""
        self._free = anyio.Event()

    def resume_writing(self) -> None:
        """The system has taken everything."""
        self._free.set()

    async def read(self) -> bytes:
        """The next bytes."""
        return await self._reader.read(CHUNK)

    def write(self, data: bytes) -> bool:
        """Hand bytes to the transport, which tries at once."""
        if self._out is None or self._out.is_closing():
            raise PeerGone
        self._out.write(data)
        return self.left == 0

    @property
    def left(self) -> int:
        """How many bytes the system has not taken yet."""
        return self._out.get_write_buffer_size() if self._out is not None else 0

    async def drained(self) -> None:
        """Wait for the transport's buffer to be empty."""
        if self.left:
            await self._free.wait()
        if self.lost.is_set():
            raise PeerGone

    def close(self) -> None:
        """Close both directions; what the system has not taken yet is lost."""
        if self._out is not None and self.left:
            self._out.abort()
        for transport in (self._into, self._out):
            if transport is not None:
                transport.close()


class MemoryPipe:
    """One direction in memory, a sink for one side and a source for the other.

    `capacity` is how many bytes may wait before it counts as full.
    """

    def __init__(self, capacity: int = CHUNK) -> None:
        self._capacity = capacity
        self._waiting = bytearray()
        self._closed = False
        self._changed = anyio.Event()

    async def read(self) -> bytes:
        """Everything that waits."""
        while not self._waiting and not self._closed:
            await self._changed.wait()
        data = bytes(self._waiting)
        self._waiting.clear()
        self._change()
        return data

    def write(self, data: bytes) -> bool:
        """Keep bytes until they are read."""
        if self._closed:
            raise PeerGone
        self._waiting += data
        self._change()
        return len(self._waiting) <= self._capacity

    async def drained(self) -> None:
        """Wait until little enough waits."""
        while len(self._waiting) > self._capacity and not self._closed:
            await self._changed.wait()
        if self._closed:
            raise PeerGone

    def close(self) -> None:
        """End it for both sides; the reader still gets what waits."""
        self._closed = True
        self._change()

    def _change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
