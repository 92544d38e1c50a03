"""What the facts of a session say about its changes, taken into the review."""

from __future__ import annotations

import secrets

from turnbuckle.agent.sessions import OpenSession
from turnbuckle.kernel.waterfall import Next
from turnbuckle.lsp.review.followed import Followed
from turnbuckle.lsp.review.following import Sheet
from turnbuckle.lsp.review.proposals import Proposal
from turnbuckle.lsp.review.review import Review
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    ApprovalHunk,
    EditApplied,
    EditApplying,
    EditUndone,
    Fact,
)
from turnbuckle.tools.hooks import Execution
from turnbuckle.tools.subject import Change
from turnbuckle.tools.tool import Outcome
from turnbuckle.workspace.paths import path_of

SHOWN = 200
"""Characters of a text that the model is told at most of what was undone."""


def watch(review: Review, opened: OpenSession) -> None:
    """Follow the changes of a session that was opened just now, until it is closed."""

    def fact(entry: Entry, _line: bytes) -> None:
        _take_in(review, opened, entry.fact)

    async def performed(execution: Execution, go_on: Next[Execution, Outcome]) -> Outcome:
        call_id, subject = execution.call.call_id, execution.prepared.subject
        if isinstance(subject, Change) and review.called(opened, call_id) is None:
            review.add(Proposal(opened, call_id, tuple(map(Followed, subject.files)), None))
        return await go_on(execution)

    def forget() -> None:
        for proposal in [one for one in review.proposals if one.opened is opened]:
            review.drop(proposal)

    scope = opened.session.scope
    opened.session.log.observe(scope, fact)
    opened.agent.hooks.tools.execute.use(scope, performed)
    scope.defer(forget, "review")


def _take_in(review: Review, opened: OpenSession, fact: Fact) -> None:
    match fact:
        case ApprovalAsked() as asked:
            _asked(review, opened, asked)
        case ApprovalHunk(approval_id=approval_id) | ApprovalDecided(approval_id=approval_id):
            for proposal in review.proposals:
                if proposal.pending and proposal.pending.approval_id == approval_id:
                    review.touch(proposal)
        case EditApplying() | EditApplied() | EditUndone() as edit:
            _edited(review, opened, edit)
        case _:
            pass


def _asked(review: Review, opened: OpenSession, asked: ApprovalAsked) -> None:
    for pending in opened.agent.approvals.pending:
        subject = pending.subject
        if pending.approval_id == asked.approval_id and isinstance(subject, Change):
            files = tuple(map(Followed, subject.files))
            review.add(Proposal(opened, asked.call_id, files, pending))


def _edited(
    review: Review, opened: OpenSession, fact: EditApplying | EditApplied | EditUndone
) -> None:
    if (proposal := review.called(opened, fact.call_id)) is None:
        return
    for file in proposal.files:
        if file.change.uri == fact.uri and set(fact.hunks) & file.hunks.keys():
            _became(proposal, file, fact, review.sheets.of_file(file))
    review.touch(proposal)


def _became(
    proposal: Proposal,
    file: Followed,
    fact: EditApplying | EditApplied | EditUndone,
    sheet: Sheet | None,
) -> None:
    """Take in what became of hunks of a file, as a fact of its session says."""
    match fact:
        case EditApplying():
            if sheet is not None:
                sheet.depart()
        case EditApplied(hunks=hunk_ids, outcome=outcome):
            landed = hunk_ids if outcome == "applied" else ()
            file.stand(landed)
            if sheet is not None:
                sheet.land(file, landed)
            if outcome == "stale":
                proposal.stale.update(hunk_ids)
        case EditUndone(hunks=hunk_ids, by=by):
            file.fall(hunk_ids)
            proposal.undone.update(hunk_ids)
            if by == "person":
                told = _told(file, hunk_ids)
                key = f"undone/{secrets.token_hex(8)}"
                proposal.opened.agent.inbox.add(key, told, target="step", source="context")


def _told(file: Followed, hunk_ids: tuple[str, ...]) -> str:
    """What the model is told of hunks that the person took back."""
    path = path_of(file.change.uri)
    name = path.name if path else file.change.uri
    hunks = [file.hunks[hunk_id] for hunk_id in hunk_ids]
    lines = (
        f"{_short(hunk.new)} reads {_short(hunk.old)} again" if hunk.old else
        f"{_short(hunk.new)} is gone again"
        for hunk in hunks[:10]
    )  # fmt: skip
    more = f"\nand {len(hunks) - 10} more" if len(hunks) > 10 else ""
    places = "a place" if len(hunks) == 1 else f"{len(hunks)} places"
    return f"The person undid your change of {name} in {places}:\n" + "\n".join(lines) + more


def _short(text: str) -> str:
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "…")
