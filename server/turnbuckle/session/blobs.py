"""Bytes by digest: before-images of edits, output too long to show."""

import contextlib
import hashlib
import os
import re
import secrets
from pathlib import Path
from typing import BinaryIO

from anyio import to_thread

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Blobs:
    """A folder of immutable byte strings, named by their SHA-256 in hex; made when first used."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, data: bytes) -> str:
        """Keep these bytes, on disk when this returns, and give their digest.

        Raises:
            OSError: they could not be written; nothing is left of them.
        """
        return await to_thread.run_sync(self.put_now, data)

    def put_now(self, data: bytes) -> str:
        """As `put`, where nothing can be awaited any more.

        Raises:
            OSError: as in `put`.
        """
        digest = hashlib.sha256(data).hexdigest()
        if not (self._folder / digest).exists():
            scratch = self.file()
            path = Path(scratch.name)
            try:
                with scratch:
                    scratch.write(data)
                self._adopt(path, digest)
            except OSError:
                path.unlink(missing_ok=True)
                raise
        return digest

    def file(self) -> BinaryIO:
        """A scratch file in the folder, for output that grows.

        Close it and hand its `name` to `adopt`, or delete it.

        Raises:
            OSError: it could not be made.
        """
        private_folder(self._folder)
        path = self._folder / f".part-{secrets.token_hex(8)}"
        return open(path, "xb", opener=private)

    async def adopt(self, scratch: Path) -> str:
        """Make a finished scratch file a blob, on disk when this returns, and give its digest.

        Raises:
            OSError: it could not be read or renamed.
        """

        def take() -> str:
            with scratch.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            self._adopt(scratch, digest)
            return digest

        return await to_thread.run_sync(take)

    def _adopt(self, scratch: Path, digest: str) -> None:
        with scratch.open("r+b") as file:
            os.fsync(file.fileno())
        try:
            scratch.replace(self._folder / digest)
        except PermissionError:
            # On Windows, a blob that is being read cannot be replaced: the same bytes are there.
            if not (self._folder / digest).exists():
                raise
            scratch.unlink()
        sync_folder(self._folder)

    async def get(self, digest: str) -> bytes | None:
        """The bytes of this digest, or None if they are not here."""
        path = self.path(digest)
        return None if path is None else await to_thread.run_sync(path.read_bytes)

    def path(self, digest: str) -> Path | None:
        """The file of this digest, to read and never to change; None if it is not here."""
        path = self._folder / digest
        return path if _DIGEST.fullmatch(digest) and path.is_file() else None


def blobs_of(state: Path) -> Blobs:
    """The blobs of all sessions of a state folder."""
    return Blobs(state / "blobs")


def private_folder(folder: Path) -> None:
    """Make a folder, and what is missing above it, for the person alone.

    Raises:
        OSError: it could not be made.
    """
    for one in (*reversed(folder.parents), folder):
        if not one.is_dir():
            one.mkdir(mode=0o700, exist_ok=True)


def private(path: str, flags: int) -> int:
    """Open a file for the person alone: an `opener`."""
    return os.open(path, flags, 0o600)


def sync_folder(folder: Path) -> None:
    """Make a rename lasting, where a folder can be opened."""
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
