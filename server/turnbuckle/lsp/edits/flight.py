"""One edit of an open document, from when it is sent until its text shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import anyio

from turnbuckle.lsp.convert import to_edits, to_workspace_edit
from turnbuckle.lsp.documents import OpenDocument
from turnbuckle.lsp.edits.aiming import put
from turnbuckle.lsp.edits.landing import Landing
from turnbuckle.lsp.rpc import NoAnswer
from turnbuckle.lsp.rpc.late import types
from turnbuckle.workspace.changes import Hunk
from turnbuckle.workspace.text import Splice, smallest


class Calls(Protocol):
    """The part of a connection that is needed."""

    # Any: as in Connection.call, the answer is of the method's result type.
    async def call(self, method: str, params: object, *, timeout: float | None = 20.0) -> Any:
        """Ask the peer and give its answer; raises NoAnswer."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What an editor answered: `error` for nothing usable, `silent` for nothing in time."""

    word: Literal["yes", "no", "error", "silent"]
    said: str | None = None


class Flight:
    """Hunks on their way into a document, made for the text and the version that it has now."""

    def __init__(self, document: OpenDocument, hunks: tuple[Hunk, ...]) -> None:
        self.document = document
        self.landing = Landing(document.text, hunks)
        self._revision = document.revision
        self._first = self._next = document.trail.hold()
        self._edits = to_edits(document.positions, hunks, document.unit)

    @property
    def disturbed(self) -> bool:
        """Whether the document changed since it was sent."""
        return self.document.revision != self._revision

    @property
    def expected(self) -> str:
        """The text that there will be, with what else was changed until now."""
        return put(self.landing.text, self.landing.pending)

    async def send(self, connection: Calls, *, versioned: bool, limit: float) -> Answer:
        """Have the editor make the edit; its answer proves nothing."""
        version = self.document.version if versioned else None
        params = types.ApplyWorkspaceEditParams(
            label="Turnbuckle edit",
            edit=to_workspace_edit(self.document.uri, self._edits, version),
        )
        answer: object = None
        with anyio.move_on_after(limit) as scope:
            try:
                answer = await connection.call(types.WORKSPACE_APPLY_EDIT, params, timeout=None)
            except NoAnswer as error:
                return Answer("error", error.said)
        if scope.cancelled_caught:
            return Answer("silent", f"the editor did not answer within {limit:g} s")
        if not isinstance(answer, types.ApplyWorkspaceEditResult):
            return Answer("error", "the editor gave no usable answer")
        return Answer("yes" if answer.applied else "no", answer.failure_reason)

    async def settle(self, limit: float, lull: float | None = None) -> None:
        """Wait until the hunks stand in the text, or the document is closed, or for so long.

        With `lull` only for so long after something else was changed in it.
        """
        with anyio.move_on_after(limit):
            while not self.caught_up() and not self.document.closed:
                with anyio.move_on_after(lull if self.disturbed else None) as wait:
                    await self.document.changed(self.document.revision)
                if wait.cancelled_caught:
                    break
        self.caught_up()

    def caught_up(self) -> bool:
        """Look at what was changed meanwhile; whether all hunks stand in the text now."""
        trail, landing = self.document.trail, self.landing
        splices = trail.since(self._next)
        if splices is None:
            splices = (smallest(landing.text, Splice(0, len(landing.text), self.document.text)),)
        for splice in splices:
            landing.see(splice)
        self._next = trail.hold()
        return landing.landed

    def tell(self) -> None:
        """Let the trail of the document know which changes were hunks."""
        if self.landing.begun:
            self.document.trail.retell(self._first, self.landing.story)
