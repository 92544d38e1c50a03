"""Take applied hunks back: the old text returns through the port, and is looked for."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from turnbuckle.lsp.review.followed import Followed, fitted_old, stands
from turnbuckle.lsp.review.proposals import Proposal, undone_by_person
from turnbuckle.lsp.review.review import Review
from turnbuckle.workspace.changes import FileChange, Hunk, Span, new_id
from turnbuckle.workspace.errors import WorkspaceError
from turnbuckle.workspace.paths import NoFolder
from turnbuckle.workspace.port import Applied

logger = logging.getLogger(__name__)

GONE = "its new text does not stand there any more"


async def take_back(review: Review, hunks: Sequence[tuple[Proposal, Followed, str]]) -> None:
    """Put the old text of hunks back, one after another, and say so where one cannot be."""
    for proposal, file, hunk_id in hunks:
        if hunk_id not in file.standing:
            continue  # undone meanwhile
        applied = await _take_back(review, proposal, file, hunk_id)
        if applied.outcome == "applied":
            undone_by_person(proposal, file, (hunk_id,), applied.after)
        else:
            message = f"Turnbuckle: the change was not undone: {_why(applied)}"
            review.editor.connection.notify("window/showMessage", {"type": 2, "message": message})


async def _take_back(review: Review, proposal: Proposal, file: Followed, hunk_id: str) -> Applied:
    """Put the old text of one hunk back, where its new text still stands."""
    workspace, hunk = proposal.opened.agent.workspace, file.hunks[hunk_id]
    if file.change.kind != "edit":
        return _not("only edits inside a file are taken back like this; rewind the turn instead")
    try:
        place = workspace.roots.resolve(file.change.uri)
        snapshot = await workspace.texts.read(place)
    except (WorkspaceError, NoFolder) as error:
        return _not(str(error))
    span = review.sheets.spans(file, snapshot.text)[hunk_id]
    if not stands(hunk, span, snapshot.text):
        return _not(GONE)
    sheet = review.sheets.of_file(file)
    if sheet is not None:
        sheet.depart()
    back = False
    try:
        change = _inverse(file, hunk, span, snapshot.text, snapshot.digest)
        applied = await workspace.texts.apply(place, change, (change.hunks[0].hunk_id,))
        back = applied.outcome == "applied"
    finally:
        if sheet is not None:
            sheet.land(file, (hunk_id,) if back else (), back=True)
    return applied


def _inverse(file: Followed, hunk: Hunk, span: Span, text: str, digest: str) -> FileChange:
    old = text[span.start : span.end]
    new = fitted_old(hunk, text)
    inverse = Hunk(hunk_id=new_id(), start=span.start, end=span.end, old=old, new=new)
    uri = file.change.uri
    return FileChange(uri=uri, kind="edit", digest=digest, base=text, hunks=(inverse,))


def _not(why: str) -> Applied:
    return Applied(outcome="failed", said=why)


def _why(applied: Applied) -> str:
    if applied.outcome == "stale":
        return GONE
    return applied.said or "the editor did not do it"
