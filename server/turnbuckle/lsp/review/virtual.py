"""Documents that only this server can fill: diffs and transcripts; files where a client has none.

Only ids that the server gave out mean something in their URIs; a path in one is never opened.
"""

from __future__ import annotations

from urllib.parse import quote, unquote, urlsplit

from anyio import to_thread

from turnbuckle.lsp import names
from turnbuckle.lsp.asking.growing import Growing
from turnbuckle.lsp.review.followed import Followed
from turnbuckle.lsp.review.proposals import Proposal
from turnbuckle.lsp.review.review import Review
from turnbuckle.lsp.rpc import NoAnswer
from turnbuckle.lsp.rpc.late import types
from turnbuckle.lsp.showing import Showing
from turnbuckle.lsp.soon import Soon
from turnbuckle.lsp.subjects import visible
from turnbuckle.workspace.changes import patch
from turnbuckle.workspace.paths import path_of

CONTENT = "workspace/textDocumentContent"
GONE = "This is not there any more.\n"
ASKED = 100
"""Documents that are remembered as shown, to be refreshed."""


class Virtual:
    """Fills virtual documents, and keeps those that were asked for up to date."""

    def __init__(self, review: Review, showing: Showing, growing: Growing) -> None:
        self._review = review
        self._editor = review.editor
        self._showing = showing
        self._growing = growing
        self._asked: dict[str, None] = {}
        self._refresh = Soon(self._editor.tasks, self._refreshed)

    def register(self) -> None:
        """Answer what a client asks for when such a document is opened."""
        self._editor.connection.on_request(CONTENT, self._content)
        self._review.observe(self._changed)

    async def show(self, proposal: Proposal, file: Followed) -> None:
        """Show the diff of one file of a change."""
        client = self._editor.client
        if client.text_document_content and client.show_document:
            params = {"uri": diff_uri(proposal, file, "patch"), "takeFocus": False}
            try:
                answer = await self._editor.connection.call("window/showDocument", params)
                if answer.success is True:
                    return
            except NoAnswer:
                pass  # then a file is shown
        text = await to_thread.run_sync(readable_patch, proposal, file)
        await self._showing.show_for_now(text, "diff")

    def touch(self, uri: str) -> None:
        """A virtual document changed; a client that shows it is told so."""
        if uri in self._asked and self._editor.client.text_document_content:
            self._refresh.touch(uri)

    async def _content(
        self, params: types.TextDocumentContentParams
    ) -> types.TextDocumentContentResult:
        uri = params.uri
        self._asked.pop(uri, None)
        self._asked[uri] = None
        while len(self._asked) > ASKED:
            del self._asked[next(iter(self._asked))]
        return types.TextDocumentContentResult(text=await self._text(uri))

    async def _text(self, uri: str) -> str:
        scheme, parts = _parts(uri)
        if scheme == names.SESSION_SCHEME and len(parts) == 2:
            return await self._growing.content(uri, parts[0]) or GONE
        if scheme != names.DIFF_SCHEME or len(parts) != 3:
            return GONE
        for proposal in self._review.proposals:
            if proposal.change_id == parts[0]:
                file = next((f for f in proposal.files if _name(f) == parts[2]), None)
                return await to_thread.run_sync(
                    _side, proposal, file or proposal.files[0], parts[1]
                )
        return GONE

    def _changed(self, uri: str) -> None:
        for asked in list(self._asked):
            scheme, parts = _parts(asked)
            if scheme == names.DIFF_SCHEME and parts and any(
                proposal.change_id == parts[0] for proposal, _ in self._review.of(uri)
            ):  # fmt: skip
                self.touch(asked)

    async def _refreshed(self, uri: str) -> None:
        await self._editor.connection.call(f"{CONTENT}/refresh", {"uri": uri})


def diff_uri(proposal: Proposal, file: Followed, side: str) -> str:
    """The URI of the text before, the text after, or the patch of a file of a change."""
    return f"{names.DIFF_SCHEME}:/{proposal.change_id}/{side}/{quote(_name(file))}" + (
        ".diff" if side == "patch" else ""
    )


def _parts(uri: str) -> tuple[str, list[str]]:
    try:
        split = urlsplit(uri)
    except ValueError:
        return "", []
    parts = [unquote(part) for part in split.path.strip("/").split("/")]
    if len(parts) == 3 and parts[1] == "patch":
        parts[2] = parts[2].removesuffix(".diff")
    return split.scheme, parts


def _name(file: Followed) -> str:
    path = path_of(file.change.uri)
    return path.name if path is not None else file.change.uri.rpartition("/")[2]


def _side(proposal: Proposal, file: Followed, side: str) -> str:
    match side:
        case "before":
            return file.change.base
        case "after":
            return file.change.with_hunks(
                [i for i in file.hunks if proposal.decision(i) is not False]
            )
        case "patch":
            return readable_patch(proposal, file)
        case _:
            return GONE


def readable_patch(proposal: Proposal, file: Followed) -> str:
    """The diff of a file, with what does not show spelt out; tabs and line ends stay."""
    lines = patch(file.change).split("\n")
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in lines)
