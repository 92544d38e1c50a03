"""Which hunks are followed in which open documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from turnbuckle.lsp.documents import Documents, OpenDocument
from turnbuckle.lsp.review.followed import Followed, Spans, places
from turnbuckle.lsp.review.following import Sheet
from turnbuckle.lsp.review.proposals import key_of, key_of_document
from turnbuckle.workspace.text import Splice


class Sheets:
    """Files of changes, and a sheet for each open document that is one of them."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._keys: dict[Followed, str] = {}
        self._sheets: dict[OpenDocument, Sheet] = {}

    def add(self, files: Iterable[Followed]) -> None:
        """Follow these, from now on."""
        for file in files:
            self._keys[file] = key_of(file.change.uri)
            document = self.document(file)
            if document is None:
                continue
            known = self._sheets.get(document)
            if known is None:
                self.of(document)
            else:
                known.add(file)

    def remove(self, files: Iterable[Followed]) -> None:
        """Follow these no longer."""
        for file in files:
            self._keys.pop(file, None)
            for sheet in self._sheets.values():
                if file in sheet.files:
                    sheet.files.remove(file)

    def named(self, uri: str) -> list[Followed]:
        """The files that a URI names."""
        key = key_of(uri)
        return [file for file, its in self._keys.items() if its == key]

    def document(self, file: Followed) -> OpenDocument | None:
        """The open document of a file."""
        return self._documents.lookup(file.change.uri)

    def of(self, document: OpenDocument) -> Sheet:
        """What is followed in a document that is open."""
        if (sheet := self._sheets.get(document)) is None:
            self._sheets = {one: its for one, its in self._sheets.items() if not one.closed}
            sheet = self._sheets[document] = Sheet(document.text, document.trail)
            key = key_of_document(document)
            for file, its in self._keys.items():
                if its == key:
                    sheet.add(file)
        return sheet

    def of_file(self, file: Followed) -> Sheet | None:
        """The sheet of a file, if its document is open."""
        document = self.document(file)
        return None if document is None else self.of(document)

    def spans(self, file: Followed, text: str) -> Spans:
        """Where the hunks of a file are in its text as it is now."""
        sheet = self.of_file(file)
        if sheet is not None and file in sheet.files and sheet.text == text:
            return file.spans
        return places(file.change, file.standing, text)

    def typed(
        self, document: OpenDocument, splices: Sequence[Splice]
    ) -> list[tuple[Followed, tuple[str, ...]]]:
        """Take in what was changed; gives the hunks that were undone by that."""
        if document in self._sheets:
            ours = document.lock.locked()
            return self._sheets[document].see(document.text, splices, ours=ours)
        if self._keys:
            self.of(document)
        return []
