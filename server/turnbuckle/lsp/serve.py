"""A server process: on standard input and output, or on a port of this machine."""

import asyncio
import logging
import os
import secrets
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import orjson
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectSendStream

from turnbuckle.lsp.rpc.descriptors import claim_stdio, open_streams
from turnbuckle.lsp.rpc.errors import Refused
from turnbuckle.lsp.rpc.streams import Link
from turnbuckle.lsp.service import App, Make, Service

__all__ = ["App", "Make", "serve_stdio", "serve_tcp"]

logger = logging.getLogger(__name__)

GRACE = 4.0
"""Seconds from the end of the connection to the end of the process, at the latest."""

HANDSHAKE_TIME = 30.0
"""Seconds in which whoever connects to the port must have sent `initialize`."""

LOOPBACK = "127.0.0.1"
MAX_CALLERS = 16


async def serve_stdio(make: Make, *, grace: float = GRACE) -> int:
    """Serve the process's standard streams and give the exit code.

    0 after `shutdown`, 1 without it, 128 + n after signal n. The process ends within `grace`
    seconds of the end of the connection, even if something in it does not.
    """
    try:
        descriptors = claim_stdio()
    except OSError:
        logger.error("standard input or output is not open: is this run by an editor?")  # noqa: TRY400 - no fault of ours
        return 1
    source, sink = await open_streams(*descriptors)
    service = Service(source, sink, make)
    async with _process(grace) as process:
        await process.serve(service)
    return process.code


async def serve_tcp(host: str, port: int, token: str, make: Make, *, grace: float = GRACE) -> int:
    """Serve the first client of a port that brings the token; the exit code is as above.

    Port 0 takes a free one. One JSON line `{port, token}` is printed once it listens.

    Raises:
        ValueError: the host is not the loopback address.
        OSError: the port is taken.
    """
    if host != LOOPBACK:
        raise ValueError(f"only {LOOPBACK} can be served: whoever connects can run commands")
    send, callers = anyio.create_memory_object_stream[Link](MAX_CALLERS)
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(lambda: _Caller(send), host, port)
    _announce({"port": listening.sockets[0].getsockname()[1], "token": token})
    ticket = _Ticket(token)
    with send, callers:
        async with _process(grace) as process:
            async for link in callers:
                service = Service(link, link, make, ticket.take)
                process.group.start_soon(process.serve_caller, service)
        listening.close()
        while callers.statistics().current_buffer_used:
            callers.receive_nowait().close()
    return process.code


@dataclass
class _Process:
    """One server process; when what it was for is over, all of it ends."""

    group: TaskGroup
    grace: float
    code: int = 1

    async def serve(self, service: Service) -> None:
        """Run a service, and end the process with it."""
        self.group.start_soon(self._limit_after, service)
        await service.run()
        self._end(service.code)

    async def serve_caller(self, service: Service) -> None:
        """Run the service of someone who has yet to show a token."""
        self.group.start_soon(self._hang_up, service)
        await service.run()
        if service.admitted.is_set():
            self._end(service.code)

    async def heed_signals(self) -> None:
        """End at the first signal; a second one has its usual effect."""
        if sys.platform != "win32":  # there, asyncio's own handling of Ctrl-C stands
            numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
            with anyio.open_signal_receiver(*numbers) as received:
                async for number in received:
                    self._limit(128 + number)
                    self._end(128 + number)

    def _end(self, code: int) -> None:
        self.code = code
        self.group.cancel_scope.cancel()

    async def _hang_up(self, service: Service) -> None:
        with anyio.move_on_after(HANDSHAKE_TIME):
            await service.admitted.wait()
        if service.admitted.is_set():
            await self._limit_after(service)
        service.stop.set()

    async def _limit_after(self, service: Service) -> None:
        await service.stop.wait()
        self._limit(service.code)

    def _limit(self, code: int) -> None:
        # A thread, so that neither a shielded clean-up nor a blocked loop can hold it up.
        timer = threading.Timer(self.grace, os._exit, [code])
        timer.daemon = True
        timer.start()


@asynccontextmanager
async def _process(grace: float) -> AsyncIterator[_Process]:
    async with anyio.create_task_group() as group:
        process = _Process(group, grace)
        group.start_soon(process.heed_signals)
        yield process


class _Caller(Link):
    """A connection to the port that says so when it is made."""

    def __init__(self, callers: MemoryObjectSendStream[Link]) -> None:
        super().__init__()
        self._callers = callers

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        try:
            self._callers.send_nowait(self)
        except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self.close()


class _Ticket:
    """The token that one client may show once."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()
        self._taken = False

    def take(self, params: dict[str, Any]) -> None:  # Any: JSON
        """Admit whoever shows it first.

        Raises:
            Refused: it is missing, wrong or spent; which one is not said.
        """
        match params:
            case {"initializationOptions": {"turnbuckle": {"token": str(shown)}}}:
                right = secrets.compare_digest(shown.encode("utf-8", "replace"), self._token)
            case _:
                right = False
        if self._taken or not right:
            raise Refused(
                "initializationOptions.turnbuckle.token is not the one that the server printed",
                kind="token",
                retryable=False,
            )
        self._taken = True


def _announce(line: dict[str, object]) -> None:
    """Print one line, then keep standard output free of anything else."""
    sys.stdout.flush()
    os.write(1, orjson.dumps(line) + b"\n")
    for descriptor in claim_stdio():
        os.close(descriptor)
