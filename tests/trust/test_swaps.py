"""A folder that becomes a link while files are made, moved and removed leads nowhere else."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from turnbuckle.testing.strategies import soak
from turnbuckle.workspace import folders
from turnbuckle.workspace.changes import digest_of, make_change
from turnbuckle.workspace.errors import WorkspaceError
from turnbuckle.workspace.files import DiskTexts
from turnbuckle.workspace.moving import move
from turnbuckle.workspace.paths import Place, Roots, uri_of
from turnbuckle.workspace.removal import remove

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links that anybody may make")

ROUNDS = 150


@contextmanager
def swapping(sub: Path, outside: Path) -> Iterator[None]:
    """Meanwhile a folder is now itself, now a link to another one, as fast as that goes."""
    stop, aside = threading.Event(), sub.parent / "aside"

    def swap() -> None:
        while not stop.is_set():
            sub.rename(aside)
            again(lambda: sub.symlink_to(outside))
            stop.wait(0.0003)
            sub.unlink()
            again(lambda: aside.rename(sub))
            stop.wait(0.0003)

    def again(act: Callable[[], object]) -> None:
        """Do it, also where the folder was made anew in the gap, as it may be."""
        while True:
            try:
                act()
            except OSError:
                shutil.rmtree(sub, ignore_errors=True)
            else:
                return

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, Path]:
    work, outside = tmp_path / "work", tmp_path / "outside"
    for folder in (work / "sub", outside):
        folder.mkdir(parents=True)
    (outside / "kept").write_text("orig")
    return work, outside


def resolved(work: Path, name: str) -> Place:
    return Roots(cwd=work, folders=(work,)).resolve(name)


def untouched(outside: Path) -> None:
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"kept": "orig"}


async def test_new_files_are_made_in_the_folder_or_not_at_all(place: tuple[Path, Path]) -> None:
    work, outside = place
    disk, made = DiskTexts(), 0
    with swapping(work / "sub", outside):
        for number in range(soak(ROUNDS)):
            with suppress(WorkspaceError):
                where = resolved(work, f"sub/deep/{number}")
                change = make_change(where.uri, "", "OWN", "create")
                ids = tuple(hunk.hunk_id for hunk in change.hunks)
                made += (await disk.apply(where, change, ids)).outcome == "applied"
    untouched(outside)
    assert made  # some got through, so that it was tried


async def test_files_are_moved_and_removed_in_the_folder_or_not_at_all(
    place: tuple[Path, Path],
) -> None:
    work, outside = place
    digest = digest_of("orig")
    with swapping(work / "sub", outside):
        for number in range(soak(ROUNDS)):
            (work / "own").write_text("orig")
            with suppress(WorkspaceError):
                await move(resolved(work, "own"), resolved(work, f"sub/{number}"), digest)
            with suppress(WorkspaceError):
                await remove(resolved(work, "sub/kept"), digest)
            with suppress(WorkspaceError):
                await move(resolved(work, "sub/kept"), resolved(work, "taken"), digest)
    untouched(outside)
    assert not (work / "taken").exists()


# Where no folder can be held open, as on Windows.


@pytest.mark.parametrize("make", [False, True])
def test_a_link_that_came_meanwhile_is_seen_where_folders_cannot_be_held(
    place: tuple[Path, Path], make: bool
) -> None:
    work, outside = place
    path = (work / "sub").resolve()
    with folders.opened(path, make=make, held=False) as folder:
        assert folder.fd is None
    (work / "sub").rmdir()
    (work / "sub").symlink_to(outside)
    for below in (path, path / "deep" / "er"):
        with pytest.raises(OSError, match="link"), folders.opened(below, make=make, held=False):
            pass
    untouched(outside)


def test_folders_are_made_where_they_cannot_be_held(place: tuple[Path, Path]) -> None:
    path = (place[0] / "a" / "b").resolve()
    with folders.opened(path, make=True, held=False) as folder:
        assert Path(folder.at("x")) == path / "x"
    assert path.is_dir()
    assert uri_of(path).startswith("file://")
