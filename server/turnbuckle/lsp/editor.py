"""What the editor features of one connection share."""

from dataclasses import dataclass, field
from pathlib import Path

from turnbuckle.agent.sessions import OpenSession, SessionNotFound, Sessions, Starts
from turnbuckle.lsp.clientfacts import ClientFacts
from turnbuckle.lsp.documents import Documents
from turnbuckle.lsp.rpc import Connection, Refused
from turnbuckle.lsp.stream import Stream
from turnbuckle.session.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Editor:
    """One client: its connection, what it can do, its documents, and the sessions it opened.

    `streams` are its subscriptions, by token. `state` is the folder of our own files.
    """

    connection: Connection
    client: ClientFacts
    documents: Documents
    sessions: Sessions
    tasks: Starts
    state: Path
    streams: dict[int | str, Stream] = field(default_factory=dict)

    def session(self, session_id: str) -> OpenSession:
        """An open session.

        Raises:
            Refused: none with this id is open.
        """
        try:
            return self.sessions.get(session_id)
        except SessionNotFound as error:
            raise Refused(str(error), kind="sessionNotFound", retryable=False) from error

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
