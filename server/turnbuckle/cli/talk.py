"""One session on a server of our own, spoken to over the wire and nothing else."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias
from uuid import uuid4

import anyio

from turnbuckle.cli.approving import Answer
from turnbuckle.cli.signals import Leave
from turnbuckle.lsp.client import Client, ServerRefused, connect
from turnbuckle.lsp.lives import SessionEventsParams, SessionOpenParams, SessionOpenResult
from turnbuckle.lsp.names import (
    APPROVE,
    CANCEL,
    EXPERIMENTAL,
    SESSION_EVENTS,
    SESSION_OPEN,
    TURN,
    VERSION,
)
from turnbuckle.lsp.protocol import (
    ApproveParams,
    ApproveResult,
    CancelParams,
    Text,
    TurnParams,
    TurnResult,
)
from turnbuckle.lsp.rpc import NoAnswer
from turnbuckle.workspace.paths import uri_of

TOKEN = "events"

START_TIME = 30.0
"""Seconds that the server has to start and to open the session."""

HURRY = 1.0
"""Seconds that the server has to end when the person wants to leave at once."""

# Any: a value on the wire is JSON.
OnValue: TypeAlias = Callable[[Any], None]

CAPABILITIES = {
    "general": {"positionEncodings": ["utf-8"]},
    "experimental": {EXPERIMENTAL: {"protocolVersions": [VERSION], "events": {}}},
}


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


@dataclass(frozen=True, slots=True)
class Talk:
    """An open session.

    Its requests raise `ServerRefused` where the server does not want to, and `NoAnswer` where it
    is gone.
    """

    client: Client
    opened: SessionOpenResult

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.opened.session_id

    async def turn(self, prompt: str) -> TurnResult:
        """Send a message and wait for the end of its turn."""
        params = TurnParams(
            session_id=self.session_id, key=uuid4().hex, input=(Text(type="text", text=prompt),)
        )
        result = await self.client.request(TURN, params)
        assert isinstance(result, TurnResult)
        return result

    async def cancel(self) -> None:
        """Cancel the running turn, and what waits."""
        await self.client.request(CANCEL, CancelParams(session_id=self.session_id))

    async def approve(self, approval_id: str, answer: Answer) -> bool:
        """Answer an approval; false if it was settled already."""
        decision: Literal["allow", "reject"] = "allow" if answer.allow else "reject"
        params = ApproveParams(
            approval_id=approval_id,
            decision=decision if answer.answer is None else None,
            answer=answer.answer,
            note=answer.note,
            remember="session" if answer.remember else None,
        )
        result = await self.client.request(APPROVE, params)
        assert isinstance(result, ApproveResult)
        return result.accepted


@asynccontextmanager
async def talking(
    server: Server, *, cwd: Path | None, session_id: str | None, seen: OnValue, leave: Leave
) -> AsyncIterator[Talk]:
    """Start a server and open a session; every value of its events from now on goes to `seen`.

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
            client.on_progress(TOKEN, seen)
            opened = await open_session(client, cwd, session_id)
            yield Talk(client, opened)
            await client.shutdown()
        except ServerRefused:
            raise
        except NoAnswer as error:
            raise await _gone(client, opened, error) from error
        finally:
            leave.hurry = None


async def open_session(
    client: Client, cwd: Path | None, session_id: str | None
) -> SessionOpenResult:
    """Shake hands, open a session, and have its events from now on sent on `TOKEN`.

    Without `cwd`, a session that is gone on with works in the folder that it was made in.

    Raises:
        ServerRefused: there is no such session, or it cannot be opened.
        NoAnswer: the server is gone, or is none of ours.
    """
    folder = uri_of(cwd) if cwd else None
    with anyio.move_on_after(START_TIME):
        _require_ours(await client.initialize(CAPABILITIES, folders=[folder] if folder else []))
        opened = await client.request(
            SESSION_OPEN,
            SessionOpenParams(session_id=session_id, cwd=None if session_id else folder),
        )
        assert isinstance(opened, SessionOpenResult)
        await client.request(
            SESSION_EVENTS,
            SessionEventsParams(session_id=opened.session_id, token=TOKEN, after=opened.seq),
        )
        return opened
    raise NoAnswer(f"it did not open a session within {START_TIME:g} seconds")


def _require_ours(result: dict[str, Any]) -> None:  # Any: JSON
    match result:
        case {"capabilities": {"experimental": {"turnbuckle": {"protocolVersion": int(version)}}}}:
            if version != VERSION:
                raise NoAnswer(f"it speaks version {version} of the protocol, not {VERSION}")
        case _:
            raise NoAnswer("it is no server of turnbuckle")


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
