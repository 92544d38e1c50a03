"""Code lenses: the hunks of proposed changes where they stand, each with what can be done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TypeAlias

from turnbuckle.lsp import names
from turnbuckle.lsp.convert import to_range
from turnbuckle.lsp.documents import OpenDocument
from turnbuckle.lsp.review.followed import Followed
from turnbuckle.lsp.review.marking import MANY, counts, deed
from turnbuckle.lsp.review.proposals import Proposal, Sight
from turnbuckle.lsp.review.review import Review
from turnbuckle.lsp.rpc.late import types
from turnbuckle.lsp.soon import Soon
from turnbuckle.workspace.changes import Span

More: TypeAlias = "Callable[[OpenDocument], Awaitable[list[types.CodeLens]]]"
"""Gives the lenses that another feature has for a document."""


class Lenses:
    """Answers `textDocument/codeLens`, and has it asked again when that changes."""

    def __init__(self, review: Review, more: More) -> None:
        self._review = review
        self._more = more
        self._editor = review.editor
        self._refresh = Soon(self._editor.tasks, self._refreshed)
        self._shown: object = None

    def register(self) -> None:
        """Answer the client."""
        self._editor.connection.on_request("textDocument/codeLens", self._lenses)
        if self._editor.client.code_lens_refresh:
            self._review.observe(self._changed)

    def _changed(self, _uri: str) -> None:
        """Typing moves lenses, which a client asks for again by itself; decisions change them."""
        shown = [
            (hunk.hunk_id, one.open)
            for one in self._review.proposals
            for file in one.files
            for hunk in one.undecided(file)
        ]
        if shown != self._shown:
            self._shown = shown
            self._refresh.touch("workspace/codeLens/refresh")

    async def _refreshed(self, method: str) -> None:
        await self._editor.connection.call(method)

    async def _lenses(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        document = self._editor.documents.lookup(params.text_document.uri)
        if document is None:
            return []
        found = self._review.of_document(document)
        mine = (self._of(document, one, file) for one, file in found if one.open)
        return [*(lens for lenses in mine for lens in lenses), *await self._more(document)]

    def _of(
        self, document: OpenDocument, proposal: Proposal, file: Followed
    ) -> Iterator[types.CodeLens]:
        waiting = [
            sight
            for sight in self._review.sights(proposal, file, document.text)
            if sight.state in ("open", "stale")
            and proposal.decision(sight.hunk.hunk_id) is None
        ]  # fmt: skip
        if len(waiting) > MANY:
            said = f"{counts(*(sight.hunk for sight in waiting))} in {len(waiting)} places"
            about = {"uri": document.uri, "changeId": proposal.change_id}
            yield _lens(
                document, Span(0, 0), f"{said} Accept file", names.ACCEPT_FILE_COMMAND, about
            )
            yield _lens(document, Span(0, 0), "Reject file", names.REJECT_FILE_COMMAND, about)
            diff = {"changeId": proposal.change_id}
            yield _lens(document, Span(0, 0), "Diff", names.SHOW_DIFF_COMMAND, diff)
            return
        for sight in waiting:
            yield from _three(document, sight, deed(file.change, sight.hunk))


def _three(document: OpenDocument, sight: Sight, said: str) -> Iterator[types.CodeLens]:
    about, span = {"hunkId": sight.hunk.hunk_id}, sight.span
    if sight.state == "open":
        yield _lens(document, span, f"{said} Accept", names.ACCEPT_HUNK_COMMAND, about)
        yield _lens(document, span, "Reject", names.REJECT_HUNK_COMMAND, about)
    else:
        reject = f"{said} (text changed since) Reject"
        yield _lens(document, span, reject, names.REJECT_HUNK_COMMAND, about)
    yield _lens(document, span, "Diff", names.SHOW_DIFF_COMMAND, about)


def _lens(
    document: OpenDocument, span: Span, title: str, command: str, about: dict[str, str]
) -> types.CodeLens:
    range_ = to_range(document.positions, span.start, span.end, document.unit)
    return types.CodeLens(
        range=range_, command=types.Command(title=title, command=command, arguments=[about])
    )
