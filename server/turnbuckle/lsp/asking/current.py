"""The session that commands go on in: what a client without a panel talks to."""

import anyio

from turnbuckle.agent.sessions import OpenSession
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.turns import Turns
from turnbuckle.lsp.writing import writes


class Current:
    """One session at a time, opened when something is asked, until another one is chosen."""

    def __init__(self, editor: Editor, turns: Turns) -> None:
        self._editor = editor
        self._turns = turns
        self._session_id: str | None = None
        self._opening = anyio.Lock()

    @property
    def session(self) -> OpenSession | None:
        """The session, if there is one and it is open."""
        every = self._editor.sessions.open_sessions
        return next((one for one in every if one.session.id == self._session_id), None)

    def choose(self, opened: OpenSession) -> None:
        """Go on in this one."""
        self._session_id = opened.session.id

    async def get(self) -> OpenSession:
        """The session, a new one where there is none that can be written.

        Raises:
            Refused: none can be opened.
        """
        async with self._opening:
            opened = self.session
            if opened is not None and await writes(self._editor, opened):
                return opened
            return await self._new()

    async def new(self) -> OpenSession:
        """Another session, unless nothing was said in this one yet.

        Raises:
            Refused: none can be opened.
        """
        async with self._opening:
            opened = self.session
            return opened if opened and not opened.session.log.entries else await self._new()

    async def _new(self) -> OpenSession:
        opened = await self._turns.open()
        self.choose(opened)
        return opened
