"""What the editor features of one connection share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from turnbuckle.agent.sessions import OpenSession, Sessions, Starts
from turnbuckle.lsp.clientfacts import ClientFacts
from turnbuckle.lsp.documents import Documents
from turnbuckle.lsp.refusing import refusing
from turnbuckle.lsp.rpc import INVALID_PARAMS, Connection, Refused
from turnbuckle.lsp.stream import Stream
from turnbuckle.session.parts import JsonObject
from turnbuckle.session.session import Session

MOST = 256
"""Subscriptions and watches that one client may have at once."""

Look: TypeAlias = Callable[[], JsonObject]
"""Gives a note's data as it is when it is sent."""


class Watch(Protocol):
    """Notes on a token that belong to no one session."""

    def tell(self, type_: str, about: str, look: Look) -> None:
        """Send a note about something soon; instead of one about the same that still waits."""
        ...

    async def stop(self) -> None:
        """End, and return when nothing will be sent any more."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Editor:
    """One client: its connection, what it can do, its documents, and the sessions it opened.

    `streams` are its subscriptions and `watching` what else it is told, by token. `state` is the
    folder of our own files, `first_folder` gives what a session works in that names none.
    """

    connection: Connection
    client: ClientFacts
    documents: Documents
    sessions: Sessions
    tasks: Starts
    state: Path
    first_folder: Callable[[], str | None] = lambda: None
    streams: dict[int | str, Stream] = field(default_factory=dict)
    watching: dict[int | str, Watch] = field(default_factory=dict)

    def uses(self, token: int | str | None) -> bool:
        """Whether something travels on a token already."""
        return token in self.streams or token in self.watching

    def require_free(self, token: int | str, name: str = "token") -> None:
        """Pass if something may begin to travel on a token; `name` is that of the parameter.

        Raises:
            Refused: something does already, or on too many others.
        """
        if self.uses(token):
            raise Refused(f"{name}: {token!r} is in use already", code=INVALID_PARAMS)
        if len(self.streams) + len(self.watching) >= MOST:
            said = f"there are {MOST} subscriptions already; end one of them first"
            raise Refused(said, kind="overloaded", retryable=True)

    def session(self, session_id: str) -> OpenSession:
        """An open session.

        Raises:
            Refused: none with this id is open.
        """
        with refusing():
            return self.sessions.get(session_id)

    def watches(self, session: Session) -> bool:
        """Whether a live subscription shows this session in a client that answers approvals."""
        return self.client.events and bool(self._streams_of(session))

    async def unwatched(self, session: Session) -> None:
        """Return when no live subscription shows this session."""
        while self.watches(session):
            for stream in self._streams_of(session):
                await stream.ended()

    def _streams_of(self, session: Session) -> list[Stream]:
        return [stream for stream in self.streams.values() if stream.session is session]

    async def told(self, session_id: str, seq: int) -> None:
        """Return when all subscriptions of a session have sent everything up to this fact."""
        for stream in list(self.streams.values()):
            if stream.session.id == session_id:
                await stream.reached(seq)
