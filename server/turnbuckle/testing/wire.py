"""Both ends of the wire in one process, over memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from turnbuckle.lsp.client import Client, attached, bare_errors
from turnbuckle.lsp.rpc import Connection
from turnbuckle.lsp.rpc.conversation import converse
from turnbuckle.lsp.rpc.streams import CHUNK, MemoryPipe
from turnbuckle.lsp.rpc.writer import Writer
from turnbuckle.lsp.service import Make, Service


@asynccontextmanager
async def in_process(make: Make, *, capacity: int = CHUNK) -> AsyncIterator[Client]:
    """A client of an app that is served in this process.

    `capacity` is how many bytes may be on their way before a direction counts as full.
    """
    up, down = MemoryPipe(capacity), MemoryPipe(capacity)
    with bare_errors():
        async with anyio.create_task_group() as group:
            group.start_soon(Service(up, down, make).run)
            async with attached(down, up) as client:
                yield client


@asynccontextmanager
async def memory_pair(capacity: int = CHUNK) -> AsyncIterator[tuple[Connection, Connection]]:
    """Two bare connections that talk to each other: what one sends, the other receives."""
    there, back = MemoryPipe(capacity), MemoryPipe(capacity)
    left = Connection(Writer(there), prefix="l:")
    right = Connection(Writer(back), prefix="r:")
    stop = anyio.Event()
    with bare_errors():
        async with anyio.create_task_group() as group:
            group.start_soon(converse, left, back, stop)
            group.start_soon(converse, right, there, stop)
            try:
                yield left, right
            finally:
                stop.set()
