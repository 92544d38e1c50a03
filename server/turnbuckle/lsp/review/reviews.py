"""Review where the code stands: all its parts of one connection, made and registered together."""

from __future__ import annotations

from turnbuckle.agent.sessions import OpenSession
from turnbuckle.kernel.scope import Scope
from turnbuckle.lsp.asking.growing import Growing
from turnbuckle.lsp.commands import Commands
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.review.hints import Hints
from turnbuckle.lsp.review.hovering import Hovering
from turnbuckle.lsp.review.hunks import Hunks
from turnbuckle.lsp.review.lenses import Lenses, More
from turnbuckle.lsp.review.noticing import watch
from turnbuckle.lsp.review.resolving import Resolving
from turnbuckle.lsp.review.review import Review
from turnbuckle.lsp.review.reviewlist import ReviewList
from turnbuckle.lsp.review.virtual import Virtual
from turnbuckle.lsp.rpc.late import types
from turnbuckle.lsp.showing import Showing


class Reviews:
    """What a reviewer sees and does. `more` gives lenses that have nothing to do with reviews."""

    def __init__(
        self, editor: Editor, commands: Commands, showing: Showing, growing: Growing, more: More
    ) -> None:
        self.review = Review(editor)
        self.virtual = Virtual(self.review, showing, growing)
        self._resolving = Resolving(self.review)
        self._more = more
        self._hints = Hints(self.review)
        self._hunks = Hunks(commands, self.review, self._resolving, self.virtual)

    def register(self, scope: Scope) -> None:
        """Answer requests and run commands."""
        self.review.register(scope)
        for feature in (
            self._resolving,
            self._hints,
            self._hunks,
            self.virtual,
            ReviewList(self.review),
            Lenses(self.review, self._more),
            Hovering(self.review),
        ):
            feature.register()

    def watch(self, opened: OpenSession) -> None:
        """Follow the changes of a session that was opened just now."""
        watch(self.review, opened)

    def did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Take up a document, and show what waits in it."""
        self.review.editor.documents.did_open(params)
        self._hints.touch(params.text_document.uri)

    def did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Let go of a document, and clear what was shown in it."""
        self.review.editor.documents.did_close(params)
        self._hints.touch(params.text_document.uri)
