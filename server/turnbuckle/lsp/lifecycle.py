"""Sessions forked, taken back to before a turn, and deleted, as requests and as a command."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import PurePosixPath
from typing import TypeVar
from urllib.parse import unquote, urlsplit

import anyio

from turnbuckle.agent.restoring import Restored
from turnbuckle.agent.rewinding import Busy, CannotRewind, rewind, turns_in_view, undo
from turnbuckle.agent.sessions import (
    BadBoundary,
    OpenSession,
)
from turnbuckle.lsp import names
from turnbuckle.lsp.commands import Commands
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.invocations import CommandResult, UndoTurnParams
from turnbuckle.lsp.lives import (
    SessionForkParams,
    SessionForkResult,
    SessionParams,
    SessionRewindParams,
    SessionRewindResult,
    SkippedFile,
)
from turnbuckle.lsp.protocol import Nothing
from turnbuckle.lsp.refusing import refusing
from turnbuckle.lsp.rpc import Refused
from turnbuckle.lsp.turns import stop_streams
from turnbuckle.lsp.wire import Wire
from turnbuckle.lsp.writing import require_writable
from turnbuckle.session.store import Locked

R = TypeVar("R")

_SHOWN = 5
"""How many files a message to the person names."""


class Lifecycle:
    """Forks, rewinds and deletes."""

    def __init__(self, editor: Editor, commands: Commands) -> None:
        self._editor = editor
        self._commands = commands

    def register(self) -> None:
        """Answer our requests, and run the command."""
        connection = self._editor.connection
        connection.on_request(names.SESSION_FORK, self._fork)
        connection.on_request(names.SESSION_REWIND, self._rewind)
        connection.on_request(names.SESSION_DELETE, self._delete)
        self._commands.add(names.UNDO_TURN_COMMAND, self._undo_turn)

    async def _fork(self, params: SessionForkParams) -> SessionForkResult:
        forked = _domain(lambda: self._editor.sessions.fork(params.session_id, params.turn))
        return SessionForkResult(session_id=await forked)

    async def _delete(self, params: SessionParams) -> Nothing:
        opened = self._found(params.session_id)
        await _domain(lambda: self._editor.sessions.delete(params.session_id))
        if opened is not None:
            await stop_streams(self._editor, opened)
        return Nothing()

    def _found(self, session_id: str) -> OpenSession | None:
        every = self._editor.sessions.open_sessions
        return next((opened for opened in every if opened.session.id == session_id), None)

    async def _rewind(self, params: SessionRewindParams) -> SessionRewindResult:
        opened = self._editor.session(params.session_id)
        async with opened.changing:
            await require_writable(self._editor, opened)
            if params.turn is None:
                came = await _domain(lambda: undo(opened))
            else:
                turn, files = params.turn, params.files == "restore"
                came = await _domain(lambda: rewind(opened, turn, files=files))
        skipped = tuple(SkippedFile(uri=file.uri, why=file.why) for file in came.skipped)
        return SessionRewindResult(restored=came.restored, skipped=skipped)

    async def _undo_turn(self, params: UndoTurnParams) -> Wire:
        candidates = [
            opened
            for opened in self._editor.sessions.open_sessions
            if params.session_id in (None, opened.session.id)
            and turns_in_view(opened.session.log.entries)
        ]
        if not candidates:
            return self._commands.outcome("nothing", "there is no turn to take back")
        if len(candidates) > 1:
            return self._commands.outcome(
                "ambiguous", f"{len(candidates)} sessions have turns; name the session"
            )
        undoing = _Undoing(candidates[0], params.turn)
        self._editor.tasks.start_soon(self._take_back, undoing)
        await undoing.decided.wait()
        if undoing.refused is not None:
            return self._commands.outcome("refused", undoing.refused)
        return CommandResult(outcome="undone", message=f"turn {undoing.turn} was taken back")

    async def _take_back(self, undoing: "_Undoing") -> None:
        """The rest of the command: its client may read on only when that was answered."""
        opened = undoing.opened
        try:
            async with opened.changing:
                await require_writable(self._editor, opened)
                view = turns_in_view(opened.session.log.entries)
                turn = undoing.turn = undoing.turn or (view[-1] if view else 1)
                came = await _domain(
                    lambda: rewind(opened, turn, files=True, recorded=undoing.decided.set)
                )
            self._commands.outcome("undone", _told(turn, came))
        except Refused as refused:
            undoing.refused = str(refused)
            if undoing.decided.is_set():
                self._commands.outcome("refused", str(refused))
        finally:
            undoing.decided.set()


class _Undoing:
    """A turn that is being taken back: `decided` is set when that is recorded, or refused."""

    def __init__(self, opened: OpenSession, turn: int | None) -> None:
        self.opened = opened
        self.turn = turn
        self.refused: str | None = None
        self.decided = anyio.Event()


def _told(turn: int, came: Restored) -> str:
    said = f"turn {turn} was taken back"
    if came.restored:
        said += f"; put back: {_named(came.restored)}"
    if came.skipped:
        first = came.skipped[0]
        said += f"; left as it is: {_name(first.uri)} ({first.why})"
        if more := len(came.skipped) - 1:
            said += f" and {more} more"
    return said


def _named(uris: Sequence[str]) -> str:
    more = f" and {len(uris) - _SHOWN} more" if len(uris) > _SHOWN else ""
    return ", ".join(map(_name, uris[:_SHOWN])) + more


def _name(uri: str) -> str:
    return PurePosixPath(unquote(urlsplit(uri).path)).name or uri


async def _domain(act: Callable[[], Awaitable[R]]) -> R:
    """What an act gives, its failures in our terms."""
    try:
        with refusing():
            return await act()
    except (BadBoundary, CannotRewind) as error:
        raise Refused(str(error), kind="noSuchTurn", retryable=False) from error
    except Busy as error:
        raise Refused(str(error), kind="busy", retryable=True) from error
    except Locked as error:
        said = "another window writes this session; close it there first"
        raise Refused(said, kind="readOnly", retryable=True) from error
