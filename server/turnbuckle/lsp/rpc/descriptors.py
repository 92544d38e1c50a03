"""File descriptors as streams: through the event loop where it can, through a thread elsewhere."""

import asyncio
import errno
import os
import queue
import socket
import stat
import sys
import threading
from collections.abc import Callable
from functools import partial

import anyio

from turnbuckle.lsp.rpc.streams import CHUNK, Link, PeerGone, Sink, Source


async def open_streams(incoming: int, outgoing: int) -> tuple[Source, Sink]:
    """Own two descriptors, and read and write them without ever blocking the loop."""
    if _is_socket(incoming) and os.path.samestat(os.fstat(incoming), os.fstat(outgoing)):
        os.close(outgoing)
        link = await _socket(incoming)
        return link, link
    return await _source(incoming), await _sink(outgoing)


def claim_stdio() -> tuple[int, int]:
    """Move standard input and output away, for the protocol alone, and give their new numbers.

    Afterwards a child reads nothing from descriptor 0, and what is printed goes to standard error.

    Raises:
        OSError: one of them is not open.
    """
    if sys.__stdin__ is None or sys.__stdout__ is None:
        # They were closed when the process began, and their numbers may have been given away.
        raise OSError(errno.EBADF, "standard input or output is not open")
    incoming, outgoing = os.dup(0), os.dup(1)
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing if sys.__stderr__ is None else 2, 1)
    os.close(nothing)
    sys.stdout = sys.stderr
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (incoming, outgoing):
            msvcrt.setmode(descriptor, os.O_BINARY)
    return incoming, outgoing


async def _source(descriptor: int) -> Source:
    if not _is_pipe(descriptor):
        return ThreadSource(descriptor)
    pipe = os.fdopen(descriptor, "rb", buffering=0)
    _, link = await asyncio.get_running_loop().connect_read_pipe(Link, pipe)
    return link


async def _sink(descriptor: int) -> Sink:
    if _is_socket(descriptor):
        # The loop's pipe writer takes bytes that come in on a socket for its end.
        return await _socket(descriptor)
    if not _is_pipe(descriptor):
        return ThreadSink(descriptor)
    pipe = os.fdopen(descriptor, "wb", buffering=0)
    _, link = await asyncio.get_running_loop().connect_write_pipe(Link, pipe)
    return link


async def _socket(descriptor: int) -> Link:
    loop = asyncio.get_running_loop()
    _, link = await loop.connect_accepted_socket(Link, socket.socket(fileno=descriptor))
    return link


def _is_socket(descriptor: int) -> bool:
    return sys.platform != "win32" and stat.S_ISSOCK(os.fstat(descriptor).st_mode)


def _is_pipe(descriptor: int) -> bool:
    """Whether the loop can wait for it; it cannot for files and some devices, nor on Windows."""
    mode = os.fstat(descriptor).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


class ThreadSource:
    """Reads a descriptor in a thread of its own, one piece whenever one is asked for."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._asked = queue.SimpleQueue[bool]()
        self._asking = False
        self._came = anyio.Event()
        self._data = b""
        threading.Thread(target=self._run, name="turnbuckle reader", daemon=True).start()

    async def read(self) -> bytes:
        """The next bytes; a read that was cancelled is taken up by the next one."""
        if not self._asking:
            self._asking, self._came = True, anyio.Event()
            self._asked.put(True)
        await self._came.wait()
        self._asking = not self._data  # at the end nobody is left to be asked
        return self._data

    def close(self) -> None:
        """Let the thread end; one that is waiting for bytes does not keep the process."""
        self._asked.put(False)

    def _run(self) -> None:
        data = b"some"
        while data and self._asked.get():
            try:
                data = os.read(self._descriptor, CHUNK)
            except OSError:
                data = b""
            _tell(self._loop, partial(self._arrived, data))
        os.close(self._descriptor)

    def _arrived(self, data: bytes) -> None:
        self._data = data
        self._came.set()


class ThreadSink:
    """Writes a descriptor in a thread of its own; it counts as full until that is done."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._frames = queue.SimpleQueue[bytes | None]()
        self._taken = anyio.Event()
        self._taken.set()
        self._lost = False
        threading.Thread(target=self._run, name="turnbuckle writer", daemon=True).start()

    def write(self, data: bytes) -> bool:
        """Hand bytes to the thread."""
        if self._lost:
            raise PeerGone
        self._taken = anyio.Event()
        self._frames.put(data)
        return False

    async def drained(self) -> None:
        """Wait until the thread has written them."""
        await self._taken.wait()
        if self._lost:
            raise PeerGone

    def close(self) -> None:
        """Let the thread end; one that is stuck does not keep the process."""
        self._lost = True
        self._taken.set()
        self._frames.put(None)

    def _run(self) -> None:
        while (data := self._frames.get()) is not None:
            try:
                _write_all(self._descriptor, data)
            except OSError:
                _tell(self._loop, self._fail)
                break
            _tell(self._loop, self._took)
        os.close(self._descriptor)

    def _took(self) -> None:
        self._taken.set()

    def _fail(self) -> None:
        self._lost = True
        self._taken.set()


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _tell(loop: asyncio.AbstractEventLoop, tell: Callable[[], None]) -> None:
    try:
        loop.call_soon_threadsafe(tell)
    except RuntimeError:  # the loop is closed: nobody listens
        return
