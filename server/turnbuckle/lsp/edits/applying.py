"""The text files of a workspace where an editor has some of them open: edits go through it."""

import logging
import time
from dataclasses import dataclass, replace

import anyio

from turnbuckle.lsp.clientfacts import ClientFacts
from turnbuckle.lsp.convert import ended, only_end
from turnbuckle.lsp.documents import Documents, OpenDocument
from turnbuckle.lsp.edits.aiming import aim
from turnbuckle.lsp.edits.flight import Answer, Calls, Flight
from turnbuckle.lsp.edits.relocating import relocate
from turnbuckle.lsp.quirks import quirks_of, takes_versions
from turnbuckle.lsp.trusting import doubted, trust
from turnbuckle.workspace.changes import FileChange
from turnbuckle.workspace.errors import WorkspaceError
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Applied, Snapshot, Texts

logger = logging.getLogger(__name__)

ATTEMPTS = 4
"""How often an edit is sent at most: once, and three times again where the editor refused it."""

LOOK = "its text does not show the edit, but look before trying again"
"""What is added to an answer that is no clear "no"."""

EDITABLE = ("file", "untitled")
"""Schemes of documents that a person writes in; others show what something else made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long to wait, in seconds.

    `answer`: for the editor's answer to an edit. `settle`: for the new text after it said yes.
    `quiet`: without a change before an edit that it cannot check, and for an edit that lands in
    spite of an error. `patience`: for such a quiet moment. `opening`: after the start, while
    documents that are open may not have been announced.
    """

    answer: float = 20.0
    settle: float = 5.0
    quiet: float = 0.3
    patience: float = 30.0
    opening: float = 2.0


class OpenTexts:
    """The workspace port over the documents that are open, and over the disk for all others.

    Edits of open documents are made by the editor and confirmed by looking at its text.
    """

    def __init__(
        self,
        documents: Documents,
        disk: Texts,
        connection: Calls,
        client: ClientFacts,
        *,
        limits: Limits = Limits(),
    ) -> None:
        self._documents = documents
        self._disk = disk
        self._connection = connection
        self._client = client
        self._limits = limits
        self._opened_by = time.monotonic() + limits.opening

    async def read(self, place: Place) -> Snapshot:
        """The text that the person sees, saved or not; else the text on disk.

        Raises:
            WorkspaceError: as the port says.
        """
        document = self._at(place)
        if document is None:
            return await self._disk.read(place)
        await trust(document, place, self._disk)
        return Snapshot(
            uri=place.uri,
            text=document.text,
            digest=document.digest,
            version=document.version,
            read_only=not _editable(document),
        )

    async def apply(
        self,
        place: Place,
        change: FileChange,
        hunk_ids: tuple[str, ...],
        already: tuple[str, ...] = (),
    ) -> Applied:
        """Apply hunks where their place stands now, and look whether they came to stand there."""
        if self._at(place) is None:
            await anyio.sleep(max(0.0, self._opened_by - time.monotonic()))
        while document := self._at(place):
            async with document.lock:
                if change.kind in ("delete", "rename"):
                    return await relocate(
                        document, place, change, disk=self._disk, connection=self._connection,
                        client=self._client, limit=self._limits.answer,
                    )  # fmt: skip
                applied = await self._edit(document, place, change, hunk_ids, already)
            if applied is not None:
                logger.debug("an edit of %s: %s", document.uri, applied.outcome)
                return applied
        if change.target is not None and self._at(change.target) is not None:
            said = f"{change.target.shown} is open in the editor; close it there first"
            return Applied(outcome="failed", said=said)
        return await self._disk.apply(place, change, hunk_ids, already)

    def _at(self, place: Place) -> OpenDocument | None:
        names = (place.uri, place.path, place.shown)  # what is no file has only the last
        return next(filter(None, (self._documents.lookup(name) for name in names)), None)

    async def _edit(
        self,
        document: OpenDocument,
        place: Place,
        change: FileChange,
        hunk_ids: tuple[str, ...],
        already: tuple[str, ...],
    ) -> Applied | None:
        """Have the editor edit a document; None where it was closed and nothing is under way."""
        if refusal := self._refusal(document):
            return refusal
        said: str | None = None
        flight: Flight | None = None
        again = True
        for _ in range(ATTEMPTS):
            if not await self._quiet(document):
                return _declined(document, "the text kept changing, so the edit was not sent")
            if flight and flight.caught_up():
                flight.tell()
                return Applied(outcome="applied", after=document.digest)
            if document.closed:
                return None
            hunks = aim(change, hunk_ids, already, document.text, document.trail)
            if hunks is None:
                return Applied(outcome="stale", after=document.digest, said=said)
            end = only_end(document.text)
            fit = (replace(hunk, new=ended(hunk.new, end)) for hunk in hunks)
            flight = Flight(document, tuple(fit))
            answer = await self._fly(flight)
            if applied := await self._judged(flight, answer, place, again=again):
                return applied
            said = answer.said
            again = again and answer.word != "yes"
        return _declined(document, said)

    def _refusal(self, document: OpenDocument) -> Applied | None:
        if not self._client.apply_edit:
            return _declined(document, "this editor takes no edits from a language server")
        if not _editable(document):
            said = f"{document.uri} shows what is made elsewhere, so it cannot be edited"
            return Applied(outcome="failed", after=document.digest, said=said, code="READ_ONLY")
        return doubted(document)

    async def _quiet(self, document: OpenDocument) -> bool:
        """Wait for a quiet moment, where the editor will not check what the edit was made for."""
        if self._checks(document):
            return True
        with anyio.move_on_after(self._limits.patience):
            while not document.closed:
                with anyio.move_on_after(self._limits.quiet) as wait:
                    await document.changed(document.revision)
                if wait.cancelled_caught:
                    return True
        return document.closed

    def _checks(self, document: OpenDocument) -> bool:
        """Whether the editor refuses an edit that was made for another text than it has."""
        return takes_versions(self._client) and document.version > 0

    async def _fly(self, flight: Flight) -> Answer:
        """Send an edit, and wait for its new text as long as its answer lets one hope."""
        limits = self._limits
        try:
            answer = await flight.send(
                self._connection, versioned=takes_versions(self._client), limit=limits.answer
            )
            waits = {"yes": limits.settle, "no": 0.0, "error": limits.quiet, "silent": 0.0}
            drops = quirks_of(self._client).drops_late_edits
            await flight.settle(waits[answer.word], limits.quiet if drops else None)
        finally:
            flight.tell()
        return answer

    def _dropped(self, flight: Flight) -> bool:
        """Whether an editor that does so has left out an edit that came too late for its text.

        Sending it again is safe then, once: it bears the version of the text that was told since,
        which the editor does not have any more if it made the first one after all.
        """
        document, landing = flight.document, flight.landing
        drops = quirks_of(self._client).drops_late_edits and self._checks(document)
        return drops and flight.disturbed and not landing.begun and not landing.strayed

    async def _judged(
        self, flight: Flight, answer: Answer, place: Place, *, again: bool
    ) -> Applied | None:
        """What came of an edit; None where it may be tried again."""
        document, landing = flight.document, flight.landing
        if landing.landed:
            return Applied(outcome="applied", after=document.digest)
        if document.closed:
            return await self._after_close(flight, place)
        if answer.word == "yes" and again and self._dropped(flight):
            return None
        lost = answer.word == "error" and landing.strayed
        if landing.begun or lost or answer.word in ("yes", "silent"):
            return _unlike(document, strayed=landing.strayed, answer=answer)
        if answer.word == "no" or flight.disturbed:
            return None
        sure = quirks_of(self._client).confirms_edits
        return _declined(document, answer.said if sure else f"{answer.said}; {LOOK}")

    async def _after_close(self, flight: Flight, place: Place) -> Applied:
        """What came of an edit whose document was closed, seen where the text stands now."""
        try:
            now = await self.read(place)
        except WorkspaceError:
            now = None
        if now is not None and now.text == flight.expected:
            return Applied(outcome="applied", after=now.digest)
        said = "the document was closed before its new text was seen"
        return Applied(outcome="unverified", said=said)


def _editable(document: OpenDocument) -> bool:
    return document.uri.partition(":")[0].lower() in EDITABLE


def _declined(document: OpenDocument, said: str | None) -> Applied:
    said = said or "the editor refused the edit and gave no reason"
    return Applied(outcome="declined", after=document.digest, said=said)


def _unlike(document: OpenDocument, *, strayed: bool, answer: Answer) -> Applied:
    """An edit that may have been made, but does not stand where it belongs."""
    if strayed:
        said = "the editor put the new text elsewhere, or not all of it where it belongs"
        return Applied(outcome="misplaced", after=document.digest, said=said)
    said = answer.said or "the editor says that it made the edit, but its text does not show it"
    return Applied(outcome="unverified", said=said)
