"""Bytes by digest: before-images of edits, output too long to show."""

import hashlib
import os
import re
import tempfile
from pathlib import Path

from anyio import to_thread

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Blobs:
    """A folder of immutable byte strings, named by their SHA-256 in hex; made when first used."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, data: bytes) -> str:
        """Keep these bytes, on disk when this returns, and give their digest.

        Raises:
            OSError: they could not be written.
        """
        return await to_thread.run_sync(self._put, data)

    def _put(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        target = self._folder / digest
        if target.exists():
            return digest
        with self.file() as scratch:
            scratch.write(data)
            scratch.flush()
            os.fsync(scratch.fileno())
            Path(scratch.name).replace(target)
        return digest

    def file(self) -> "tempfile._TemporaryFileWrapper[bytes]":
        """A scratch file in the folder, for output that grows; hand it to `adopt` or delete it.

        Raises:
            OSError: it could not be made.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return tempfile.NamedTemporaryFile(dir=self._folder, prefix=".part-", delete=False)

    async def adopt(self, scratch: Path) -> str:
        """Make a finished scratch file a blob and give its digest.

        Raises:
            OSError: it could not be read or renamed.
        """

        def take() -> str:
            with scratch.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            scratch.replace(self._folder / digest)
            return digest

        return await to_thread.run_sync(take)

    async def get(self, digest: str) -> bytes | None:
        """The bytes of this digest, or None if they are not here."""
        if not _DIGEST.fullmatch(digest):
            return None

        def read() -> bytes | None:
            try:
                return (self._folder / digest).read_bytes()
            except FileNotFoundError:
                return None

        return await to_thread.run_sync(read)
