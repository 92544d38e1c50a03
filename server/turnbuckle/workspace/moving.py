"""Taking a file to another name, if it still holds exactly a text and nothing stands there."""

import errno
import os

from anyio import to_thread

from turnbuckle.workspace import disk, folders
from turnbuckle.workspace.changes import digest_of
from turnbuckle.workspace.errors import WorkspaceError
from turnbuckle.workspace.files import LIMIT
from turnbuckle.workspace.folders import Folder
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Applied
from turnbuckle.workspace.removal import outside, why_not
from turnbuckle.workspace.text import decode

TAKEN = "something stands there already"


async def move(place: Place, target: Place, digest: str) -> Applied:
    """Rename a file whose text has this digest; bytes, mode and time stay. Folders are made.

    Never raises for a refusal: the outcome says what happened. `after` is that of the text.
    """
    return await to_thread.run_sync(_move, place, target, digest)


def _move(place: Place, target: Place, digest: str) -> Applied:
    for one in (place, target):
        if not one.inside:
            return outside(one)
    try:
        with folders.opened(place.path.parent) as folder:
            found = disk.read(folder, place.path.name, LIMIT)
            if digest_of(decode(found.data)[0]) != digest:
                return Applied(outcome="stale", said="it was changed meanwhile")
            with folders.opened(target.path.parent, make=True) as other:
                _rename(folder, place.path.name, other, target.path.name)
    except FileExistsError:
        return Applied(outcome="stale", said=f"{target.shown}: {TAKEN}")
    except (WorkspaceError, OSError) as error:
        return why_not(error)
    return Applied(outcome="applied", after=digest)


def _rename(folder: Folder, name: str, other: Folder, new: str) -> None:
    """Rename without ever replacing what stands there; another spelling of one name is let be."""
    if _exists(other, new) and not _same(folder, name, other, new):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    try:
        os.link(folder.at(name), other.at(new), src_dir_fd=folder.fd, dst_dir_fd=other.fd)
    except OSError:  # no hard links here, or only the spelling changes
        if _exists(other, new) and not _same(folder, name, other, new):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        os.rename(folder.at(name), other.at(new), src_dir_fd=folder.fd, dst_dir_fd=other.fd)
    else:
        os.unlink(folder.at(name), dir_fd=folder.fd)


def _exists(folder: Folder, name: str) -> bool:
    try:
        os.stat(folder.at(name), dir_fd=folder.fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _same(folder: Folder, name: str, other: Folder, new: str) -> bool:
    """Whether both names are one entry of one folder, where upper and lower case are the same."""
    if folder.path != other.path or name.casefold() != new.casefold():
        return False
    mine = os.stat(folder.at(name), dir_fd=folder.fd, follow_symlinks=False)
    theirs = os.stat(other.at(new), dir_fd=other.fd, follow_symlinks=False)
    return (mine.st_dev, mine.st_ino) == (theirs.st_dev, theirs.st_ino)
