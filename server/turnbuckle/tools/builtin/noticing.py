"""What a command could not see of the person's files, and what it changed of those we know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from anyio import to_thread

from turnbuckle.workspace.buffers import Buffer
from turnbuckle.workspace.changes import digest_of
from turnbuckle.workspace.errors import Missing, WorkspaceError
from turnbuckle.workspace.paths import path_of
from turnbuckle.workspace.port import Workspace
from turnbuckle.workspace.unsaved import alike, text_on_disk, unsaved

MOST = 500
"""Files that are looked at before and after a command, those last read or written."""

NAMED = 20
"""Files that one line names."""

_Mark: TypeAlias = tuple[int, int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Now:
    """What stands on disk; `text` is None for what cannot be read as one."""

    there: bool
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """How the files stood when a command began: those that the session knows, those not saved.

    `marks` tell cheaply that a file was written; `shown` is what the editor shows, by path.
    """

    workspace: Workspace
    digests: Mapping[Path, str]
    marks: Mapping[Path, _Mark]
    shown: Mapping[Path, str]
    unsaved: frozenset[Path]

    async def told(self) -> list[str]:
        """Lines that say what the model would not expect, none where there is nothing."""
        lines = _line(self, "not saved in the editor, so not seen by the command", self.unsaved)
        shown = {buffer.path: buffer for buffer in self.workspace.buffers.open()}
        found = await to_thread.run_sync(self._changed)
        kinds: dict[str, list[Path]] = {}
        for path, now in found.items():
            kinds.setdefault(self._kind(path, now, shown.get(path)), []).append(path)
        return lines + [
            line for kind, paths in sorted(kinds.items()) for line in _line(self, kind, paths)
        ]

    def _changed(self) -> dict[Path, _Now]:
        """Files that hold another text than the session knows."""
        found: dict[Path, _Now] = {}
        for path, mark in self.marks.items():
            if _mark(path) == mark:
                continue
            now = _look(path)
            if now.text is None or digest_of(now.text) != self.digests[path]:
                found[path] = now
        return found

    def _kind(self, path: Path, now: _Now, buffer: Buffer | None) -> str:
        if buffer is None or (now.text is not None and alike(buffer.text, now.text)):
            return _CHANGED if now.there else _DELETED
        if path in self.unsaved or buffer.text != self.shown.get(path):
            return _CONFLICT
        return _BEHIND


def _look(path: Path) -> _Now:
    try:
        return _Now(there=True, text=text_on_disk(path))
    except Missing:
        return _Now(there=False)
    except (WorkspaceError, OSError):
        return _Now(there=True)


_BEHIND = "changed on disk, and the editor still shows, unchanged, the text of before"
_CHANGED = "changed on disk; read again before changing it"
_CONFLICT = (
    "in conflict: changed on disk, and changed in the editor without being saved; ask the person"
)
_DELETED = "deleted on disk"


async def before_command(workspace: Workspace) -> Before:
    """Have the editor save what it can, and remember how the files stand then."""
    folders, buffers = workspace.roots.folders, workspace.buffers
    waiting = await unsaved(buffers, folders)
    if waiting:
        await buffers.save(waiting)
        waiting = await unsaved(buffers, folders)
    digests: dict[Path, str] = {}
    for uri in list(workspace.known())[-MOST:]:
        path, digest = path_of(uri), workspace.seen(uri)
        if path is not None and digest:
            digests[path] = digest
    known, marks = await to_thread.run_sync(_marked, digests)
    return Before(
        workspace=workspace,
        digests=known,
        marks=marks,
        shown={buffer.path: buffer.text for buffer in buffers.open()},
        unsaved=frozenset(buffer.path for buffer in waiting),
    )


def _marked(digests: Mapping[Path, str]) -> tuple[dict[Path, str], dict[Path, _Mark]]:
    """The same by paths without links, and a mark of each."""
    known = {path.resolve(): digest for path, digest in digests.items()}
    return known, {path: _mark(path) for path in known}


def _mark(path: Path) -> _Mark:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _line(before: Before, what: str, paths: Iterable[Path]) -> list[str]:
    names: Sequence[str] = sorted(_shown(before.workspace, path) for path in paths)
    if not names:
        return []
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return [f"[{what}: {', '.join(names[:NAMED])}{more}]\n"]


def _shown(workspace: Workspace, path: Path) -> str:
    try:
        return workspace.roots.resolve(str(path)).shown
    except WorkspaceError:
        return str(path)
