"""Bytes on disk: read without blocking, written whole or not at all, never through a link."""

import contextlib
import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from turnbuckle.workspace.errors import Missing, WorkspaceError
from turnbuckle.workspace.folders import LINKED, PLAIN, Folder

IRREGULAR = "it is no regular file (a device, pipe or socket)"

_LOOK = os.O_RDONLY | PLAIN | getattr(os, "O_NONBLOCK", 0)
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | PLAIN


@dataclass(frozen=True, slots=True)
class Found:
    """A file's bytes, and what the system says of it.

    `read_only` is whether we may not write it: renaming over it would get around its rights.
    """

    data: bytes
    stat: os.stat_result
    read_only: bool

    def same_as(self, other: os.stat_result) -> bool:
        """Whether the file has not been replaced or written since."""
        mine = self.stat
        return (mine.st_ino, mine.st_size, mine.st_mtime_ns) == (
            other.st_ino,
            other.st_size,
            other.st_mtime_ns,
        )


def read(folder: Folder, name: str, limit: int) -> Found:
    """The bytes of a regular file of at most `limit` bytes.

    Raises:
        Missing: there is none.
        WorkspaceError: NOT_FOUND where it is no regular file, TOO_LARGE, OUTSIDE for a link.
        OSError: it cannot be read.
    """
    try:
        _require_file(os.stat(folder.at(name), dir_fd=folder.fd, follow_symlinks=False))
        fd = os.open(folder.at(name), _LOOK, dir_fd=folder.fd)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise Missing("it is not there") from error
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(fd)
        _require_file(found)
        data = b"" if found.st_size > limit else file.read(limit + 1)
        if data is None:  # A file of the system that would have us wait for what it says next.
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    if max(found.st_size, len(data)) > limit:
        size = max(found.st_size, len(data))
        raise WorkspaceError("TOO_LARGE", f"it has {size:,} bytes, and {limit:,} are the most")
    # The system lets root write what nobody may write, so the bits are looked at too.
    may = os.access(folder.at(name), os.W_OK, dir_fd=folder.fd) and found.st_mode & 0o222
    return Found(data, found, read_only=not may)


def _require_file(found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise WorkspaceError("NOT_FOUND", "it is a folder; list_files shows what is in it")
    if stat.S_ISLNK(found.st_mode):
        raise WorkspaceError("OUTSIDE", LINKED)
    if not stat.S_ISREG(found.st_mode):
        raise WorkspaceError("NOT_FOUND", IRREGULAR)


def create(folder: Folder, name: str, data: bytes) -> None:
    """Put a new file in a folder, whole, with the rights that new files have here.

    Raises:
        FileExistsError: something stands there already.
        OSError: it could not be written; nothing is left of it.
    """
    with _scratch(folder, name, data, 0o666) as scratch:
        try:
            os.link(folder.at(scratch), folder.at(name), src_dir_fd=folder.fd, dst_dir_fd=folder.fd)
        except FileExistsError:
            raise
        except OSError:  # A file system without hard links.
            if _exists(folder, name):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
            _rename(folder, scratch, name)
    _sync_folder(folder)


def replace(folder: Folder, name: str, data: bytes, old: Found) -> None:
    """Put other bytes into a file that was read as `old`; its mode, owner and links stay.

    Raises:
        Changed: the file is not what was read any more; it was left alone.
        OSError: it could not be written; it is as it was.
    """
    if old.stat.st_nlink > 1:
        _overwrite(folder, name, data, old)
        return
    try:
        with _scratch(folder, name, data, 0o600, like=old.stat) as scratch:
            _require_same(folder, name, old)
            _rename(folder, scratch, name)
    except PermissionError:
        # The file may be written where its folder may not.
        _overwrite(folder, name, data, old)
    else:
        _sync_folder(folder)


class Changed(Exception):
    """A file was changed by somebody else in between."""


@contextlib.contextmanager
def _scratch(
    folder: Folder, name: str, data: bytes, mode: int, *, like: os.stat_result | None = None
) -> Iterator[str]:
    """A finished file beside another, gone afterwards unless it was renamed."""
    scratch = f".{name[:100]}.{secrets.token_hex(6)}.tmp"
    fd = os.open(folder.at(scratch), _MAKE, mode, dir_fd=folder.fd)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            if like is not None:
                _dress(fd, like)
            os.fsync(fd)
        yield scratch
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(folder.at(scratch), dir_fd=folder.fd)


def _dress(fd: int, like: os.stat_result) -> None:
    """Give a file the owner, the group and the mode of another, as far as that is allowed."""
    if sys.platform != "win32":
        mine = os.fstat(fd)
        if (mine.st_uid, mine.st_gid) != (like.st_uid, like.st_gid):
            os.fchown(fd, like.st_uid, like.st_gid)
        os.fchmod(fd, stat.S_IMODE(like.st_mode))


def _overwrite(folder: Folder, name: str, data: bytes, old: Found) -> None:
    """Write into the file itself, and put back what was there if that fails."""
    flags = os.O_WRONLY | PLAIN
    with os.fdopen(os.open(folder.at(name), flags, dir_fd=folder.fd), "wb", 0) as file:
        if not old.same_as(os.fstat(file.fileno())):
            raise Changed
        try:
            _write_all(file.fileno(), data)
        except OSError:
            _write_all(file.fileno(), old.data)
            raise


def _write_all(fd: int, data: bytes) -> None:
    os.lseek(fd, 0, os.SEEK_SET)
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
    os.ftruncate(fd, len(data))
    os.fsync(fd)


def _require_same(folder: Folder, name: str, old: Found) -> None:
    try:
        now = os.stat(folder.at(name), dir_fd=folder.fd, follow_symlinks=False)
    except FileNotFoundError as error:
        raise Changed from error
    if not old.same_as(now):
        raise Changed


def _rename(folder: Folder, old: str, new: str) -> None:
    os.replace(folder.at(old), folder.at(new), src_dir_fd=folder.fd, dst_dir_fd=folder.fd)


def _exists(folder: Folder, name: str) -> bool:
    try:
        os.stat(folder.at(name), dir_fd=folder.fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _sync_folder(folder: Folder) -> None:
    """Make a rename lasting; where a folder cannot be synced, the file itself is safe anyway."""
    if folder.fd is not None:
        with contextlib.suppress(OSError):
            fd = os.open(".", os.O_RDONLY | PLAIN, dir_fd=folder.fd)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)
