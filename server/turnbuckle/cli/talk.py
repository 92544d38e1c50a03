"""A server of our own, as a process, with one session open on it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from turnbuckle.cli.opened import OnValue, Talk, open_session
from turnbuckle.cli.signals import Leave
from turnbuckle.lsp.client import Client, ServerRefused, connect
from turnbuckle.lsp.lives import SessionOpenResult
from turnbuckle.lsp.rpc import NoAnswer

HURRY = 1.0
"""Seconds that the server has to end when the person wants to leave at once."""


class ServerGone(Exception):
    """The server could not start, or died.

    `code` is its exit code, `tail` the end of what it wrote to standard error, `session_id` the
    session that was open.
    """

    def __init__(
        self, what: str, *, code: int | None = None, tail: str = "", session_id: str | None = None
    ) -> None:
        super().__init__(what)
        self.code = code
        self.tail = tail
        self.session_id = session_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """How the server is started.

    `env` replaces the environment; `stderr` is a descriptor for its log, None to keep the end of it
    for the case that it dies.
    """

    argv: Sequence[str]
    env: Mapping[str, str] | None = None
    stderr: int | None = None


@asynccontextmanager
async def talking(
    server: Server,
    *,
    cwd: Path | None,
    session_id: str | None,
    seen: OnValue,
    leave: Leave,
    turns: int = 0,
) -> AsyncIterator[Talk]:
    """Start a server and open a session; the values of its last `turns` and all new ones go to
    `seen`.

    The server has ended when the block is left.

    Raises:
        ServerGone: it could not start, or died.
        ServerRefused: it does not want what was asked of it.
    """
    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(
                connect(server.argv, env=server.env, stderr=server.stderr)
            )
        except OSError as error:
            raise ServerGone(f"the server could not be started: {error.strerror}") from error
        stack.push_async_callback(_end, client)
        leave.hurry = client.stop.set
        opened: SessionOpenResult | None = None
        try:
            opened = await open_session(client, cwd, session_id, seen, turns)
            yield Talk(client, opened)
            await client.shutdown()
        except ServerRefused:
            raise
        except NoAnswer as error:
            raise await _gone(client, opened, error) from error
        finally:
            leave.hurry = None


async def _gone(client: Client, opened: SessionOpenResult | None, error: NoAnswer) -> ServerGone:
    """What is known of a server that answers no more."""
    hung_up = client.stop.is_set()
    client.stop.set()
    process = client.process
    assert process is not None
    with anyio.CancelScope(shield=True), anyio.move_on_after(HURRY):
        await process.end()
    code = process.returncode
    what = "the server died" if opened else "the server could not start"
    return ServerGone(
        # A process that ended by itself says more by its code than the lost connection does.
        what if hung_up and code is not None else f"{what}: {error.said}",
        code=code if hung_up else None,
        tail=process.stderr,
        session_id=opened.session_id if opened else None,
    )


async def _end(client: Client) -> None:
    """Whatever way we leave, the server and what it runs end soon."""
    client.stop.set()
    with anyio.CancelScope(shield=True):
        if client.process is not None:
            await client.process.end(HURRY)
