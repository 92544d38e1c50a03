"""Code actions: ask about a selection or a diagnostic, answer what waits for an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnbuckle.lsp import names
from turnbuckle.lsp.asking.inviting import Inviting
from turnbuckle.lsp.asking.offers import Offer, offer, within
from turnbuckle.lsp.convert import to_offsets
from turnbuckle.lsp.documents import OpenDocument
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.review.followed import Followed, stands
from turnbuckle.lsp.review.hints import SOURCE
from turnbuckle.lsp.review.marking import counts, deed, marked
from turnbuckle.lsp.review.proposals import Proposal, Sight
from turnbuckle.lsp.review.review import Review
from turnbuckle.lsp.rpc.late import types
from turnbuckle.lsp.subjects import visible
from turnbuckle.workspace.changes import Span


class Actions:
    """What a plain client offers in its menu of code actions."""

    def __init__(self, editor: Editor, review: Review, inviting: Inviting) -> None:
        self._editor = editor
        self._review = review
        self._inviting = inviting

    def register(self) -> None:
        """Answer `textDocument/codeAction`."""
        self._editor.connection.on_request("textDocument/codeAction", self._code_action)

    async def _code_action(
        self, params: types.CodeActionParams
    ) -> list[types.CodeAction | types.Command]:
        only = params.context.only
        offers = (*self._answers(params), *self._inviting.offers(params))
        return [
            action if self._editor.client.code_action_literals else command
            for action, command in offers
            if only is None or any(within(str(action.kind), str(kind)) for kind in only)
        ]

    def _answers(self, params: types.CodeActionParams) -> Iterator[Offer]:
        """What can be done with proposed and applied changes of this file, those here first."""
        uri = params.text_document.uri
        document = self._editor.documents.lookup(uri)
        found = self._review.of(uri) if document is None else self._review.of_document(document)
        for proposal, file in found:
            if document is not None:
                for sight in self._here(document, params.range, proposal, file):
                    yield from _hunk_offers(
                        document, sight, (proposal, file), params.context.diagnostics
                    )
            if proposal.open:
                yield from _file_offers(uri, proposal, file)

    def _here(
        self, document: OpenDocument, selection: types.Range, proposal: Proposal, file: Followed
    ) -> Iterator[Sight]:
        """The hunks that the selection touches."""
        start, end = to_offsets(document.positions, selection, document.unit)
        for sight in self._review.sights(proposal, file, document.text):
            mark = marked(document.text, sight.span)
            low, high = min(mark.start, sight.span.start), max(mark.end, sight.span.end)
            line = document.text.rfind("\n", 0, low) + 1
            if line <= end and start <= high:
                yield sight


def _hunk_offers(
    document: OpenDocument,
    sight: Sight,
    whose: tuple[Proposal, Followed],
    diagnostics: Sequence[types.Diagnostic],
) -> Iterator[Offer]:
    proposal, file = whose
    hunk_id = sight.hunk.hunk_id
    about: dict[str, object] = {"hunkId": hunk_id}
    mark: Span = marked(document.text, sight.span)
    line = document.positions.position(mark.start, document.unit)[0] + 1
    what = f"{deed(file.change, sight.hunk).rstrip(':')} in line {line}"
    if file.change.kind != "edit":
        what = f"“{deed(file.change, sight.hunk).rstrip(':')}”"
    if proposal.decision(hunk_id) is None:
        mine = [one for one in diagnostics if one.source == SOURCE and one.data == about] or None
        if sight.state == "open":
            accept = names.ACCEPT_HUNK_COMMAND
            yield offer(f"Accept {what}", names.QUICKFIX, accept, about, mine)
        yield offer(f"Reject {what}", names.QUICKFIX, names.REJECT_HUNK_COMMAND, about, mine)
    elif (
        sight.state == "accepted"
        and file.change.kind == "edit"
        and stands(sight.hunk, sight.span, document.text)
    ):
        yield offer(f"Undo {what}", names.QUICKFIX, names.UNDO_HUNK_COMMAND, about)


def _file_offers(uri: str, proposal: Proposal, file: Followed) -> Iterator[Offer]:
    """Where more than one hunk waits, or none of them has a place in a text: all at once."""
    waiting = proposal.undecided(file)
    if not waiting:
        return
    about: dict[str, object] = {"uri": uri, "changeId": proposal.change_id}
    name = visible(uri.rpartition("/")[2])
    what = f"{counts(*waiting)} in {len(waiting)} place{'s' * (len(waiting) > 1)} of {name}"
    diff: dict[str, object] = {"changeId": proposal.change_id}
    yield offer(f"Accept all: {what}", names.QUICKFIX, names.ACCEPT_FILE_COMMAND, about)
    yield offer(f"Reject all: {what}", names.QUICKFIX, names.REJECT_FILE_COMMAND, about)
    yield offer(f"Show: {what}", names.QUICKFIX, names.SHOW_DIFF_COMMAND, diff)
