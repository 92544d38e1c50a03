"""What is asked about each time, whatever was granted and whatever a rule allows."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from turnbuckle.tools.subject import Change, Read, Subject
from turnbuckle.workspace.changes import FileChange
from turnbuckle.workspace.paths import path_of
from turnbuckle.workspace.protected import protection
from turnbuckle.workspace.secretive import looks_secret
from turnbuckle.workspace.spelling import folded


@dataclass(frozen=True, slots=True)
class Caution:
    """Where to look twice: `folders` are those of the workspace, `own` those of our own files."""

    folders: Sequence[Path] = ()
    own: Sequence[Path] = ()

    def reason(self, subject: Subject) -> str | None:
        """Why a subject is asked about each time; None if a rule or a grant may answer for it."""
        match subject:
            case Read(places=places):
                secret = [place.shown for place in places if place.secret]
                return f"{secret[0]} looks as if it held credentials" if secret else None
            case Change(files=files):
                found = (self._of_change(path) for file in files for path in paths_of(file))
                return next(filter(None, found), None)
            case _:
                return None

    def of_path(self, path: Path) -> str | None:
        """Why writing a file is asked about each time."""
        if any(_is_in(path, folder) for folder in self.own):
            return "it belongs to Turnbuckle's own configuration and state"
        if what := protection(path, [*self.folders, *map(real_path, self.folders)]):
            return f"{_short(path)} is among {what}"
        if looks_secret(path):
            return f"{_short(path)} looks as if it held credentials"
        return None

    def _of_change(self, path: Path | None) -> str | None:
        return "it is no file of this machine" if path is None else self.of_path(path)


def paths_of(file: FileChange) -> Iterator[Path | None]:
    """The paths that a change of a file is about, as named and without links; None for no file."""
    path = path_of(file.uri)
    yield path
    if path is not None and (real := real_path(path)) != path:
        yield real
    if file.target is not None:
        yield path_of(file.target.uri)
        yield file.target.path


def only_text(subject: Change) -> bool:
    """Whether a change is one of text: what removes or moves a file is asked about by itself."""
    return all(file.kind in ("create", "edit") for file in subject.files)


def real_path(path: Path) -> Path:
    """A path without links; as it is where that cannot be said."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return path


def _is_in(path: Path, folder: Path) -> bool:
    """Whether some file system may take a path for one in a folder, however both are spelled."""
    home = [folded(part) for part in folder.parts]
    return [folded(part) for part in path.parts[: len(home)]] == home


def _short(path: Path) -> str:
    return "/".join(path.parts[-2:]).replace("//", "/")
