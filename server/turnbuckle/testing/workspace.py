"""A workspace for tests: files in memory, a `Go` that accepts, and what was recorded through it."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from turnbuckle.session.blobs import Blobs
from turnbuckle.session.events import EditApplied, Fact
from turnbuckle.tools.tool import Change, Go, Outcome, Prepared, Verdict
from turnbuckle.workspace.changes import FileChange, digest_of
from turnbuckle.workspace.errors import Missing
from turnbuckle.workspace.files import DiskTexts
from turnbuckle.workspace.paths import Place, Roots
from turnbuckle.workspace.port import Applied, Snapshot, Texts, Workspace


class MemoryTexts:
    """Texts by URI; `answers` are given, in order, in place of applying."""

    def __init__(self, files: Mapping[str, str] | None = None) -> None:
        self.files = dict(files or {})
        self.answers: list[Applied] = []
        self.read_only: set[str] = set()

    async def read(self, place: Place) -> Snapshot:
        """The text at a place."""
        if place.uri not in self.files:
            raise Missing(f"{place.shown} does not exist")
        text = self.files[place.uri]
        return Snapshot(
            uri=place.uri,
            text=text,
            digest=digest_of(text),
            read_only=place.uri in self.read_only,
        )

    async def apply(
        self,
        place: Place,
        change: FileChange,
        hunk_ids: tuple[str, ...],
        already: tuple[str, ...] = (),
    ) -> Applied:
        """Apply onto exactly the base, as every workspace does, or answer what was set."""
        if self.answers:
            return self.answers.pop(0)
        if self.files.get(place.uri, "") != change.with_hunks(already):
            return Applied(outcome="stale")
        self.files[place.uri] = change.with_hunks((*already, *hunk_ids))
        return Applied(outcome="applied", after=digest_of(self.files[place.uri]))


@dataclass(slots=True)
class Desk:
    """A folder to work in, what was read of it, and all that tools recorded and showed."""

    folder: Path
    texts: Texts = field(default_factory=DiskTexts)
    digests: dict[str, str] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    verdict: Verdict = field(default_factory=Verdict)

    @property
    def workspace(self) -> Workspace:
        """What the tools see."""
        roots = Roots(cwd=self.folder, folders=(self.folder,))
        return Workspace(roots=roots, texts=self.texts, seen=self.digests.get)

    @property
    def blobs(self) -> Blobs:
        """Where before-images and whole outputs go: beside the folder."""
        return Blobs(self.folder.with_name(f"{self.folder.name}.blobs"))

    async def perform(
        self, prepared: Prepared, batches: Sequence[Sequence[str]] | None = None
    ) -> Outcome:
        """Perform what was prepared, with these batches accepted, or all of it."""
        outcome = await prepared.perform(self.go(prepared, batches))
        # As the session does, so that what was read can be changed.
        match outcome.meta:
            case {"read": {"uri": str(uri), "digest": str(digest)}}:
                self.digests[uri] = digest
            case _:
                pass
        return outcome

    def go(self, prepared: Prepared, batches: Sequence[Sequence[str]] | None = None) -> Go:
        """A permission: hunks that are in no batch were rejected."""
        if batches is None:
            subject = prepared.subject
            batches = [subject.hunk_ids] if isinstance(subject, Change) else []
        return go_for_tests(
            self.blobs, batches=batches, record=self._record, note=self.shown.append,
            verdict=lambda: self.verdict,
        )  # fmt: skip

    def _record(self, fact: Fact) -> None:
        self.facts.append(fact)
        if isinstance(fact, EditApplied) and fact.after is not None:
            self.digests[fact.uri] = fact.after


def go_for_tests(
    blobs: Blobs,
    *,
    batches: Sequence[Sequence[str]] = (),
    record: Callable[[Fact], None] = lambda _: None,
    note: Callable[[str], None] = lambda _: None,
    verdict: Callable[[], Verdict] = Verdict,
    answer: str | None = None,
) -> Go:
    """What a `perform` gets, with the person's decisions made in advance."""

    async def accepted() -> AsyncIterator[tuple[str, ...]]:
        for batch in batches:
            yield tuple(batch)

    async def recorded(fact: Fact) -> None:
        record(fact)

    return Go(
        call_id="call-1",
        accepted=accepted,
        verdict=verdict,
        record=recorded,
        note=note,
        blobs=blobs,
        answer=answer,
    )
