"""Sessions and turns as requests: a turn's request stays open until the turn has ended."""

import logging
from contextlib import suppress

import anyio

from turnbuckle.agent.inbox import Dropped, Ended, Inbox, until_ended, until_entered
from turnbuckle.agent.sessions import OpenSession
from turnbuckle.lsp import names
from turnbuckle.lsp.asking.pointing import contexts
from turnbuckle.lsp.configuring import Effective
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.lives import SessionOpenParams, SessionOpenResult, SessionParams
from turnbuckle.lsp.pictures import kept
from turnbuckle.lsp.protocol import (
    CancelParams,
    ImagePart,
    Nothing,
    TurnParams,
    TurnResult,
    WhenBusy,
)
from turnbuckle.lsp.refusing import refusing
from turnbuckle.lsp.rpc import CANCELLED, INVALID_PARAMS, Refused
from turnbuckle.lsp.stream import Stream, start_of_turn
from turnbuckle.lsp.subscriptions import Subscriptions
from turnbuckle.lsp.workdone import WorkDone
from turnbuckle.lsp.writing import require_writable
from turnbuckle.session import codec
from turnbuckle.session.codec import scrub
from turnbuckle.session.parts import Context, Target
from turnbuckle.workspace.paths import path_of

logger = logging.getLogger(__name__)

RESUME = "Go on with what was interrupted. Look first at what was already done."
"""What a resumed turn says to the model."""

_RESUMABLE = ("interrupted", "aborted", "error", "stopped", "max-tokens")


class Turns:
    """Opens and closes sessions, submits messages, and answers when their turns have ended."""

    def __init__(
        self,
        editor: Editor,
        subscriptions: Subscriptions,
        work_done: WorkDone,
        effective: Effective,
    ) -> None:
        self._editor = editor
        self._subscriptions = subscriptions
        self._work_done = work_done
        self._effective = effective

    def register(self) -> None:
        """Answer our requests on the editor's connection."""
        connection = self._editor.connection
        connection.on_request(names.SESSION_OPEN, self._open)
        connection.on_request(names.SESSION_CLOSE, self._close)
        connection.on_request(names.TURN, self._turn)
        connection.on_request(names.CANCEL, self._cancel)

    async def _open(self, params: SessionOpenParams) -> SessionOpenResult:
        opened = await self.open(params.session_id, params.cwd)
        config = await self._effective(opened.session.id)
        session, end = opened.session, opened.session.last_end
        usage = session.usage
        return SessionOpenResult(
            session_id=session.id,
            seq=session.log.seq,
            read_only=opened.read_only,
            damaged=session.damage,
            title=session.title,
            config=config,
            interrupted=True if end and end.end.kind == "interrupted" else None,
            usage=codec.jsonable(usage.session) if usage.session else None,
            context=usage.context,
        )

    async def open(self, session_id: str | None = None, cwd: str | None = None) -> OpenSession:
        """Open a session.

        Raises:
            Refused: it cannot be; the data's `kind` says why.
        """
        if cwd is not None and session_id is None:
            _require_folder(cwd)
        elif session_id is None:
            # Kept in the session: in another window the first folder may be another one.
            cwd = self._editor.first_folder()
        with refusing():
            return await self._editor.sessions.open(session_id, cwd)

    async def _close(self, params: SessionParams) -> Nothing:
        opened = self._editor.session(params.session_id)
        await self._editor.sessions.close(params.session_id)
        await stop_streams(self._editor, opened)
        return Nothing()

    async def _cancel(self, params: CancelParams) -> Nothing:
        opened = self._editor.session(params.session_id)
        opened.driver.cancel("user", keep_queue=params.keep_queue)
        return Nothing()

    # -- a turn ----------------------------------------------------------------------------------

    async def _turn(self, params: TurnParams) -> TurnResult:
        opened = self._editor.session(params.session_id)
        if params.partial_result_token is not None:
            self._editor.require_free(params.partial_result_token, "partialResultToken")
        text = RESUME if params.resume else params.text
        pointed = contexts(params.context, self._editor.documents)
        async with opened.changing:
            await require_writable(self._editor, opened)
            pictures = (part for part in params.input if isinstance(part, ImagePart))
            pointed += await kept(opened, pictures)
            if params.resume and not _is_known(opened.agent.inbox, params.key):
                _require_resumable(opened)
            _send(opened, params.key, text, pointed, params.when_busy)
            _tell_taken(self._editor, opened, params.key, text)
        if params.work_done_token is not None:
            self._work_done.follow(opened, params.key, params.work_done_token)
        return await self._answer(opened, params)

    async def submit(
        self,
        opened: OpenSession,
        key: str,
        text: str,
        pointed: tuple[Context, ...],
        *,
        when_busy: WhenBusy,
    ) -> str:
        """Let a message wait for its turn, and give its key; a known key joins the first.

        A session whose writer is gone is taken over first.

        Raises:
            Refused: this session, or this workspace, runs no turn.
        """
        async with opened.changing:
            await require_writable(self._editor, opened)
            _send(opened, key, text, pointed, when_busy)
            _tell_taken(self._editor, opened, key, text)
        return key

    async def _partial(self, opened: OpenSession, params: TurnParams) -> None:
        """Send that turn's values on the token of the request, if it has one."""
        token = params.partial_result_token
        if token is None:
            return
        turn = await until_entered(opened.agent.inbox, params.key)
        if turn is None:
            return
        index = start_of_turn(opened.session, turn)
        stream = Stream(self._editor.connection, opened.session, token, index, until=turn)
        with suppress(Refused):  # the token was taken since: the turn goes on without
            self._subscriptions.start(stream)

    async def _answer(self, opened: OpenSession, params: TurnParams) -> TurnResult:
        inbox = opened.agent.inbox
        try:
            await self._partial(opened, params)
            end = await until_ended(inbox, params.key)
        except anyio.get_cancelled_exc_class():
            if self._editor.connection.questions.lost:
                raise  # nobody took the message back: what waits is kept, as after a crash
            self._give_up(opened, params.key)
            with anyio.CancelScope(shield=True):
                await self._told(opened, await until_ended(inbox, params.key))
            raise
        await self._told(opened, end)
        if isinstance(end, Dropped):
            raise Refused(f"the message was dropped: {end.why}", code=CANCELLED, kind="dropped")
        return TurnResult(
            turn=end.turn,
            end=codec.jsonable(end.end),
            usage=codec.jsonable(end.usage) if end.usage else None,
            seq=end.seq,
        )

    def _give_up(self, opened: OpenSession, key: str) -> None:
        """The request was cancelled: drop a message that waits, cancel the turn of an entered one.

        What else waits stays.
        """
        turn = opened.agent.inbox.turn_of(key)
        if turn is None:
            opened.agent.inbox.drop((key,), "cancelled")
        elif opened.driver.running == turn:
            opened.driver.cancel("user", keep_queue=True)

    async def _told(self, opened: OpenSession, end: Ended | Dropped) -> None:
        """A turn's answer never overtakes its events."""
        seq = end.seq if isinstance(end, Ended) else opened.session.log.seq
        await self._editor.told(opened.session.id, seq)


async def stop_streams(editor: Editor, opened: OpenSession) -> None:
    """End the subscriptions of a session that was closed, once they have sent all of it."""
    await editor.told(opened.session.id, opened.session.log.seq)
    for stream in list(editor.streams.values()):
        if stream.session is opened.session:
            await stream.stop()


def _send(
    opened: OpenSession, key: str, text: str, pointed: tuple[Context, ...], when_busy: WhenBusy
) -> None:
    busy = opened.driver.busy
    if busy and when_busy == "reject" and not _is_known(opened.agent.inbox, key):
        raise Refused("a turn runs in this session already", kind="busy", retryable=True)
    target: Target = "step" if busy and when_busy == "steer" else "turn"
    opened.driver.send(key, scrub(text), target=target, context=pointed)


def _tell_taken(editor: Editor, opened: OpenSession, key: str, text: str) -> None:
    """Say so where a message that waits now is not what was typed."""
    kept = next((item.input for item in opened.agent.inbox.waiting if item.key == key), None)
    if kept is not None and kept != scrub(text):
        message = "Turnbuckle: a secret was taken out of your message; it is not kept or sent"
        editor.connection.notify("window/showMessage", {"type": 2, "message": message})


def is_resumable(opened: OpenSession) -> bool:
    """Whether a session's last turn was broken off, and none runs now."""
    end = opened.session.last_end
    return end is not None and end.end.kind in _RESUMABLE and not opened.driver.busy


def _require_resumable(opened: OpenSession) -> None:
    end = opened.session.last_end
    if end is None or end.end.kind not in _RESUMABLE:
        raise Refused("there is nothing to resume", kind="nothingToResume", retryable=False)


def _require_folder(cwd: str) -> None:
    path = path_of(cwd)
    if path is None or not path.is_dir():
        raise Refused(f"cwd: {cwd} is not the URI of a folder", code=INVALID_PARAMS)


def _is_known(inbox: Inbox, key: str) -> bool:
    """Whether a message with this key was sent before."""
    waits = any(item.key == key for item in inbox.waiting)
    return waits or inbox.turn_of(key) is not None or inbox.end_of(key) is not None
