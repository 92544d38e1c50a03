"""Texts that are not on disk, laid out as files so that one program searches both alike. Blocking.

Around them stands what decides which files are searched at all: their folders and ignore files.
"""

import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from turnbuckle.workspace.buffers import Buffer

_RULES = (".gitignore", ".ignore", ".rgignore")
_REPOSITORY = ".git"
_SPECIAL = re.compile(r"[*?\[\]{}\\! ]")


class Overlay:
    """A folder of our own that looks like another one, with only these texts in it."""

    def __init__(self, scratch: Path, like: Path) -> None:
        self._scratch = scratch
        self._top = _top(like)
        self._made: set[Path] = set()
        self.folder = self._folder(like)

    def put(self, buffer: Buffer) -> None:
        """Lay out one text.

        Raises:
            OSError: it cannot be written.
        """
        folder = self._folder(buffer.path.parent)
        text = buffer.text.encode("utf-8", "replace")
        (folder / buffer.path.name).write_bytes(text)

    def _folder(self, real: Path) -> Path:
        """The folder that stands for a real one, with what ignores files in it."""
        here = self._scratch / real.relative_to(self._top)
        if real in self._made:
            return here
        self._made.add(real)
        if real != self._top:
            self._folder(real.parent)
        here.mkdir(exist_ok=True)
        for name in _RULES:
            with suppress(OSError):
                shutil.copyfile(real / name, here / name)
        if real == self._top or (real / _REPOSITORY).exists():
            (here / _REPOSITORY).mkdir(exist_ok=True)
            with suppress(OSError):
                exclude = Path(_REPOSITORY) / "info" / "exclude"
                (here / exclude).parent.mkdir()
                shutil.copyfile(real / exclude, here / exclude)
        return here


@contextmanager
def laid_out(buffers: Iterable[Buffer], like: Path) -> Iterator[Path]:
    """The folder that stands for `like` while the block lasts, with these texts below it.

    Raises:
        OSError: they cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="turnbuckle-", ignore_cleanup_errors=True) as scratch:
        overlay = Overlay(Path(scratch), like)
        for buffer in buffers:
            overlay.put(buffer)
        yield overlay.folder


def _top(folder: Path) -> Path:
    """The highest folder whose ignore files count for what is in this one."""
    top = folder
    for above in (folder, *folder.parents):
        if any((above / name).is_file() for name in _RULES):
            top = above
        if (above / _REPOSITORY).exists():
            return above
    return top


def only_there(path: Path, folder: Path) -> str:
    """A glob that matches this one path, seen from a folder above it."""
    name = path.relative_to(folder).as_posix()
    return "/" + _SPECIAL.sub(lambda match: "\\" + match[0], name)


def merged(found: Sequence[bytes], limit: int) -> tuple[bytes, bool]:
    """Several findings as one, in the order of their paths, and whether it was cut at the limit.

    Each names a file as `./path`, then its lines; files stand apart by an empty line.
    """
    blocks = sorted(
        (block for one in found for block in _blocks(one)), key=lambda block: block[0].split(b"/")
    )
    text = b"\n\n".join(b"\n".join(block).rstrip(b"\n") for block in blocks)
    if len(text) <= limit:
        return text, False
    return text[: text.rfind(b"\n", 0, limit)], True


def _blocks(found: bytes) -> list[list[bytes]]:
    blocks: list[list[bytes]] = []
    for line in found.split(b"\n"):
        if line.startswith(b"./"):
            blocks.append([line])
        elif blocks:
            blocks[-1].append(line)
    return blocks
