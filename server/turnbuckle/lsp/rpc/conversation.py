"""A connection's life: read it, run its requests, and end it from either side."""

import logging

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from turnbuckle.lsp.rpc.connection import Connection
from turnbuckle.lsp.rpc.errors import Refused
from turnbuckle.lsp.rpc.framing import BadFrame, Frames
from turnbuckle.lsp.rpc.streams import Source

logger = logging.getLogger(__name__)

FLUSH_TIME = 2.0
"""Seconds that the peer has at the end to take the last frames."""


async def converse(connection: Connection, source: Source, stop: anyio.Event) -> None:
    """Read a connection until its end: the source's, the peer's, or `stop`, which is set then.

    Returns when every request that ran is cancelled and answered, and both streams are closed.
    """
    async with anyio.create_task_group() as writing:
        writing.start_soon(_write, connection, stop)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_read, connection, source, group, stop)
                try:
                    await stop.wait()
                finally:
                    stop.set()
                    connection.questions.lose("the connection is closed")
                    group.cancel_scope.cancel()
        finally:
            with anyio.move_on_after(FLUSH_TIME, shield=True):
                await connection.writer.flush()
            source.close()
            connection.writer.lose()
            writing.cancel_scope.cancel()


async def _write(connection: Connection, stop: anyio.Event) -> None:
    await connection.writer.run()
    stop.set()


async def _read(
    connection: Connection, source: Source, group: TaskGroup, stop: anyio.Event
) -> None:
    frames = Frames(connection.gate.longest)
    try:
        while data := await source.read():
            for body in frames.feed(data):
                if connection.incoming.receive(body, group):
                    # Lets the request do its first part before the next message is looked at.
                    await anyio.lowlevel.checkpoint()
                await connection.gate.between()
                # Who does not read our answers is not asked for more to answer.
                await connection.writer.room()
                frames.max_body = connection.gate.longest
    except BadFrame as bad:
        logger.error("the stream cannot be read on: %s", bad)  # noqa: TRY400 - no fault of ours
        connection.incoming.answers.refuse(None, Refused(str(bad), code=bad.code))
    finally:
        stop.set()
