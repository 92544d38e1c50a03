"""A proposed change as the person reviews it: what was decided of it, and what came of that."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from turnbuckle.agent.approvals import Pending
from turnbuckle.agent.sessions import OpenSession
from turnbuckle.lsp.documents import OpenDocument, real_path
from turnbuckle.lsp.review.followed import Followed, standing_at
from turnbuckle.session.events import EditUndone
from turnbuckle.workspace.changes import Hunk, Span, new_id
from turnbuckle.workspace.paths import canonical

State: TypeAlias = Literal["open", "stale", "accepted", "rejected", "undone"]


@dataclass(slots=True, eq=False)
class Proposal:
    """One change of one session; `pending` is its question, None where nobody had to be asked.

    `undone` are hunks that were applied and taken back, `stale` those that were accepted too late.
    """

    opened: OpenSession
    call_id: str
    files: tuple[Followed, ...]
    pending: Pending | None
    change_id: str = field(default_factory=new_id)
    undone: set[str] = field(default_factory=set)
    stale: set[str] = field(default_factory=set)

    @property
    def open(self) -> bool:
        """Whether something of it can still be decided."""
        return self.pending is not None and self.pending.outcome is None

    def decision(self, hunk_id: str) -> bool | None:
        """Whether a hunk was accepted; None while it is open."""
        if self.pending is None:
            return True
        decided = self.pending.hunks.get(hunk_id)
        return False if decided is None and not self.open else decided

    def undecided(self, file: Followed) -> list[Hunk]:
        """The hunks of a file that are open, stale or not."""
        return [hunk for hunk in file.change.hunks if self.decision(hunk.hunk_id) is None]


@dataclass(frozen=True, slots=True)
class Sight:
    """A hunk as it is to be seen in the current text of its file: its state and its place."""

    hunk: Hunk
    state: State
    span: Span


def sights(
    proposal: Proposal, file: Followed, text: str, spans: dict[str, Span]
) -> Iterator[Sight]:
    """All hunks of a file, in order; `spans` are where they were followed to in this text."""
    for hunk in file.change.hunks:
        span = spans[hunk.hunk_id]
        if hunk.hunk_id in proposal.undone:
            yield Sight(hunk, "undone", span)
        elif (decision := proposal.decision(hunk.hunk_id)) is None:
            at = standing_at(file.change, hunk, span, text)
            if file.change.kind in ("delete", "rename"):
                span = Span(0, 0)  # it is about the file, and is shown at its beginning
                at = at and span
            yield Sight(hunk, "stale", span) if at is None else Sight(hunk, "open", at)
        elif hunk.hunk_id in proposal.stale:
            yield Sight(hunk, "stale", span)
        else:
            yield Sight(hunk, "accepted" if decision else "rejected", span)


def undone_by_person(
    proposal: Proposal, file: Followed, hunk_ids: tuple[str, ...], after: str | None
) -> None:
    """Put down that hunks that stood are gone again; the review takes it in as a fact.

    `after` is the digest of the text that stands now.
    """
    if not proposal.opened.read_only:
        uri, call_id = file.change.uri, proposal.call_id
        proposal.opened.session.append(
            EditUndone(call_id=call_id, uri=uri, hunks=hunk_ids, by="person", after=after)
        )


def key_of(uri: str) -> str:
    """What is the same for all names of one file, as far as a URI tells."""
    path = real_path(uri)
    return canonical(uri) if path is None else os.path.normcase(path)


def key_of_document(document: OpenDocument) -> str:
    """The same of a document that is open, without looking at the disk again."""
    path = document.path
    return canonical(document.uri) if path is None else os.path.normcase(path)
