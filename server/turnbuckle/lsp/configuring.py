"""`turnbuckle/session/configure`: choose for one session what its next requests are sent with."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from turnbuckle.lsp import names
from turnbuckle.lsp.choosing import EffectiveConfig
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.lives import SessionConfigureParams

Choose: TypeAlias = Callable[[str, str], Awaitable[None]]
"""Chooses a model, by its name, for a session, by its id; raises `Refused` or `BadMessage`."""

Effective: TypeAlias = Callable[[str], Awaitable[EffectiveConfig]]
"""What the next request of a session, by its id, is sent with."""


class Configuring:
    """The choices of single sessions."""

    def __init__(self, editor: Editor, choose: Choose, effective: Effective) -> None:
        self._editor = editor
        self._choose = choose
        self._effective = effective

    def register(self) -> None:
        """Answer our request on the editor's connection."""
        self._editor.connection.on_request(names.SESSION_CONFIGURE, self._configure)

    async def _configure(self, params: SessionConfigureParams) -> EffectiveConfig:
        self._editor.session(params.session_id)
        # Also for a session that another window writes: it may be taken over later.
        if params.model is not None:
            await self._choose(params.session_id, params.model)
        return await self._effective(params.session_id)
