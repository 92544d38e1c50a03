"""All changes of one connection's sessions, their hunks followed through what is typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from turnbuckle.agent.sessions import OpenSession
from turnbuckle.kernel.scope import Scope
from turnbuckle.lsp.documents import OpenDocument
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.review.followed import Followed
from turnbuckle.lsp.review.proposals import Proposal, Sight, sights, undone_by_person
from turnbuckle.lsp.review.sheets import Sheets
from turnbuckle.workspace.changes import digest_of
from turnbuckle.workspace.text import Splice

KEPT = 100
"""Changes that are remembered after they were decided; the oldest are forgotten."""

Listener: TypeAlias = Callable[[str], None]
"""Gets the URI of a file of which something changed that a reviewer sees."""


class Review:
    """What there is to review. States follow from questions, facts and texts; none is stored."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.sheets = Sheets(editor.documents)
        self.proposals: list[Proposal] = []
        self._listeners: list[Listener] = []

    def register(self, scope: Scope) -> None:
        """Follow what is typed."""
        self.editor.documents.listen(scope, self._typed)

    def observe(self, listener: Listener) -> None:
        """Tell of every change of what is to be reviewed."""
        self._listeners.append(listener)

    def add(self, proposal: Proposal) -> None:
        """Take up a change; decided ones of long ago are forgotten."""
        decided = [one for one in self.proposals if not one.open]
        for one in decided[: max(0, len(decided) - KEPT)]:
            self.drop(one)
        self.proposals.append(proposal)
        self.sheets.add(proposal.files)
        self.touch(proposal)

    def drop(self, proposal: Proposal) -> None:
        """Forget a change."""
        self.touch(proposal)
        self.proposals.remove(proposal)
        self.sheets.remove(proposal.files)

    def called(self, opened: OpenSession, call_id: str) -> Proposal | None:
        """The change of a session's call."""
        mine = (one for one in self.proposals if one.opened is opened)
        return next((one for one in mine if one.call_id == call_id), None)

    def of(self, uri: str) -> list[tuple[Proposal, Followed]]:
        """The changes of a file, oldest first."""
        files = self.sheets.named(uri) if self.proposals else []
        return [(p, file) for p in self.proposals for file in p.files if file in files]

    def of_document(self, document: OpenDocument) -> list[tuple[Proposal, Followed]]:
        """The changes of a document that is open, oldest first."""
        files = self.sheets.of(document).files if self.proposals else []
        return [(p, file) for p in self.proposals for file in p.files if file in files]

    def find(self, hunk_id: str) -> tuple[Proposal, Followed] | None:
        """The change and the file that a hunk belongs to."""
        for proposal in self.proposals:
            for file in proposal.files:
                if hunk_id in file.hunks:
                    return proposal, file
        return None

    def sights(self, proposal: Proposal, file: Followed, text: str) -> list[Sight]:
        """The hunks of a file as they are in its current text."""
        return list(sights(proposal, file, text, self.sheets.spans(file, text)))

    def touch(self, proposal: Proposal) -> None:
        """Tell those who show something of a change."""
        for file in proposal.files:
            for listener in self._listeners:
                listener(file.change.uri)

    def _typed(self, document: OpenDocument, splices: tuple[Splice, ...]) -> None:
        for file, hunk_ids in self.sheets.typed(document, splices):
            if found := self.find(hunk_ids[0]):
                undone_by_person(found[0], file, hunk_ids, digest_of(document.text))
        if any(proposal.open for proposal, _ in self.of_document(document)):
            for listener in self._listeners:
                listener(document.uri)
