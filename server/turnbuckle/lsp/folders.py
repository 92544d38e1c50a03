"""The client's workspace folders, as they come and go."""

from __future__ import annotations

from pathlib import Path

from turnbuckle.lsp.clientfacts import ClientFacts
from turnbuckle.lsp.rpc import Connection
from turnbuckle.lsp.rpc.late import types
from turnbuckle.workspace.paths import Roots, path_of


class Folders:
    """What a new session may work in."""

    def __init__(self, client: ClientFacts) -> None:
        self._uris = list(client.folders)

    def register(self, connection: Connection) -> None:
        """Listen for changes."""
        connection.on_notification("workspace/didChangeWorkspaceFolders", self._changed)

    def _changed(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        gone = {folder.uri for folder in params.event.removed}
        here = [uri for uri in self._uris if uri not in gone]
        self._uris = [*here, *(f.uri for f in params.event.added if f.uri not in here)]

    @property
    def first(self) -> str | None:
        """The folder that a session works in which names none; None where there is none on disk."""
        return next((uri for uri in self._uris if path_of(uri) is not None), None)

    def roots(self, cwd: str | None) -> Roots:
        """The roots of a session that works in `cwd` (a URI), or in the first folder."""
        folders = tuple(path for uri in self._uris if (path := path_of(uri)) is not None)
        work: Path | None = path_of(cwd) if cwd else None
        if work is None and folders:
            work = folders[0]
        return Roots(cwd=work, folders=folders or ((work,) if work else ()))
