"""The client's side of the wire: for the terminal client, and for tests."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

import anyio

from turnbuckle.lsp.progress import OnProgress, Progress, Token, Values
from turnbuckle.lsp.rpc import (
    Connection,
    NoAnswer,
    NotificationHandler,
    PeerRefused,
    Question,
    RequestHandler,
)
from turnbuckle.lsp.rpc.conversation import converse
from turnbuckle.lsp.rpc.descriptors import open_streams
from turnbuckle.lsp.rpc.streams import Link, Sink, Source
from turnbuckle.lsp.rpc.writer import Writer
from turnbuckle.lsp.spawn import END_TIME, ServerProcess, spawned

ServerRefused: TypeAlias = PeerRefused
"""The server answered with an error: `code`, `message`, `data`."""

LINGER = 5.0
"""Seconds that a cancelled request waits for the server to be done with it."""


class Client:
    """Talks to one server. Our own messages are models; LSP's are JSON, as on the wire."""

    def __init__(self, sink: Sink, process: ServerProcess | None = None) -> None:
        self.connection = Connection(Writer(sink), prefix="c:")
        self.process = process
        self.stop = anyio.Event()
        self._progress = Progress()
        self.connection.on_notification("$/progress", self._progress.take)

    @property
    def returncode(self) -> int | None:
        """The exit code of the server's process; None while it runs, or where there is none."""
        return self.process.returncode if self.process is not None else None

    async def initialize(
        self,
        capabilities: Mapping[str, object] | None = None,
        options: Mapping[str, object] | None = None,
        folders: Sequence[str] = (),
        *,
        name: str = "turnbuckle",
    ) -> dict[str, Any]:  # Any: JSON
        """Shake hands and give the result of `initialize`; folders are URIs.

        Raises:
            ServerRefused: the server does not want this client.
            NoAnswer: it is gone.
        """
        params: dict[str, object] = {
            "processId": os.getpid(),
            "clientInfo": {"name": name},
            "rootUri": folders[0] if folders else None,
            "capabilities": capabilities or {},
            "workspaceFolders": [
                {"uri": uri, "name": uri.rstrip("/").rpartition("/")[2]} for uri in folders
            ],
        }
        if options is not None:
            params["initializationOptions"] = options
        question = self.connection.ask("initialize", params)
        # Imported while the server starts.
        from turnbuckle.lsp.protocol import REQUESTS

        self.connection.know(REQUESTS)
        result = await question.answer(linger=LINGER)
        self.notify("initialized", {})
        if not isinstance(result, dict):
            raise NoAnswer("the answer to initialize is not an object")
        return result

    async def request(
        self, method: str, params: object = None, *, timeout: float | None = None
    ) -> Any:  # Any: a model of ours, or JSON
        """Ask the server; cancelling this cancels the request and waits until it is over.

        Raises:
            ServerRefused: the answer is an error.
            NoAnswer: there is none, or not of the method's shape.
        """
        raw = await self.ask(method, params).answer(timeout=timeout, linger=LINGER)
        return self.connection.read(method, raw)

    def ask(self, method: str, params: object = None) -> Question:
        """Send a request whose raw answer is waited for, or cancelled, separately."""
        return self.connection.ask(method, params)

    def notify(self, method: str, params: object = None) -> None:
        """Send a notification."""
        self.connection.notify(method, params)

    def on_request(self, method: str, handler: RequestHandler) -> None:
        """Answer the server's requests of a method."""
        self.connection.on_request(method, handler)

    def on_notification(self, method: str, handler: NotificationHandler) -> None:
        """Handle the server's notifications of a method."""
        self.connection.on_notification(method, handler)

    def on_progress(self, token: Token, seen: OnProgress) -> Callable[[], None]:
        """Have every value of a token told from now on; what is returned ends that."""
        return self._progress.on(token, seen)

    def progress(self, token: Token) -> Values:
        """The values of a token from now on; ask before the request that starts them."""
        return self._progress.values(token)

    async def shutdown(self, limit: float = END_TIME) -> int | None:
        """End the server, by force after `limit` seconds, and give its exit code."""
        with suppress(NoAnswer):
            await self.request("shutdown", timeout=limit)
        self.notify("exit")
        if self.process is not None:
            await self.process.end(limit)
        self.stop.set()
        return self.returncode

    async def run(self, source: Source) -> None:
        """Read what the server says, until its end or `stop`."""
        try:
            await converse(self.connection, source, self.stop)
        finally:
            self._progress.end()


@asynccontextmanager
async def connect(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stderr: int | None = None,
) -> AsyncIterator[Client]:
    """A client of a server process of its own, which has ended when the block is left.

    `env` replaces the environment; `stderr` is a descriptor, or None to keep the end of it in
    `client.process.stderr`.

    Raises:
        OSError: the process cannot be started.
    """
    with bare_errors():
        async with spawned(argv, env=env, cwd=cwd, stderr=stderr) as process:
            source, sink = await open_streams(process.incoming, process.outgoing)
            async with attached(source, sink, process) as client:
                yield client


@asynccontextmanager
async def connect_tcp(port: int, host: str = "127.0.0.1") -> AsyncIterator[Client]:
    """A client of a server that listens on a port of this machine.

    Raises:
        OSError: there is none.
    """
    _, link = await asyncio.get_running_loop().create_connection(Link, host, port)
    async with attached(link, link) as client:
        yield client


@asynccontextmanager
async def attached(
    source: Source, sink: Sink, process: ServerProcess | None = None
) -> AsyncIterator[Client]:
    """A client over two streams, which are closed when the block is left."""
    client = Client(sink, process)
    with bare_errors():
        async with anyio.create_task_group() as group:
            group.start_soon(client.run, source)
            try:
                yield client
            finally:
                client.stop.set()


@contextmanager
def bare_errors() -> Iterator[None]:
    """Let an error of the block come out as itself, not as a task group's group of one."""
    try:
        yield
    except BaseExceptionGroup as group:
        if len(group.exceptions) > 1:
            raise
        (error,) = group.exceptions
        raise error from error.__cause__
