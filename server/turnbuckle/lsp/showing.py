"""Show a text to the person with what any editor has: a document, else a message."""

import contextlib
import logging
import secrets
import time
from collections.abc import Collection
from pathlib import Path

import anyio
from anyio import to_thread

from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.rpc import NoAnswer
from turnbuckle.lsp.subjects import unlinked
from turnbuckle.session.blobs import private_folder
from turnbuckle.workspace.paths import uri_of

logger = logging.getLogger(__name__)

MESSAGE_LIMIT = 2_000
"""How many characters a message shows at most, where the client shows no documents."""

STALE = 24 * 3600
"""Seconds after which what a server that was killed left behind is removed."""


class Showing:
    """Writes texts into files of ours and asks the client to show them."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._folder = editor.state / "shown"
        # Another window writes into this folder too; what one shows, the other must not replace.
        self._mine = f"passing-{secrets.token_hex(4)}"
        self._passing: list[Path] = []

    async def show(self, name: str, text: str) -> bool:
        """Show a text under a file name, whose ending gives the language.

        A client that cannot show documents gets it as a message. Gives whether all of it could be
        shown, as far as the client says.
        """
        if self._editor.client.show_document and await self._document(self._folder / name, text):
            return True
        short = text if len(text) <= MESSAGE_LIMIT else f"{text[:MESSAGE_LIMIT]}\n[…]"
        said = {"type": 3, "message": unlinked(short)}
        self._editor.connection.notify("window/showMessage", said)
        return len(text) <= MESSAGE_LIMIT

    async def show_for_now(self, text: str, ending: str) -> bool:
        """Show a text that is of no use after this connection, in a new file, as `show` does."""
        name = f"{self._mine}-{len(self._passing) + 1}.{ending}"
        self._passing.append(self._folder / name)
        return await self.show(name, text)

    async def _document(self, path: Path, text: str) -> bool:
        try:
            await to_thread.run_sync(_write, path, text)
            answer = await self._editor.connection.call(
                "window/showDocument", {"uri": uri_of(path), "takeFocus": False}
            )
        except OSError as error:
            logger.warning("%s could not be written: %s", path.name, error.strerror)
            return False
        except NoAnswer as error:
            logger.warning("%s was not shown: %s", path.name, error)
            return False
        return answer.success is True

    async def sweep(self) -> None:
        """Remove what was shown for now, and what others left behind."""
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(_remove, self._folder, tuple(self._passing))


def _write(path: Path, text: str) -> None:
    private_folder(path.parent)
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8", newline="")


def _remove(folder: Path, passing: Collection[Path]) -> None:
    oldest = time.time() - STALE
    for path in folder.glob("passing-*"):
        with contextlib.suppress(OSError):  # on Windows, what is open elsewhere cannot be removed
            if path in passing or path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)
