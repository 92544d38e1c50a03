"""An open session, spoken to over the wire and nothing else."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias
from uuid import uuid4

import anyio

from turnbuckle.cli.approving import Answer
from turnbuckle.lsp.client import Client, ServerRefused
from turnbuckle.lsp.lives import (
    SessionEventsParams,
    SessionEventsStopParams,
    SessionOpenParams,
    SessionOpenResult,
    SessionParams,
    SessionReadParams,
    SessionReadResult,
)
from turnbuckle.lsp.names import (
    APPROVE,
    CANCEL,
    EXPERIMENTAL,
    SESSION_CLOSE,
    SESSION_EVENTS,
    SESSION_EVENTS_STOP,
    SESSION_OPEN,
    SESSION_READ,
    TURN,
    VERSION,
)
from turnbuckle.lsp.protocol import (
    ApproveParams,
    ApproveResult,
    CancelParams,
    ImagePart,
    Text,
    TurnParams,
    TurnResult,
    WhenBusy,
)
from turnbuckle.lsp.rpc import NoAnswer
from turnbuckle.workspace.paths import uri_of

TOKEN = "events"

START_TIME = 30.0
"""Seconds that the server has to start and to open the session."""

# Any: a value on the wire is JSON.
OnValue: TypeAlias = Callable[[Any], None]

CAPABILITIES = {
    "general": {"positionEncodings": ["utf-8"]},
    "experimental": {EXPERIMENTAL: {"protocolVersions": [VERSION], "events": {}}},
}


@dataclass(frozen=True, slots=True)
class Talk:
    """An open session.

    Its requests raise `ServerRefused` where the server does not want to, and `NoAnswer` where it
    is gone.
    """

    client: Client
    opened: SessionOpenResult
    token: str = TOKEN

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.opened.session_id

    async def turn(
        self,
        prompt: str | None,
        *,
        images: tuple[ImagePart, ...] = (),
        when_busy: WhenBusy = "queue",
    ) -> TurnResult:
        """Send a message and wait for the end of its turn; None resumes one that was cut off."""
        params = TurnParams(
            session_id=self.session_id,
            key=uuid4().hex,
            input=() if prompt is None else (Text(type="text", text=prompt), *images),
            resume=prompt is None,
            when_busy=when_busy,
        )
        result = await self.client.request(TURN, params)
        assert isinstance(result, TurnResult)
        return result

    async def cancel(self, *, keep_queue: bool = False) -> None:
        """Cancel the running turn, and what waits."""
        params = CancelParams(session_id=self.session_id, keep_queue=keep_queue)
        await self.client.request(CANCEL, params)

    async def approve(self, approval_id: str, answer: Answer) -> bool:
        """Answer an approval; false if it was settled already."""
        decision: Literal["allow", "reject"] = "allow" if answer.allow else "reject"
        params = ApproveParams(
            approval_id=approval_id,
            decision=decision if answer.answer is None and answer.hunks is None else None,
            hunks=dict(answer.hunks) if answer.hunks is not None else None,
            answer=answer.answer,
            note=answer.note,
            remember="session" if answer.remember else None,
        )
        result = await self.client.request(APPROVE, params)
        assert isinstance(result, ApproveResult)
        return result.accepted


async def open_session(
    client: Client, cwd: Path | None, session_id: str | None, seen: OnValue, turns: int = 0
) -> SessionOpenResult:
    """Shake hands, open a session, and have the values of its events go to `seen`.

    These are those of its last `turns`, and all new ones.

    Without `cwd`, a session that is gone on with works in the folder that it was made in.

    Raises:
        ServerRefused: there is no such session, or it cannot be opened.
        NoAnswer: the server is gone, or is none of ours.
    """
    folder = uri_of(cwd) if cwd else None
    with anyio.move_on_after(START_TIME):
        _require_ours(await client.initialize(CAPABILITIES, folders=[folder] if folder else []))
        params = SessionOpenParams(session_id=session_id, cwd=None if session_id else folder)
        return await _open(client, params, TOKEN, seen, turns)
    raise NoAnswer(f"it did not open a session within {START_TIME:g} seconds")


async def change_session(
    talk: Talk, params: SessionOpenParams, seen: OnValue, *, turns: int
) -> Talk:
    """Open another session on the same server, and close the one that was talked in.

    Raises:
        ServerRefused: it cannot be opened; the old one stays as it was.
        NoAnswer: the server is gone.
    """
    client, token = talk.client, f"{TOKEN}-{uuid4().hex}"
    opened = await _open(client, params, token, seen, turns)
    with suppress(ServerRefused):
        await client.request(SESSION_EVENTS_STOP, SessionEventsStopParams(token=talk.token))
        await client.request(SESSION_CLOSE, SessionParams(session_id=talk.session_id))
    return Talk(client, opened, token)


async def _open(
    client: Client, params: SessionOpenParams, token: str, seen: OnValue, turns: int
) -> SessionOpenResult:
    opened = await client.request(SESSION_OPEN, params)
    assert isinstance(opened, SessionOpenResult)
    if turns:  # of old turns not all is sent, but where it works is always told
        first = SessionReadParams.model_validate(
            {"sessionId": opened.session_id, "from": 0, "to": 0}
        )
        read = await client.request(SESSION_READ, first)
        assert isinstance(read, SessionReadResult)
        for value in read.events:
            seen(value)
    client.on_progress(token, seen)
    where = {"turns": turns} if turns else {"after": opened.seq}
    await client.request(
        SESSION_EVENTS, SessionEventsParams(session_id=opened.session_id, token=token, **where)
    )
    return opened


def _require_ours(result: dict[str, Any]) -> None:  # Any: JSON
    match result:
        case {"capabilities": {"experimental": {"turnbuckle": {"protocolVersion": int(version)}}}}:
            if version != VERSION:
                raise NoAnswer(f"it speaks version {version} of the protocol, not {VERSION}")
        case _:
            raise NoAnswer("it is no server of turnbuckle")
