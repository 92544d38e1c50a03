"""Folders reached without following a link, and held so that nobody can swap them."""

import contextlib
import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PLAIN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
"""How everything is opened: not inherited, bytes as they are, and no link at its end."""

# Where a folder can be held open, what is below is reached through it. O_PATH needs no right to
# list the folder.
_FOLDER = getattr(os, "O_DIRECTORY", 0) | PLAIN | getattr(os, "O_PATH", os.O_RDONLY)
_HELD = os.open in os.supports_dir_fd

LINKED = "a link stands in the way that leads in a circle, or was not there before"


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder held open, so that nobody can put another in its place; `fd` is None on Windows."""

    path: Path
    fd: int | None

    def at(self, name: str) -> str:
        """What to call a file in it, together with `dir_fd=fd`."""
        return name if self.fd is not None else str(self.path / name)


@contextlib.contextmanager
def opened(path: Path, *, make: bool = False, held: bool = _HELD) -> Iterator[Folder]:
    """Hold the folder at a path without links, reached step by step without following any.

    Where none can be `held` (Windows), it is looked once more whether a link has come: what is
    swapped between that look and the use of the folder, microseconds later, is followed.

    Raises:
        OSError: it is not there, or it cannot be entered, or a link stands in the way.
    """
    if not held:
        _require_unlinked(path)
        if make:
            path.mkdir(parents=True, exist_ok=True)
            _require_unlinked(path)
        yield Folder(path, None)
        return
    fd = os.open(path.anchor, _FOLDER)
    try:
        for part in path.parts[1:]:
            below = _enter(fd, part, make=make)
            os.close(fd)
            fd = below
        yield Folder(path, fd)
    finally:
        os.close(fd)


def _require_unlinked(path: Path) -> None:
    if os.path.normcase(os.path.realpath(path)) != os.path.normcase(path):
        raise OSError(errno.ELOOP, LINKED, str(path))


def _enter(fd: int, name: str, *, make: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=fd)
    except FileNotFoundError:
        if not make:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=fd)
    return os.open(name, _FOLDER, dir_fd=fd)
