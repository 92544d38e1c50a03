"""Removing a file that still holds exactly a text, and no other."""

import os

from anyio import to_thread

from turnbuckle.workspace import disk, folders
from turnbuckle.workspace.changes import digest_of
from turnbuckle.workspace.errors import Missing, WorkspaceError
from turnbuckle.workspace.files import LIMIT
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Applied
from turnbuckle.workspace.text import decode


async def remove(place: Place, digest: str) -> Applied:
    """Remove a file from the disk if its text has this digest; only for one that no editor shows.

    Never raises for a refusal: the outcome says what happened.
    """
    return await to_thread.run_sync(_remove, place, digest)


def _remove(place: Place, digest: str) -> Applied:
    if not place.inside:
        return outside(place)
    try:
        with folders.opened(place.path.parent) as folder:
            found = disk.read(folder, place.path.name, LIMIT)
            if digest_of(decode(found.data)[0]) != digest:
                return Applied(outcome="stale", said="it was changed meanwhile")
            if found.read_only:
                return Applied(outcome="failed", code="READ_ONLY", said="the file is read-only")
            os.unlink(folder.at(place.path.name), dir_fd=folder.fd)
    except (WorkspaceError, OSError) as error:
        return why_not(error)
    return Applied(outcome="applied")


def outside(place: Place) -> Applied:
    """What is said of a place that lies outside the workspace."""
    said = f"{place.shown} lies outside the workspace"
    return Applied(outcome="failed", code="OUTSIDE", said=said)


def why_not(error: WorkspaceError | OSError) -> Applied:
    """What is said where a file could not be removed or moved."""
    if isinstance(error, Missing | FileNotFoundError):
        return Applied(outcome="stale", said="it is not there any more")
    if isinstance(error, WorkspaceError):
        return Applied(outcome="failed", code=error.code, said=str(error))
    return Applied(outcome="failed", code="TOOL_FAILED", said=error.strerror or str(error))
