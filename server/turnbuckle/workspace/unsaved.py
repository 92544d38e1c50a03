"""Which open files hold a text that is not on disk."""

from collections.abc import Sequence
from pathlib import Path

from anyio import to_thread

from turnbuckle.workspace import disk, folders
from turnbuckle.workspace.buffers import Buffer, Buffers
from turnbuckle.workspace.errors import Missing, WorkspaceError
from turnbuckle.workspace.files import LIMIT
from turnbuckle.workspace.paths import lies_in
from turnbuckle.workspace.text import decode

MOST = 500
"""Open files that are compared with the disk at most."""


async def unsaved(buffers: Buffers, within: Sequence[Path]) -> tuple[Buffer, ...]:
    """The open files below these folders, or that they are, whose text is not on disk."""
    here = buffers.open()
    if not here:
        return ()
    return await to_thread.run_sync(_unsaved, here, within)


def _unsaved(here: Sequence[Buffer], within: Sequence[Path]) -> tuple[Buffer, ...]:
    inside = (one for one in here if any(lies_in(one.path, folder) for folder in within))
    return tuple(one for one, _ in zip(inside, range(MOST), strict=False) if _differs(one))


def _differs(buffer: Buffer) -> bool:
    try:
        text = text_on_disk(buffer.path)
    except Missing:
        return bool(buffer.text)
    except (WorkspaceError, OSError):  # what cannot be compared was saved, if nobody typed in it
        return buffer.touched
    return not alike(buffer.text, text)


def text_on_disk(path: Path) -> str:
    """The text of the file at a path without links.

    Raises:
        Missing: there is none.
        WorkspaceError: it is no text, or too large.
        OSError: it cannot be read.
    """
    try:
        with folders.opened(path.parent) as folder:
            return decode(disk.read(folder, path.name, LIMIT).data)[0]
    except (FileNotFoundError, NotADirectoryError) as error:
        raise Missing("it is not there") from error


def alike(shown: str, stored: str) -> bool:
    """Whether an editor that shows one text would say that the other is what it has saved.

    Some editors show all line ends as one kind, a byte order mark as a character, or a line end
    after the last line that the file does not have.
    """
    return shown == stored or _bare(shown) == _bare(stored)


def _bare(text: str) -> str:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return text.removesuffix("\n")
