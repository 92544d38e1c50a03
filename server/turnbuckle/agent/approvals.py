"""Ask, decide, first answer wins: a question is a fact, and so is its answer."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from turnbuckle.agent.grants import Grant, Grants, grantable
from turnbuckle.agent.hooks import Typed
from turnbuckle.agent.pending import Pending as Pending
from turnbuckle.session.codec import NotJson
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    ApprovalHunk,
    GrantAdded,
    GrantRevoked,
)
from turnbuckle.session.parts import ApprovalOutcome, JsonObject
from turnbuckle.session.session import Session
from turnbuckle.tools.caution import Caution
from turnbuckle.tools.execute import Permission
from turnbuckle.tools.hooks import Ask, Execution
from turnbuckle.tools.judging import innermost
from turnbuckle.tools.subject import Change, Question, Subject, describe, digest

SESSION = "session"
"""What `remember` says where an answer is to hold for the rest of the session."""

_DENIALS: dict[ApprovalOutcome, str] = {
    "rejected": "the person said no",
    "cancelled": "the question was withdrawn",
    "unavailable": "nobody could be asked, so it was not allowed",
}


class Settle(Protocol):
    """What closes a question; `by` says who."""

    def __call__(self, pending: Pending, outcome: ApprovalOutcome, *, by: str) -> None: ...


class Approvals:
    """The questions of one session, and what was granted. Nothing but an explicit yes is a yes.

    `folders` gives those of the workspace; `typed` is what notes and answers pass through.
    """

    def __init__(
        self,
        session: Session,
        folders: Callable[[], Sequence[Path]] = lambda: (),
        typed: Typed | None = None,
    ) -> None:
        self._session = session
        self._folders = folders
        self._typed = typed or Typed()
        self._pending: dict[str, Pending] = {}
        self._grants = Grants()

    @property
    def pending(self) -> tuple[Pending, ...]:
        """What is open now, oldest first."""
        return tuple(self._pending.values())

    @property
    def grants(self) -> tuple[Grant, ...]:
        """What is allowed for the session, oldest first."""
        return self._grants.follow(self._session.log.entries)

    def revoke(self, grant_id: str) -> bool:
        """Take a grant back; False if it does not hold (any more)."""
        if grant_id not in (grant.grant_id for grant in self.grants):
            return False
        self._session.append(GrantRevoked(grant_id=grant_id))
        return True

    async def ask(self, execution: Execution, reason: str) -> Permission:
        """Ask the person and wait, without limit.

        For a change it returns at the first accepted hunk; the others stay open meanwhile.
        """
        subject = execution.prepared.subject
        # A question that a layer added is one that no grant will answer.
        ordinary = await innermost(execution) == Ask(reason)
        grants = grantable(subject, Caution(self._folders())) if ordinary else ()
        pending = self._open(subject, execution.call.call_id, reason, grants)
        await _answered(pending, self._settle)
        why = "" if pending.outcome is None else _DENIALS.get(pending.outcome, "")
        if pending.note:
            why += f"; the person's note: {pending.note}"
        return Permission(
            allowed=pending.outcome in (None, "allowed"),
            why=why,
            accepted=pending.batches,
            verdict=lambda: pending.verdict,
            answer=pending.answer,
            close=lambda: self._settle(pending, "cancelled", by="turn"),
        )

    async def question(self, asker: str, question: str, choices: Sequence[str] = ()) -> str | None:
        """Ask something that is no call's, and wait, without limit; `asker` stands for the call.

        The answer, which need not be one of the choices; None if there is none.

        Raises:
            NotJson: the question holds half a character.
        """
        subject = Question(question=question, choices=tuple(dict.fromkeys(choices)))
        pending = self._open(subject, asker, "it is a question", ())
        await _answered(pending, self._settle)
        return pending.answer if pending.outcome == "allowed" else None

    def _open(
        self, subject: Subject, call_id: str, reason: str, grants: tuple[JsonObject, ...]
    ) -> Pending:
        hunks = subject.hunk_ids if isinstance(subject, Change) else ()
        pending = Pending(
            secrets.token_hex(16), subject, reason, dict.fromkeys(hunks), grants=grants
        )
        asked = ApprovalAsked(
            approval_id=pending.approval_id,
            call_id=call_id,
            subject=describe(subject) | {"reason": reason},
            digest=digest(subject),
            choices=_choices(pending),
        )
        self._pending[pending.approval_id] = pending
        try:
            self._session.append(asked)
        except NotJson:
            del self._pending[pending.approval_id]  # it was never asked
            raise
        return pending

    def decide(
        self,
        approval_id: str,
        *,
        allow: bool,
        by: str,
        note: str | None = None,
        answer: str | None = None,
        edits: Mapping[str, str] | None = None,
        remember: str | None = None,
    ) -> bool:
        """Decide all that is still open of a question; False if it was settled before.

        `remember="session"` allows the same for the rest of the session, where that is possible.
        """
        pending = self._pending.get(approval_id)
        if pending is None:
            return False
        remembered = allow and remember == SESSION and bool(pending.grants)
        pending.note = self._typed(note) if note else pending.note
        pending.answer, pending.edits = answer and self._typed(answer), edits or {}
        pending.remember = SESSION if remembered else None
        open_hunks = [hunk_id for hunk_id, yes in pending.hunks.items() if yes is None]
        for hunk_id in open_hunks:
            pending.hunks[hunk_id] = allow
        some = bool(pending.accepted)
        self._settle(pending, "allowed" if allow or some else "rejected", by=by)
        if remembered:
            self._remember(pending.grants)
        return True

    def _remember(self, subjects: Sequence[JsonObject]) -> None:
        """Grant these for the session, which answers what is asked about them already."""
        for subject in subjects:
            if subject not in (grant.subject for grant in self.grants):
                self._session.append(GrantAdded(grant_id=secrets.token_hex(8), subject=subject))
        held = [grant.subject for grant in self.grants]
        for other in self.pending:
            untouched = all(yes is None for yes in other.hunks.values())
            if other.grants and untouched and all(one in held for one in other.grants):
                other.hunks = dict.fromkeys(other.hunks, True)
                self._settle(other, "allowed", by="grant")

    def decide_hunks(
        self, approval_id: str, hunks: Mapping[str, bool], *, by: str, note: str | None = None
    ) -> bool:
        """Decide single hunks of a change, each once; the others stay open.

        False if none of them was open.
        """
        pending = self._pending.get(approval_id)
        news = {
            hunk_id: yes
            for hunk_id, yes in hunks.items()
            if pending and hunk_id in pending.hunks and pending.hunks[hunk_id] is None
        }
        if pending is None or not news:
            return False
        pending.note = self._typed(note) if note else pending.note
        for hunk_id, yes in news.items():
            pending.hunks[hunk_id] = yes
            self._session.append(
                ApprovalHunk(
                    approval_id=approval_id,
                    hunk_id=hunk_id,
                    decision="accepted" if yes else "rejected",
                )
            )
        if None in pending.hunks.values():
            pending.tell()
        else:
            self._settle(pending, "allowed" if pending.accepted else "rejected", by=by)
        return True

    def withdraw(self, approval_id: str, outcome: ApprovalOutcome, *, by: str) -> bool:
        """Settle a question that nobody can answer any more; never as a yes."""
        pending = self._pending.get(approval_id)
        if pending is None:
            return False
        self._settle(pending, "cancelled" if outcome == "allowed" else outcome, by=by)
        return True

    def _settle(self, pending: Pending, outcome: ApprovalOutcome, *, by: str) -> None:
        if self._pending.pop(pending.approval_id, None) is None:
            return
        pending.outcome = outcome
        self._session.append(
            ApprovalDecided(
                approval_id=pending.approval_id,
                outcome=outcome,
                by=by,
                note=pending.note,
                answer=pending.answer,
                remember=pending.remember,
            )
        )
        pending.tell()


async def _answered(pending: Pending, settle: Settle) -> None:
    try:
        while pending.outcome is None and not pending.accepted:
            await pending.changed.wait()
    except BaseException:
        settle(pending, "cancelled", by="turn")
        raise


def _choices(pending: Pending) -> tuple[str, ...]:
    if isinstance(pending.subject, Question):
        return ("answer", "reject")
    return ("allow", "allowForSession", "reject") if pending.grants else ("allow", "reject")
