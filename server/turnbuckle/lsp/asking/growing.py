"""Transcripts as documents of ours that grow while a client shows them."""

from __future__ import annotations

import logging
import re
from urllib.parse import quote

import anyio
from anyio import to_thread

from turnbuckle.agent.sessions import OpenSession, SessionNotFound
from turnbuckle.lsp import names
from turnbuckle.lsp.asking.transcripts import LIMIT, Transcript, markdown
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.rpc import NoAnswer, PeerRefused
from turnbuckle.lsp.showing import Showing
from turnbuckle.lsp.soon import Soon
from turnbuckle.session.codec import Entry

logger = logging.getLogger(__name__)

REFRESH = "workspace/textDocumentContent/refresh"

PACE = 0.1
"""Seconds between two refreshes at least: a client asks for the whole text after each."""

KEPT = 20
"""Names under which the documents of a session are remembered as shown."""

_NAME = re.compile(r"[^\w.-]+")


class Growing:
    """Fills `turnbuckle-session:` documents, and has those read again that a client shows.

    `refreshes` is whether it has such documents, and reads them again when told to.
    """

    def __init__(self, editor: Editor, showing: Showing) -> None:
        self._editor = editor
        self._showing = showing
        self._pages: dict[str, _Page] = {}
        self._soon = Soon(editor.tasks, self._again)
        self.refreshes = editor.client.text_document_content and editor.client.show_document

    async def content(self, uri: str, session_id: str) -> str | None:
        """A session's transcript as it is now, and from now on refreshed under this URI.

        None if no such session is open.
        """
        try:
            opened = self._editor.sessions.get(session_id)
        except SessionNotFound:
            return None
        page = self._page(opened)
        page.uris.pop(uri, None)
        page.uris[uri] = None
        while len(page.uris) > KEPT:
            del page.uris[next(iter(page.uris))]
        return await page.text()

    async def show(self, opened: OpenSession) -> bool:
        """Show a session as a document that grows; False where the client has no such thing."""
        if not self.refreshes:
            return False
        params = {"uri": session_uri(opened), "takeFocus": False}
        try:
            answer = await self._editor.connection.call("window/showDocument", params)
        except NoAnswer as error:
            logger.warning("a transcript was not shown: %s", error)
            return False
        return answer.success is True

    async def show_file(self, opened: OpenSession) -> bool:
        """Show a session as it is now, in a file; as a message where the client has no documents.

        Gives whether all of it was shown, as far as the client says.
        """
        entries = tuple(opened.session.log.entries)
        text = await to_thread.run_sync(markdown, opened.session.title, entries)
        return await self._showing.show(f"{opened.session.id}.md", text)

    def _page(self, opened: OpenSession) -> _Page:
        session_id = opened.session.id
        page = self._pages.get(session_id)
        if page is None:
            page = self._pages[session_id] = _Page(opened)
            opened.scope.defer(lambda: self._forget(session_id), "transcript")

            def grown(_entry: Entry, _line: bytes) -> None:
                for uri in page.uris:
                    self._soon.touch(uri)

            opened.session.log.observe(opened.scope, grown)
        return page

    def _forget(self, session_id: str) -> None:
        self._pages.pop(session_id, None)

    async def _again(self, uri: str) -> None:
        if not self.refreshes:
            return
        try:
            await self._editor.connection.call(REFRESH, {"uri": uri})
        except PeerRefused:
            self.refreshes = False  # it cannot: from now on files are shown
            raise
        await anyio.sleep(PACE)


class _Page:
    """The transcript of one session, as far as it was read."""

    def __init__(self, opened: OpenSession) -> None:
        self.uris: dict[str, None] = {}
        self._session = opened.session
        self._transcript = Transcript(LIMIT)
        self._fed = 0
        self._lock = anyio.Lock()

    async def text(self) -> str:
        async with self._lock:
            entries = tuple(self._session.log.entries[self._fed :])
            return await to_thread.run_sync(self._read, entries, self._session.title)

    def _read(self, entries: tuple[Entry, ...], title: str | None) -> str:
        for entry in entries:
            self._transcript.feed(entry)
        self._fed += len(entries)
        return self._transcript.text(title)


def session_uri(opened: OpenSession) -> str:
    """The URI of a session's transcript; its name is the session's title, for tabs."""
    name = _NAME.sub("-", opened.session.title or "").strip("-.")[:40] or "transcript"
    return f"{names.SESSION_SCHEME}:/{opened.session.id}/{quote(name, safe='')}.md"
