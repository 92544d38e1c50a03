"""The log on disk: one line a fact, one writer, written through at once, synced at barriers."""

import contextlib
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

import anyio
from anyio import to_thread
from filelock import FileLock, Timeout

from turnbuckle.session.blobs import private_folder
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import AssistantChunk
from turnbuckle.session.tails import set_aside, split_tail

Sync: TypeAlias = Callable[[int], Awaitable[None]]
"""Make what was written to a descriptor survive a power cut; raises OSError."""

_WAITING_LIMIT = 64 * 1024


class StoreFailed(Exception):
    """The log could not be written. What was appended is kept in memory and tried again."""


class Locked(Exception):
    """Another process writes this session."""


async def sync_data(descriptor: int) -> None:
    """The cheapest sync of the platform that covers a file's data and its size, in a thread."""
    await to_thread.run_sync(getattr(os, "fdatasync", os.fsync), descriptor)


def read_lines(path: Path) -> tuple[list[bytes], bytes]:
    """The whole lines of a log, each with its newline, and the torn rest after the last one.

    A file that is not there has no lines.

    Raises:
        StoreFailed: it could not be read.
    """
    try:
        with path.open("rb") as file:
            lines = file.readlines()
    except FileNotFoundError:
        return [], b""
    except OSError as error:
        raise StoreFailed(f"the session log could not be read: {error.strerror}") from error
    return lines, split_tail(lines)


def lock_of(path: Path) -> FileLock:
    """What the one writer of a log holds; it is free again when that is gone, however it went."""
    return FileLock(f"{path}.lock", blocking=False, thread_local=False, mode=0o600)


class Store:
    """The one live writer of a session's file.

    Facts are written through to the system at once, so that a kill loses at most waiting chunks
    that nobody was shown; `flush` makes them durable. Nothing is made on disk before the first
    fact. After a failed write or sync the file ends at the last good fact, and the next flush tries
    again.
    """

    def __init__(self, path: Path, *, sync: Sync = sync_data) -> None:
        self.path = path
        self._sync = sync
        self._lock = lock_of(path)
        self._descriptor: int | None = None
        self._unsynced: list[bytes] = []  # not durable yet, the first `_written` are in the file
        self._written = 0
        self._waiting = 0  # bytes that are not in the file
        self._size = 0  # bytes in the file, all of whole facts
        self._durable = 0  # of these, what survived a sync
        self._added = self._synced = 0
        self._torn = b""  # half a line at the end of the file
        self._failure: OSError | None = None
        self._syncing = anyio.Lock(fast_acquire=True)

    def read(self) -> list[bytes]:
        """Take the lock and give the lines that are there; until `begin` the file stays as it is.

        Raises:
            Locked: another process has the session.
            StoreFailed: the file or its folder cannot be used.
        """
        try:
            if not self.path.exists():
                return []
            self._take(os.O_RDWR)
            lines, self._torn = read_lines(self.path)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _failed(self.path, error) from error
        self._size = self._durable = sum(map(len, lines))
        return lines

    def begin(self) -> None:
        """Set a torn tail aside, so that what comes now begins a line.

        Raises:
            StoreFailed: it could not be.
        """
        try:
            if self._torn:
                assert self._descriptor is not None
                set_aside(self.path, self._torn)
                os.ftruncate(self._descriptor, self._durable)
                self._torn = b""
        except OSError as error:
            raise _failed(self.path, error) from error

    def _take(self, how: int) -> None:
        private_folder(self.path.parent)
        try:
            self._lock.acquire()
        except Timeout as error:
            raise Locked(self.path.stem) from error
        flags = how | os.O_APPEND | getattr(os, "O_BINARY", 0)
        try:
            self._descriptor = os.open(self.path, flags, 0o600)
        except OSError:
            self._lock.release()  # it counts how often it was taken
            raise

    def close(self) -> None:
        """Write what waits and let the next writer in."""
        self.write_through()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        self._lock.release()

    def __call__(self, entry: Entry, line: bytes) -> None:
        """Observe the log. Chunks wait for the next other fact, or for 64 KiB."""
        self._unsynced.append(line)
        self._added += 1
        self._waiting += len(line)
        waits = isinstance(entry.fact, AssistantChunk) and self._waiting < _WAITING_LIMIT
        if not waits and not self._failure:
            self.write_through()

    def write_through(self) -> None:
        """Hand what waits to the system now; a failure is told by the next flush."""
        lines = self._unsynced[self._written :]
        if not lines:
            return
        try:
            if self._descriptor is None:
                self._take(os.O_RDWR | os.O_CREAT)
            self._write(b"".join(lines))
        except (OSError, Locked) as error:
            self._failure = error if isinstance(error, OSError) else OSError(str(error))
            return
        self._failure = None
        self._written += len(lines)
        self._waiting = 0

    @property
    def failing(self) -> StoreFailed | None:
        """Why what was added last is not in the file; None where it is."""
        if self._failure is None:
            return None
        return _failed(self.path, self._failure, "what was said last is kept in memory only")

    def _write(self, data: bytes) -> None:
        assert self._descriptor is not None
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
            self._size += len(data)
        except OSError:
            # Half a batch must not stay: the file always ends at a whole fact.
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            raise

    async def flush(self) -> None:
        """Return when everything appended so far is on disk; one sync serves all who wait.

        Raises:
            StoreFailed: it could not be made durable.
        """
        wanted = self._added
        while self._synced < wanted:
            async with self._syncing:
                if self._synced < wanted:
                    await self._flush_once()

    async def _flush_once(self) -> None:
        self.write_through()
        if self._failure:
            raise _failed(self.path, self._failure) from self._failure
        assert self._descriptor is not None
        count, size = self._written, self._size
        try:
            await self._sync(self._descriptor)
        except OSError as error:
            self._unwrite()
            raise _failed(self.path, error) from error
        self._durable = size
        del self._unsynced[:count]
        self._written -= count
        self._synced += count

    def _unwrite(self) -> None:
        """After a failed sync nobody knows what is on disk: go back to what surely is."""
        assert self._descriptor is not None
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, self._durable)
        self._size = self._durable
        self._written = 0
        self._waiting = sum(map(len, self._unsynced))


def _failed(path: Path, error: OSError, so: str = "nothing was run") -> StoreFailed:
    why = error.strerror or str(error)
    return StoreFailed(
        f"the session log {path} could not be written ({why}); {so}. "
        f"Make room or check the folder, then send the message again"
    )
