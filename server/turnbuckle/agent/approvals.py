"""Ask, decide, first answer wins: a question is a fact, and so is its answer."""

import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import anyio

from turnbuckle.session.codec import NotJson
from turnbuckle.session.events import ApprovalAsked, ApprovalDecided, ApprovalHunk
from turnbuckle.session.parts import ApprovalOutcome
from turnbuckle.session.session import Session
from turnbuckle.tools.execute import Permission
from turnbuckle.tools.hooks import Execution
from turnbuckle.tools.subject import Change, Subject, describe, digest
from turnbuckle.tools.tool import Verdict

CHOICES = ("allow", "reject")

_DENIALS: dict[ApprovalOutcome, str] = {
    "rejected": "the person said no",
    "cancelled": "the question was withdrawn",
    "unavailable": "nobody could be asked, so it was not allowed",
}


@dataclass(slots=True)
class Pending:
    """A question that is open. `hunks` maps each hunk to its decision, None while it has none."""

    approval_id: str
    subject: Subject
    reason: str
    hunks: dict[str, bool | None]
    outcome: ApprovalOutcome | None = None
    note: str | None = None
    answer: str | None = None
    edits: Mapping[str, str] = field(default_factory=dict)
    remember: str | None = None
    changed: anyio.Event = field(default_factory=anyio.Event)

    def tell(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()

    @property
    def accepted(self) -> tuple[str, ...]:
        return tuple(hunk_id for hunk_id, yes in self.hunks.items() if yes)


class Approvals:
    """The questions of one session. Nothing but an explicit yes is ever a yes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pending: dict[str, Pending] = {}

    @property
    def pending(self) -> tuple[Pending, ...]:
        """What is open now, oldest first."""
        return tuple(self._pending.values())

    async def ask(self, execution: Execution, reason: str) -> Permission:
        """Ask the person and wait, without limit.

        For a change it returns at the first accepted hunk; the others stay open meanwhile.
        """
        pending = self._open(execution, reason)
        try:
            while pending.outcome is None and not pending.accepted:
                await pending.changed.wait()
        except BaseException:
            self._settle(pending, "cancelled", by="turn")
            raise
        allowed = pending.outcome in (None, "allowed")
        why = "" if pending.outcome is None else _DENIALS.get(pending.outcome, "")
        if pending.note:
            why += f"; the person's note: {pending.note}"
        return Permission(
            allowed=allowed,
            why=why,
            accepted=lambda: _accepted(pending),
            verdict=lambda: _verdict(pending),
            answer=pending.answer,
            close=lambda: self._settle(pending, "cancelled", by="turn"),
        )

    def _open(self, execution: Execution, reason: str) -> Pending:
        subject = execution.prepared.subject
        hunks = subject.hunk_ids if isinstance(subject, Change) else ()
        pending = Pending(secrets.token_hex(16), subject, reason, dict.fromkeys(hunks))
        asked = ApprovalAsked(
            approval_id=pending.approval_id,
            call_id=execution.call.call_id,
            subject=describe(subject) | {"reason": reason},
            digest=digest(subject),
            choices=CHOICES,
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
        """Decide all that is still open of a question; False if it was settled before."""
        pending = self._pending.get(approval_id)
        if pending is None:
            return False
        pending.note = note or pending.note
        pending.answer, pending.edits, pending.remember = answer, edits or {}, remember
        open_hunks = [hunk_id for hunk_id, yes in pending.hunks.items() if yes is None]
        for hunk_id in open_hunks:
            pending.hunks[hunk_id] = allow
        some = bool(pending.accepted)
        self._settle(pending, "allowed" if allow or some else "rejected", by=by)
        return True

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
        pending.note = note or pending.note
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


async def _accepted(pending: Pending) -> AsyncIterator[tuple[str, ...]]:
    """Batches of hunks as they are accepted, until nothing is open."""
    given: set[str] = set()
    while True:
        if news := tuple(hunk_id for hunk_id in pending.accepted if hunk_id not in given):
            given.update(news)
            yield news
        elif pending.outcome is not None:
            return
        else:
            await pending.changed.wait()


def _verdict(pending: Pending) -> Verdict:
    rejected = tuple(hunk_id for hunk_id, yes in pending.hunks.items() if not yes)
    return Verdict(rejected=rejected, note=pending.note, edits=pending.edits)
