"""What is inside the workspace, after symlinks."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place that a tool named, resolved.

    `path` has no links left in it. `inside` is whether that lies in the workspace; `secret` whether
    it looks like it holds credentials. `uri` is the file URI of the *unresolved* absolute path, as
    an editor would spell it. `shown` is what people and models read: relative to the working folder
    where it lies in it.
    """

    uri: str
    path: Path
    shown: str
    inside: bool
    secret: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Roots:
    """The folders of a workspace; `cwd` is where relative paths start, None where there is none."""

    cwd: Path | None
    folders: tuple[Path, ...]

    def resolve(self, path: str) -> Place:
        """The place that a path names, relative to `cwd` or absolute.

        Raises:
            NoFolder: the session has no folder to work in.
        """
        raise NotImplementedError


class NoFolder(Exception):
    """The session has no folder to work in."""
