"""`review/list`: the changes of a session or of a file, with their hunks in the current text."""

from __future__ import annotations

from turnbuckle.lsp import names
from turnbuckle.lsp.positions import Range
from turnbuckle.lsp.review.followed import Followed
from turnbuckle.lsp.review.proposals import Proposal, Sight
from turnbuckle.lsp.review.review import Review
from turnbuckle.lsp.reviewing import (
    ReviewChange,
    ReviewFile,
    ReviewHunk,
    ReviewListParams,
    ReviewListResult,
)
from turnbuckle.workspace.errors import WorkspaceError
from turnbuckle.workspace.paths import NoFolder
from turnbuckle.workspace.text import Positions


class ReviewList:
    """Answers what there is to review."""

    def __init__(self, review: Review) -> None:
        self._review = review

    def register(self) -> None:
        """Answer our request."""
        self._review.editor.connection.on_request(names.REVIEW_LIST, self._list)

    async def _list(self, params: ReviewListParams) -> ReviewListResult:
        """Without a session and a file, all changes that are open."""
        if params.session_id is not None:
            self._review.editor.session(params.session_id)
        wanted = [proposal for proposal in self._review.proposals if _in_session(proposal, params)]
        if params.uri is not None:
            files = [file for _, file in self._review.of(params.uri)]
        elif params.session_id is not None:
            files = [file for proposal in wanted for file in proposal.files]
        else:
            files = [file for proposal in wanted if proposal.open for file in proposal.files]
        shown = [(proposal, [f for f in proposal.files if f in files]) for proposal in wanted]
        return ReviewListResult(
            changes=tuple([await self._change(one, its) for one, its in shown if its])
        )

    async def _change(self, proposal: Proposal, files: list[Followed]) -> ReviewChange:
        rows = [await self._file(proposal, file) for file in files]
        asked = proposal.pending.approval_id if proposal.pending and proposal.open else None
        return ReviewChange(
            change_id=proposal.change_id,
            session_id=proposal.opened.session.id,
            approval_id=asked,
            files=tuple(rows),
        )

    async def _file(self, proposal: Proposal, file: Followed) -> ReviewFile:
        change = file.change
        text = await current_text(self._review, proposal, file)
        positions, unit = Positions(text), self._review.editor.documents.unit

        def row(sight: Sight) -> ReviewHunk:
            start = positions.position(sight.span.start, unit)
            end = positions.position(sight.span.end, unit)
            ends = {name: {"line": line, "character": character}
                    for name, (line, character) in (("start", start), ("end", end))}  # fmt: skip
            return ReviewHunk(
                hunk_id=sight.hunk.hunk_id,
                state=sight.state,
                range=Range.model_validate(ends),
                old_text=sight.hunk.old,
                new_text=sight.hunk.new,
            )

        return ReviewFile(
            uri=change.uri,
            new_uri=None if change.target is None else change.target.uri,
            kind="modify" if change.kind == "edit" else change.kind,
            digest=change.digest or None,
            hunks=tuple(map(row, self._review.sights(proposal, file, text))),
        )


async def current_text(review: Review, proposal: Proposal, file: Followed) -> str:
    """The text of a file as it is now: the person's, else that on disk, else none."""
    if document := review.sheets.document(file):
        return document.text
    workspace = proposal.opened.agent.workspace
    try:
        return (await workspace.texts.read(workspace.roots.resolve(file.change.uri))).text
    except (WorkspaceError, NoFolder):
        return ""


def _in_session(proposal: Proposal, params: ReviewListParams) -> bool:
    return params.session_id in (None, proposal.opened.session.id)
