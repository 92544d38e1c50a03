"""Information diagnostics: where a proposed change waits, pushed and cleared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import orjson

from turnbuckle.lsp import names
from turnbuckle.lsp.documents import OpenDocument
from turnbuckle.lsp.review.marking import MANY, counts, marked, summary
from turnbuckle.lsp.review.proposals import key_of, key_of_document
from turnbuckle.lsp.review.review import Review
from turnbuckle.lsp.soon import Soon
from turnbuckle.workspace.changes import Span

SOURCE = names.EXPERIMENTAL
"""How our diagnostics are told from others."""

INFORMATION = 3

Row: TypeAlias = dict[str, object]


class Hints:
    """Publishes the diagnostics of open documents; one list a document is on its way at most."""

    def __init__(self, review: Review) -> None:
        self._review = review
        self._editor = review.editor
        self._published: dict[str, str] = {}
        self._publish = Soon(self._editor.tasks, self._published_for)

    def register(self) -> None:
        """Publish whatever changes."""
        self._review.observe(self._publish.touch)

    def touch(self, uri: str) -> None:
        """A document was opened or closed."""
        if self._review.proposals or self._published:
            self._publish.touch(uri)

    async def _published_for(self, uri: str) -> None:
        document = self._editor.documents.lookup(uri)
        key = key_of(uri) if document is None else key_of_document(document)
        rows = [] if document is None else list(self._rows(document))
        if document is not None and rows:
            self._published[key] = document.uri
            params: Row = {"uri": document.uri, "version": document.version, "diagnostics": rows}
        elif (known := self._published.pop(key, None)) is not None:
            params = {"uri": known, "diagnostics": []}
        else:
            return
        message = {
            "jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params,
        }  # fmt: skip
        await self._editor.connection.send_text(orjson.dumps(message))

    def _rows(self, document: OpenDocument) -> Iterator[Row]:
        for proposal, file in self._review.of_document(document):
            waiting = [
                sight
                for sight in self._review.sights(proposal, file, document.text)
                if proposal.decision(sight.hunk.hunk_id) is None
            ]
            if len(waiting) > MANY:
                said = counts(*(sight.hunk for sight in waiting))
                said = f"{said} in {len(waiting)} places, proposed"
                first = marked(document.text, Span(0, 0))
                yield _row(document, first, said, {"changeId": proposal.change_id})
                continue
            for sight in waiting:
                about = {"hunkId": sight.hunk.hunk_id}
                yield _row(
                    document, marked(document.text, sight.span), summary(file.change, sight), about
                )


def _row(document: OpenDocument, span: Span, message: str, data: dict[str, str]) -> Row:
    ends = (document.positions.position(at, document.unit) for at in (span.start, span.end))
    start, end = ({"line": line, "character": character} for line, character in ends)
    return {
        "range": {"start": start, "end": end},
        "severity": INFORMATION,
        "source": SOURCE,
        "message": message,
        "data": data,
    }
