"""The client's workspace folders, as they come and go."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from turnbuckle.lsp.clientfacts import ClientFacts
from turnbuckle.lsp.rpc import Connection
from turnbuckle.lsp.rpc.late import types
from turnbuckle.workspace.paths import Roots, canonical, path_of


class Folders:
    """What sessions may work in; those that are open follow every change."""

    def __init__(self, client: ClientFacts) -> None:
        self._uris = {canonical(uri): uri for uri in client.folders}

    def register(self, connection: Connection) -> None:
        """Listen for changes."""
        connection.on_notification("workspace/didChangeWorkspaceFolders", self._changed)

    def _changed(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.removed:
            self._uris.pop(canonical(folder.uri), None)
        for folder in params.event.added:
            self._uris.setdefault(canonical(folder.uri), folder.uri)

    @property
    def first(self) -> str | None:
        """The folder that a session works in which names none; None where there is none on disk."""
        return next((uri for uri in self._uris.values() if path_of(uri) is not None), None)

    def roots(self, cwd: str | None) -> Roots:
        """The roots of a session that works in `cwd` (a URI), or in the first folder.

        The folders are always those of now. The working folder stays what it is, once there is one.
        """
        return _LiveRoots(path_of(cwd) if cwd else None, self._paths)

    def _paths(self) -> tuple[Path, ...]:
        found = (path_of(uri) for uri in self._uris.values())
        return tuple(path for path in found if path is not None)


class _LiveRoots(Roots):
    """Roots whose folders are looked up each time."""

    __slots__ = ("_own", "_paths")
    _own: Path | None
    _paths: Callable[[], tuple[Path, ...]]

    def __init__(self, own: Path | None, paths: Callable[[], tuple[Path, ...]]) -> None:
        first = next(iter(paths()), None)
        # What is frozen can be set only so.
        object.__setattr__(self, "_own", own or first)
        object.__setattr__(self, "_paths", paths)

    @property
    def cwd(self) -> Path | None:
        """Where relative paths start."""
        return self._own or next(iter(self._paths()), None)

    @property
    def folders(self) -> tuple[Path, ...]:
        """The client's folders, or the working folder where it has none."""
        return self._paths() or ((self.cwd,) if self.cwd else ())
