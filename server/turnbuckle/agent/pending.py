"""A question that is open, and what the waiting call learns of its answer."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import anyio

from turnbuckle.session.parts import ApprovalOutcome, JsonObject
from turnbuckle.tools.subject import Subject
from turnbuckle.tools.tool import Verdict


@dataclass(slots=True)
class Pending:
    """A question that is open. `hunks` maps each hunk to its decision, None while it has none.

    `grants` is what a yes for the session would allow from then on; empty where there is none.
    """

    approval_id: str
    subject: Subject
    reason: str
    hunks: dict[str, bool | None]
    grants: tuple[JsonObject, ...] = ()
    outcome: ApprovalOutcome | None = None
    note: str | None = None
    answer: str | None = None
    edits: Mapping[str, str] = field(default_factory=dict)
    remember: str | None = None
    changed: anyio.Event = field(default_factory=anyio.Event)
    together: list[tuple[str, ...]] = field(default_factory=list)

    def tell(self) -> None:
        known = {hunk_id for batch in self.together for hunk_id in batch}
        if news := tuple(hunk_id for hunk_id in self.accepted if hunk_id not in known):
            self.together.append(news)
        self.changed.set()
        self.changed = anyio.Event()

    @property
    def accepted(self) -> tuple[str, ...]:
        return tuple(hunk_id for hunk_id, yes in self.hunks.items() if yes)

    @property
    def verdict(self) -> Verdict:
        """What was decided in the end; whatever has no decision was not accepted."""
        rejected = tuple(hunk_id for hunk_id, yes in self.hunks.items() if not yes)
        return Verdict(rejected=rejected, note=self.note, edits=self.edits)

    async def batches(self) -> AsyncIterator[tuple[str, ...]]:
        """Batches of hunks as they were accepted together, until nothing is open."""
        given = 0
        while True:
            if given < len(self.together):
                given += 1
                yield self.together[given - 1]
            elif self.outcome is not None:
                return
            else:
                await self.changed.wait()
