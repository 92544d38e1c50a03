"""What a process wrote: its beginning and its end in memory, all of it in a file."""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from anyio import to_thread

from turnbuckle.session.blobs import Blobs
from turnbuckle.workspace.process.live import Live, Show
from turnbuckle.workspace.process.plain import plain_text

HEAD, TAIL = 48 * 1024, 16 * 1024
"""Bytes of the beginning and of the end that are kept in memory, and given to the model."""

KEPT = 256 * 1024 * 1024
"""Bytes of one output that are kept on disk at most."""

_BATCH = 256 * 1024
_LINE = 4 * 1024  # how far a cut may move to meet the end of a line


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An output in the end: `text` of about 64 KiB at most, of `total` bytes that were written.

    Where something was cut out, `blob` is the digest of the whole as it was written; `missing`
    says what is not kept there, if anything.
    """

    text: str
    total: int
    cut: bool
    blob: str | None = None
    missing: str | None = None


class Output:
    """Takes what a process writes, however much that is, in bounded memory."""

    def __init__(
        self, blobs: Blobs | None = None, show: Show | None = None, *, limit: int = KEPT
    ) -> None:
        self.total = 0
        self._blobs = blobs
        self._live = Live(show) if show else None
        self._limit = limit
        self._head = bytearray()
        self._tail = bytearray()
        self._stored = 0
        self._waiting = bytearray()
        self._scratch: BinaryIO | None = None
        self._missing: str | None = None

    @property
    def cut(self) -> bool:
        """Whether more came than is given to the model."""
        return self.total > HEAD + TAIL

    async def take(self, data: bytes) -> None:
        """Keep what belongs to the head, the tail and the file; it waits only for the disk."""
        if self._live:
            self._live.feed(data)
        room = HEAD + TAIL - len(self._head)
        fresh = not self.cut
        self.total += len(data)
        self._head += data[:room]
        if self.cut:
            self._tail = (self._tail + data[room:])[-TAIL:]
            await self._store(bytes(self._head) + data[room:] if fresh else data)

    async def _store(self, data: bytes) -> None:
        if self._blobs is None or self._missing is not None:
            return
        room = self._limit - self._stored
        if len(data) > room:
            self._missing = f"only its first {self._limit:,} bytes were kept"
        self._waiting += data[:room]
        self._stored += len(data[:room])
        if self._scratch is None or len(self._waiting) >= _BATCH:
            await to_thread.run_sync(self._write, self._blobs)

    def _write(self, blobs: Blobs) -> None:
        try:
            if self._scratch is None:
                self._scratch = blobs.file()
            self._scratch.write(self._waiting)
        except OSError as error:
            self._missing = f"the rest could not be kept: {error.strerror or error}"
        self._waiting.clear()

    async def finish(self) -> Kept:
        """What is kept in the end; nothing is taken after this."""
        blob = None
        if self._blobs is not None and self._scratch is not None:
            try:
                await to_thread.run_sync(self._close, self._blobs)
                blob = await self._blobs.adopt(Path(self._scratch.name))
            except OSError as error:
                self._missing = f"it could not be kept: {error.strerror or error}"
                await self.discard()
        return Kept(
            text=self._text(), total=self.total, cut=self.cut, blob=blob, missing=self._missing
        )

    def _close(self, blobs: Blobs) -> None:
        self._write(blobs)
        if self._scratch is not None:
            self._scratch.close()

    async def discard(self) -> None:
        """Leave nothing on disk."""
        if self._scratch is not None:
            file, self._scratch = self._scratch, None
            with contextlib.suppress(OSError):
                file.close()
            await to_thread.run_sync(Path(file.name).unlink, True)

    def beginning(self) -> bytes:
        """What came first, as it was written: all of it, or up to the end of a line."""
        return _begin(bytes(self._head)) if self.cut else bytes(self._head)

    def _text(self) -> str:
        if not self.cut:
            return _fit(plain_text(bytes(self._head)), HEAD + TAIL)
        head, tail = self.beginning(), _end(bytes(self._head + self._tail))
        between = f"[{self.total - len(head) - len(tail):,} bytes left out]"
        shown, rest = _fit(plain_text(head), HEAD), _fit(plain_text(tail), TAIL, end=True)
        return f"{shown}\n{between}\n{rest}"


def _begin(data: bytes) -> bytes:
    """The first bytes, up to the end of a line if one is near, else of a character."""
    data = data[:HEAD]
    line = data.rfind(b"\n", len(data) - _LINE)
    if line >= 0:
        return data[:line]
    start = len(data) - 1
    while start > len(data) - 4 and 0x80 <= data[start] < 0xC0:
        start -= 1
    return data[:start] if data[start] >= 0xC0 else data


def _end(data: bytes) -> bytes:
    """The last bytes, from the start of a line if one is near, else of a character."""
    data = data[-TAIL:]
    line = data.find(b"\n", 0, _LINE)
    if 0 <= line < len(data) - 1:
        return data[line + 1 :]
    start = 0
    while start < 3 and 0x80 <= data[start] < 0xC0:
        start += 1
    return data[start:]


def _fit(text: str, size: int, *, end: bool = False) -> str:
    """The text in so many bytes: what stands for an undecodable byte is longer than it."""
    data = text.encode()
    return (data[-size:] if end else data[:size]).decode("utf-8", "ignore")
