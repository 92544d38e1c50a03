"""Hover: the diff of the proposed change under the pointer."""

from __future__ import annotations

from turnbuckle.lsp.convert import to_range
from turnbuckle.lsp.review.marking import counts, fenced, marked
from turnbuckle.lsp.review.proposals import Sight
from turnbuckle.lsp.review.review import Review
from turnbuckle.lsp.rpc.late import types

SHOWN = 3
"""Changes of one place that a hover shows at most."""


class Hovering:
    """Answers `textDocument/hover` on a hunk that waits; nothing in it can be clicked."""

    def __init__(self, review: Review) -> None:
        self._review = review

    def register(self) -> None:
        """Answer the client."""
        self._review.editor.connection.on_request("textDocument/hover", self._hover)

    async def _hover(self, params: types.HoverParams) -> types.Hover | None:
        document = self._review.editor.documents.lookup(params.text_document.uri)
        if document is None:
            return None
        position, text = params.position, document.text
        at = document.positions.offset(position.line, position.character, document.unit)
        found: list[Sight] = []
        for proposal, file in self._review.of_document(document):
            for sight in self._review.sights(proposal, file, text):
                mark = marked(text, sight.span)
                span = sight.span if mark.start <= sight.span.start < sight.span.end else mark
                if proposal.decision(sight.hunk.hunk_id) is None and (
                    span.start <= at < span.end or mark.start <= at <= mark.end
                ):
                    found.append(sight)
        if not found:
            return None
        value = "\n\n".join(f"{_said(sight)}\n\n{fenced(sight.hunk)}" for sight in found[:SHOWN])
        mark = marked(text, found[0].span)
        return types.Hover(
            contents=types.MarkupContent(kind=types.MarkupKind.Markdown, value=value),
            range=to_range(document.positions, mark.start, mark.end, document.unit),
        )


def _said(sight: Sight) -> str:
    if sight.state == "stale":
        return f"Turnbuckle proposed {counts(sight.hunk)}, but the text was changed since."
    return f"Turnbuckle proposes {counts(sight.hunk)} here."
