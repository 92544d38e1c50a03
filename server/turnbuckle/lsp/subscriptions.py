"""`session/events` and its stop: who is told what."""

from turnbuckle.lsp import names
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.lives import SessionEventsParams, SessionEventsResult, SessionEventsStopParams
from turnbuckle.lsp.protocol import Nothing
from turnbuckle.lsp.stream import Stream, start_of


class Subscriptions:
    """The subscriptions of one client; a token names one of them."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor

    def register(self) -> None:
        """Answer our requests on the editor's connection."""
        connection = self._editor.connection
        connection.on_request(names.SESSION_EVENTS, self._events)
        connection.on_request(names.SESSION_EVENTS_STOP, self._stop)

    async def _events(self, params: SessionEventsParams) -> SessionEventsResult:
        session = self._editor.session(params.session_id).session
        index = start_of(session, after=params.after, turns=params.turns)
        self.start(Stream(self._editor.connection, session, params.token, index))
        entries = session.log.entries
        first = entries[index].seq if index < len(entries) else session.log.seq + 1
        return SessionEventsResult.model_validate({"from": first, "seq": session.log.seq})

    def start(self, stream: Stream) -> None:
        """Run a stream beside everything else.

        Raises:
            Refused: another subscription uses its token, or there are too many.
        """
        self._editor.require_free(stream.token)
        self._editor.streams[stream.token] = stream
        self._editor.tasks.start_soon(self._run, stream)

    async def _run(self, stream: Stream) -> None:
        try:
            await stream.run()
        finally:
            self._editor.streams.pop(stream.token, None)

    async def _stop(self, params: SessionEventsStopParams) -> Nothing:
        token = params.token
        told = self._editor.streams.get(token) or self._editor.watching.get(token)
        if told is not None:
            await told.stop()
        return Nothing()
