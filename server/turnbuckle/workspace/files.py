"""Text files on disk: read and applied exactly, keeping what was not edited."""

import contextlib
import errno
import mimetypes
from dataclasses import replace

from anyio import to_thread

from turnbuckle.workspace import disk, folders
from turnbuckle.workspace.changes import FileChange, digest_of
from turnbuckle.workspace.disk import Found
from turnbuckle.workspace.errors import Missing, WorkspaceError
from turnbuckle.workspace.folders import Folder
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Applied, Snapshot
from turnbuckle.workspace.text import Form, decode, encode

LIMIT = 10 * 1024 * 1024
"""Bytes of the largest file that is read as text."""


class DiskTexts:
    """The files themselves. It keeps nothing: what was applied before is told with each call."""

    def __init__(self, *, limit: int = LIMIT) -> None:
        self._limit = limit

    async def read(self, place: Place) -> Snapshot:
        """The text that stands at a place, whatever an editor shows of it."""
        return await to_thread.run_sync(self._read, place)

    async def apply(
        self,
        place: Place,
        change: FileChange,
        hunk_ids: tuple[str, ...],
        already: tuple[str, ...] = (),
    ) -> Applied:
        """Write these hunks too, if the base with those of before is what stands there."""
        # Both build on reading and writing here.
        from turnbuckle.workspace.moving import move
        from turnbuckle.workspace.removal import remove

        if change.kind == "delete":
            removed = await remove(place, change.digest)
            return replace(removed, after="") if removed.outcome == "applied" else removed
        if change.target is not None:
            return await move(place, change.target, change.digest)
        return await to_thread.run_sync(self._apply, place, change, hunk_ids, already)

    def _read(self, place: Place) -> Snapshot:
        try:
            with folders.opened(place.path.parent) as folder:
                text, _, found = self._load(folder, place.path.name or ".")
        except (Missing, FileNotFoundError) as error:
            _require_name(place)
            raise Missing(f"{place.shown} does not exist") from error
        except WorkspaceError as error:
            raise WorkspaceError(error.code, f"{_described(place, error)}: {error}") from error
        except NotADirectoryError as error:
            raise _not_a_folder(place) from error
        except OSError as error:
            why = error.strerror or str(error)
            raise WorkspaceError("TOOL_FAILED", f"{place.shown} cannot be read: {why}") from error
        return Snapshot(uri=place.uri, text=text, digest=digest_of(text), read_only=found.read_only)

    def _load(self, folder: Folder, name: str) -> tuple[str, Form, Found]:
        found = disk.read(folder, name, self._limit)
        text, form = decode(found.data)
        return text, form, found

    def _apply(
        self, place: Place, change: FileChange, hunk_ids: tuple[str, ...], already: tuple[str, ...]
    ) -> Applied:
        if not place.inside:
            said = f"{place.shown} lies outside the workspace"
            return Applied(outcome="failed", code="OUTSIDE", said=said)
        try:
            make = change.kind == "create" and not already
            with folders.opened(place.path.parent, make=make) as folder:
                if make:
                    return self._create(folder, place, change.with_hunks(hunk_ids))
                return self._edit(folder, place, change, hunk_ids, already)
        except disk.Changed:
            return Applied(outcome="stale", said="somebody else wrote it at the same moment")
        except (Missing, FileNotFoundError):
            return Applied(outcome="stale", said="it is not there any more")
        except WorkspaceError as error:
            return Applied(outcome="failed", code=error.code, said=str(error))
        except OSError as error:
            return _refused(place, error)

    def _create(self, folder: Folder, place: Place, text: str) -> Applied:
        data = self._encoded(text, Form())
        try:
            disk.create(folder, place.path.name, data)
        except FileExistsError:
            return Applied(outcome="stale", said="something stands there now")
        return self._seen(folder, place, data)

    def _edit(
        self,
        folder: Folder,
        place: Place,
        change: FileChange,
        hunk_ids: tuple[str, ...],
        already: tuple[str, ...],
    ) -> Applied:
        text, form, found = self._load(folder, place.path.name)
        if text != change.with_hunks(already):
            return Applied(outcome="stale", after=digest_of(text))
        if found.read_only:
            said = "the file is read-only"
            return Applied(outcome="failed", code="READ_ONLY", after=digest_of(text), said=said)
        data = self._encoded(change.with_hunks((*already, *hunk_ids)), form)
        disk.replace(folder, place.path.name, data, found)
        return self._seen(folder, place, data)

    def _encoded(self, text: str, form: Form) -> bytes:
        """The bytes of a text, if they could be read again."""
        data = encode(text, form)
        if len(data) > self._limit:
            message = f"it would have {len(data):,} bytes, and {self._limit:,} are the most"
            raise WorkspaceError("TOO_LARGE", message)
        return data

    def _seen(self, folder: Folder, place: Place, data: bytes) -> Applied:
        """Look whether these bytes stand there."""
        after = None
        with contextlib.suppress(WorkspaceError, OSError):
            text, _, found = self._load(folder, place.path.name)
            after = digest_of(text)
            if found.data == data:
                return Applied(outcome="applied", after=after)
        said = "somebody changed it again right after it was written"
        return Applied(outcome="unverified", after=after, said=said)


def _described(place: Place, error: WorkspaceError) -> str:
    """The place with what is known of a file that is no text: its kind and its size."""
    if error.code != "BINARY":
        return place.shown
    known = [kind] if (kind := mimetypes.guess_type(place.path.name)[0]) else []
    with contextlib.suppress(OSError):
        if size := place.path.stat().st_size:  # What the system makes up as it is read has none.
            known.append(f"{size:,} bytes")
    return f"{place.shown} ({', '.join(known)})" if known else place.shown


def _require_name(place: Place) -> None:
    """Refuse a path so long that what is made there could be named by nobody.

    Raises:
        WorkspaceError: INVALID_ARGS.
    """
    try:
        place.path.lstat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            message = f"the path is too long for this system ({len(str(place.path)):,} characters)"
            raise WorkspaceError("INVALID_ARGS", message) from error


def _not_a_folder(place: Place) -> WorkspaceError:
    """A file, or a link that was not there when the place was resolved, stands above the place."""
    for above in reversed(place.path.parents):
        if above.is_symlink():
            return WorkspaceError("OUTSIDE", f"{place.shown}: {folders.LINKED}")
        if above.is_file():
            message = f"{place.shown} cannot exist, because {above.name} is a file and no folder"
            return WorkspaceError("INVALID_ARGS", message)
    return WorkspaceError("TOOL_FAILED", f"{place.shown} cannot be reached")


def _refused(place: Place, error: OSError) -> Applied:
    if isinstance(error, NotADirectoryError):
        trouble = _not_a_folder(place)
        return Applied(outcome="failed", code=trouble.code, said=str(trouble))
    if error.errno == errno.ELOOP:
        return Applied(outcome="failed", code="OUTSIDE", said=folders.LINKED)
    code = "READ_ONLY" if isinstance(error, PermissionError) else "TOOL_FAILED"
    return Applied(outcome="failed", code=code, said=error.strerror or str(error))
