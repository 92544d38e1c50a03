"""The messages about proposed edits, and about saving what is edited."""

from typing import Literal

from pydantic import Field, model_validator

from turnbuckle.lsp.positions import Range
from turnbuckle.lsp.wire import Wire


class ReviewListParams(Wire):
    """The changes of a session, those of a file, or all that are open."""

    session_id: str | None = None
    uri: str | None = None


class ReviewHunk(Wire):
    """One hunk; `range` is where it stands in the current text, in the negotiated encoding.

    `stale` hunks have lost their text; undoing what was typed can bring it back.
    """

    hunk_id: str
    state: Literal["open", "stale", "accepted", "rejected", "undone"]
    range: Range
    old_text: str
    new_text: str


class ReviewFile(Wire):
    """The hunks of one file; `digest` is that of the text that the change was made for.

    `newUri` is where a file that is renamed goes.
    """

    uri: str
    new_uri: str | None = None
    kind: Literal["create", "modify", "delete", "rename"]
    digest: str | None = None
    hunks: tuple[ReviewHunk, ...]


class ReviewChange(Wire):
    """One proposed change; `approvalId` is absent once it was decided."""

    change_id: str
    session_id: str
    approval_id: str | None = None
    files: tuple[ReviewFile, ...]


class ReviewListResult(Wire):
    """Changes, oldest first."""

    changes: tuple[ReviewChange, ...]


class HunkDecision(Wire):
    """What to do with one hunk; `undo` takes back one that was accepted and applied."""

    hunk_id: str
    action: Literal["accept", "reject", "undo"]


class ReviewResolveParams(Wire):
    """Decisions, each about one hunk; they are taken together."""

    decisions: tuple[HunkDecision, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _each_once(self) -> "ReviewResolveParams":
        if len({decision.hunk_id for decision in self.decisions}) < len(self.decisions):
            raise ValueError("decisions: name each hunk once")
        return self


class HunkOutcome(Wire):
    """What came of one decision: as it was `decided`, or why not.

    An application is verified later; its outcome is a fact of the session.
    """

    hunk_id: str
    outcome: Literal["accepted", "rejected", "undone", "settled", "unknown", "stale", "failed"]
    message: str | None = None


class ReviewResolveResult(Wire):
    """One outcome a decision, in their order."""

    outcomes: tuple[HunkOutcome, ...]


class SaveParams(Wire):
    """Server to client, for one that announces `save`: save these documents now."""

    uris: tuple[str, ...]


class SaveResult(Wire):
    """What was saved, and what could not be."""

    saved: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
