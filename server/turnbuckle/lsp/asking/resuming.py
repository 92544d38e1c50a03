"""The commands that say which session is gone on in, and show what was said there."""

from __future__ import annotations

from collections.abc import Sequence

from turnbuckle.agent.sessions import OpenSession
from turnbuckle.lsp import names
from turnbuckle.lsp.asking.asking import Asking
from turnbuckle.lsp.asking.current import Current
from turnbuckle.lsp.asking.growing import Growing
from turnbuckle.lsp.commands import Commands
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.invocations import CommandResult, NoParams, SessionCommandParams, SessionResult
from turnbuckle.lsp.rpc import Refused
from turnbuckle.lsp.subjects import visible
from turnbuckle.lsp.turns import RESUME, Turns, is_resumable
from turnbuckle.lsp.wire import Wire
from turnbuckle.session.index import Index
from turnbuckle.workspace.paths import path_of


class Resuming:
    """`newSession`, `resume` and `showTranscript`, for a client without a panel.

    Without an id they act on the session that commands go on in; where there is none, on the only
    one that is open.
    """

    def __init__(
        self,
        editor: Editor,
        commands: Commands,
        turns: Turns,
        current: Current,
        asking: Asking,
        growing: Growing,
    ) -> None:
        self._editor = editor
        self._commands = commands
        self._turns = turns
        self._current = current
        self._asking = asking
        self._growing = growing
        self._index = Index(editor.state)

    def register(self) -> None:
        """Run the commands."""
        self._commands.add(names.NEW_SESSION_COMMAND, self._new)
        self._commands.add(names.RESUME_COMMAND, self._resume)
        self._commands.add(names.SHOW_TRANSCRIPT_COMMAND, self._show)

    async def _new(self, _: NoParams) -> Wire:
        try:
            opened = await self._current.new()
        except Refused as refused:
            return self._commands.outcome("refused", str(refused))
        said = self._commands.outcome("opened", "what is asked now begins a new session")
        return SessionResult(**said.model_dump(), session_id=opened.session.id)

    async def _resume(self, params: SessionCommandParams) -> Wire:
        try:
            opened = await self._to_resume(params.session_id)
            if isinstance(opened, CommandResult):
                return opened
            self._current.choose(opened)
            if is_resumable(opened):
                await self._asking.send(opened, RESUME)
                return SessionResult(outcome="resumed", message="", session_id=opened.session.id)
        except Refused as refused:
            return self._commands.outcome("refused", str(refused))
        said = self._commands.outcome("chosen", f"what is asked now goes on in {_named(opened)}")
        return SessionResult(**said.model_dump(), session_id=opened.session.id)

    async def _to_resume(self, session_id: str | None) -> OpenSession | CommandResult:
        if session_id is not None:
            return await self._turns.open(session_id)
        begun = self._begun()
        if not begun:
            stored = await self._latest()
            if stored is None:
                return self._commands.outcome("nothing", "there is no session to go on with")
            return await self._turns.open(stored)
        broken = [opened for opened in begun if is_resumable(opened)]
        if not broken:
            return self._commands.outcome("nothing", "no turn was broken off")
        return self._one_of(broken) or self._several(broken)

    async def _show(self, params: SessionCommandParams) -> Wire:
        if params.session_id is None:
            begun = self._begun()
        else:
            begun = [one for one in self._begun() if one.session.id == params.session_id]
        if not begun:
            return self._commands.outcome("nothing", "nothing was said yet")
        opened = self._one_of(begun)
        if opened is None:
            return self._several(begun)
        self._editor.tasks.start_soon(self._shown, opened)
        return CommandResult(outcome="shown", message="")

    async def _shown(self, opened: OpenSession) -> None:
        if not await self._growing.show(opened):
            await self._growing.show_file(opened)

    def _begun(self) -> list[OpenSession]:
        return [one for one in self._editor.sessions.open_sessions if one.session.log.entries]

    def _one_of(self, candidates: Sequence[OpenSession]) -> OpenSession | None:
        current = self._current.session
        if current in candidates:
            return current
        return candidates[0] if len(candidates) == 1 else None

    def _several(self, candidates: Sequence[OpenSession]) -> CommandResult:
        some = "; ".join(f"{_named(one)} is {one.session.id}" for one in candidates[-5:])
        return self._commands.outcome(
            "ambiguous", f"there are {len(candidates)} sessions; name one: {some}"
        )

    async def _latest(self) -> str | None:
        """The session of the workspace folder in which something was said last."""
        folder = self._editor.first_folder()
        path = path_of(folder) if folder else None

        def here(cwd: str | None) -> bool:
            return cwd == folder or (cwd is not None and path_of(cwd) == path is not None)

        found = await self._index.page(wanted=here, size=1)
        return found.sessions[0].session_id if found.sessions else None


def _named(opened: OpenSession) -> str:
    return f"“{visible(opened.session.title or 'Turnbuckle')[:60]}”"
