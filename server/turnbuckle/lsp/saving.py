"""The files that are open in the editor, as tools see them; it saves them where it can."""

import logging
from collections.abc import Sequence

from turnbuckle.lsp.clientfacts import ClientFacts
from turnbuckle.lsp.documents import Documents
from turnbuckle.lsp.names import SAVE
from turnbuckle.lsp.protocol import ASKED
from turnbuckle.lsp.reviewing import SaveParams
from turnbuckle.lsp.rpc import Connection, NoAnswer
from turnbuckle.workspace.buffers import Buffer

logger = logging.getLogger(__name__)

ANSWER = 20.0
"""Seconds that a client has to save."""


class OpenFiles:
    """The port for open files, over the documents of one client."""

    def __init__(
        self,
        documents: Documents,
        connection: Connection,
        client: ClientFacts,
        *,
        limit: float = ANSWER,
    ) -> None:
        self._documents = documents
        self._connection = connection
        self._client = client
        self._limit = limit
        connection.know(ASKED)

    def open(self) -> Sequence[Buffer]:
        """The documents that are files; of one that is open under two names, the latest text."""
        found = {}
        for document in sorted(self._documents, key=lambda document: document.revision):
            if document.path is not None:
                found[document.path] = Buffer(
                    path=document.path,
                    uri=document.uri,
                    text=document.text,
                    touched=document.touched,
                    doubt=document.doubt,
                )
        return tuple(found.values())

    async def save(self, buffers: Sequence[Buffer]) -> None:
        """Ask a client that announced it to save; whatever it answers, nothing is believed."""
        if not self._client.save or not buffers:
            return
        params = SaveParams(uris=tuple(buffer.uri for buffer in buffers))
        try:
            answer = await self._connection.call(SAVE, params, timeout=self._limit)
        except NoAnswer as error:
            logger.info("the editor saved nothing: %s", error)
            return
        if answer.failed:
            logger.info("the editor could not save %s of its documents", len(answer.failed))
