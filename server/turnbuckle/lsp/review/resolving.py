"""Decide hunks, and take applied ones back: `review/resolve`, and what the commands stand on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from turnbuckle.lsp import names
from turnbuckle.lsp.review.followed import Followed
from turnbuckle.lsp.review.proposals import Proposal
from turnbuckle.lsp.review.review import Review
from turnbuckle.lsp.review.undoing import take_back
from turnbuckle.lsp.reviewing import HunkOutcome, ReviewResolveParams, ReviewResolveResult

By: TypeAlias = Literal["client", "command"]

LATE = "the text was changed since; undo what was typed there, or reject it"


class Resolving:
    """Takes decisions. It returns once they are on record, and waits for no application."""

    def __init__(self, review: Review) -> None:
        self._review = review

    def register(self) -> None:
        """Answer our request."""
        self._review.editor.connection.on_request(names.REVIEW_RESOLVE, self._resolve)

    async def _resolve(self, params: ReviewResolveParams) -> ReviewResolveResult:
        outcomes: dict[str, HunkOutcome] = {}
        for accept in (True, False):
            action = "accept" if accept else "reject"
            hunk_ids = [one.hunk_id for one in params.decisions if one.action == action]
            outcomes |= self.decide(hunk_ids, accept=accept, by="client")
        outcomes |= self.undo([one.hunk_id for one in params.decisions if one.action == "undo"])
        return ReviewResolveResult(
            outcomes=tuple(outcomes[one.hunk_id] for one in params.decisions)
        )

    def decide(
        self, hunk_ids: Sequence[str], *, accept: bool, by: By, note: str | None = None
    ) -> dict[str, HunkOutcome]:
        """Accept or reject hunks; those of one change are decided at once, and applied at once."""
        outcomes: dict[str, HunkOutcome] = {}
        together: dict[Proposal, dict[str, bool]] = {}
        for hunk_id in hunk_ids:
            outcome = self._hindrance(hunk_id, accept=accept)
            if outcome is not None:
                outcomes[hunk_id] = outcome
            elif found := self._review.find(hunk_id):
                together.setdefault(found[0], {})[hunk_id] = accept
        for proposal, hunks in together.items():
            if proposal.pending is not None:
                proposal.opened.agent.approvals.decide_hunks(
                    proposal.pending.approval_id, hunks, by=by, note=note
                )
            word: Literal["accepted", "rejected"] = "accepted" if accept else "rejected"
            outcomes |= {i: HunkOutcome(hunk_id=i, outcome=word) for i in hunks}
        return outcomes

    def _hindrance(self, hunk_id: str, *, accept: bool) -> HunkOutcome | None:
        """Why a hunk cannot be decided like this, if there is a reason."""
        found = self._review.find(hunk_id)
        if found is None:
            return _unknown(hunk_id)
        if found[0].decision(hunk_id) is not None:
            message = "it is decided already"
            return HunkOutcome(hunk_id=hunk_id, outcome="settled", message=message)
        if accept and hunk_id in self.stale(*found):
            return HunkOutcome(hunk_id=hunk_id, outcome="stale", message=LATE)
        return None

    def stale(self, proposal: Proposal, file: Followed) -> set[str]:
        """The hunks of a file that have lost their text, as far as that is known without asking."""
        document = self._review.sheets.document(file)
        if document is None:
            return set()
        found = self._review.sights(proposal, file, document.text)
        return {sight.hunk.hunk_id for sight in found if sight.state == "stale"}

    def undo(self, hunk_ids: Iterable[str]) -> dict[str, HunkOutcome]:
        """Take applied hunks back, one after another; what comes of it is a fact of the session."""
        outcomes: dict[str, HunkOutcome] = {}
        back: list[tuple[Proposal, Followed, str]] = []
        for hunk_id in hunk_ids:
            if (found := self._review.find(hunk_id)) is None:
                outcomes[hunk_id] = _unknown(hunk_id)
            elif hunk_id in found[0].undone:
                message = "it is undone already"
                outcomes[hunk_id] = HunkOutcome(hunk_id=hunk_id, outcome="settled", message=message)
            elif hunk_id not in found[1].standing:
                message = "it was not applied"
                outcomes[hunk_id] = HunkOutcome(hunk_id=hunk_id, outcome="failed", message=message)
            else:
                back.append((*found, hunk_id))
                outcomes[hunk_id] = HunkOutcome(hunk_id=hunk_id, outcome="undone")
        if back:
            self._review.editor.tasks.start_soon(take_back, self._review, back)
        return outcomes


def _unknown(hunk_id: str) -> HunkOutcome:
    return HunkOutcome(
        hunk_id=hunk_id, outcome="unknown", message="that change is not there any more"
    )
