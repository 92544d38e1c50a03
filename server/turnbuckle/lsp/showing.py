"""Show a text to the person with what any editor has: a document, else a message."""

import logging
from pathlib import Path

import anyio
from anyio import to_thread

from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.rpc import NoAnswer
from turnbuckle.workspace.paths import uri_of

logger = logging.getLogger(__name__)

MESSAGE_LIMIT = 2_000
"""How many characters a message shows at most, where the client shows no documents."""


class Showing:
    """Writes texts into files of ours and asks the client to show them."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._folder = editor.state / "shown"

    async def show(self, name: str, text: str, *, take_focus: bool = False) -> bool:
        """Show a text under a file name, whose ending gives the language.

        A client that cannot show documents gets it as a message. Gives whether all of it could be
        shown, as far as the client says.
        """
        if self._editor.client.show_document and await self._document(name, text, take_focus):
            return True
        short = text if len(text) <= MESSAGE_LIMIT else f"{text[:MESSAGE_LIMIT]}\n[…]"
        self._editor.connection.notify("window/showMessage", {"type": 3, "message": short})
        return len(text) <= MESSAGE_LIMIT

    async def _document(self, name: str, text: str, take_focus: bool) -> bool:
        path = self._folder / name
        try:
            await to_thread.run_sync(_write, path, text)
            answer = await self._editor.connection.call(
                "window/showDocument", {"uri": uri_of(path), "takeFocus": take_focus}
            )
        except OSError as error:
            logger.warning("%s could not be written: %s", name, error.strerror)
            return False
        except NoAnswer as error:
            logger.warning("%s was not shown: %s", name, error)
            return False
        return answer.success is True

    async def sweep(self) -> None:
        """Remove what was shown; it is of no use to the next session."""
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(_remove, self._folder)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8", newline="")


def _remove(folder: Path) -> None:
    for path in folder.glob("approval-*"):
        path.unlink(missing_ok=True)
