"""What is inside the workspace, after symlinks; places as paths and as URIs."""

import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from urllib.parse import quote, unquote_to_bytes

from turnbuckle.workspace.errors import NoFolder as NoFolder
from turnbuckle.workspace.errors import WorkspaceError
from turnbuckle.workspace.secretive import looks_secret
from turnbuckle.workspace.text import whole
from turnbuckle.workspace.unseen import named

_FILE = re.compile(r"file:(?://(?P<host>[^/?#]*))?(?P<path>/[^?#]*)", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:(?://|/)", re.IGNORECASE)
_DRIVE = re.compile(r"/[a-zA-Z]:(?=/|$)")
_CASELESS: bool = sys.platform == "darwin"  # On Windows, paths compare without case anyway.
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[1-9]|lpt[1-9])(\..*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place that a tool named, resolved.

    `path` has no links left in it. `inside` is whether that lies in the workspace; `secret` whether
    it looks like it holds credentials. `uri` is the file URI of the *unresolved* absolute path, as
    an editor would spell it. `shown` is what people and models read, on one line: relative to the
    working folder where it lies in it, in quotes where it could pass for more than a name.
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
        """The place that a path names, relative to `cwd` or absolute; `file:` URIs are paths too.

        Raises:
            NoFolder: the session has no folder to work in.
            WorkspaceError: INVALID_ARGS, for what names no place.
        """
        named = _named(path)
        folders = self.folders or ((self.cwd,) if self.cwd else ())
        if not folders or (self.cwd is None and not named.is_absolute()):
            raise NoFolder
        if os.name == "nt":
            refuse_share(PureWindowsPath(named), [PureWindowsPath(folder) for folder in folders])
        spelled = named if self.cwd is None else self.cwd / named
        real = _real(spelled)
        # Each time anew: a folder may be a link, and may have become another one.
        homes = {folder: Path(os.path.realpath(folder)) for folder in folders}
        if ".." in spelled.parts:
            spelled = real  # Behind a link, `..` leads where the text of the path does not say.
        return Place(
            uri=uri_of(spelled),
            path=real,
            shown=self._shown(spelled, real, homes),
            inside=any(lies_in(real, home) for home in homes.values()),
            secret=looks_secret(real) or (spelled != real and looks_secret(spelled)),
        )

    def _shown(self, spelled: Path, real: Path, homes: Mapping[Path, Path]) -> str:
        if self.cwd is not None:
            home = homes.get(self.cwd) or Path(os.path.realpath(self.cwd))
            if real.is_relative_to(home):
                near = spelled.is_relative_to(self.cwd)
                inner = spelled.relative_to(self.cwd) if near else real.relative_to(home)
                return named(whole(inner.as_posix()))
        return named(whole(real.as_posix()))


def _real(path: Path, tries: int = 5) -> Path:
    """The path without links; a link that goes away while it is read is looked at again."""
    try:
        return Path(os.path.realpath(path))
    except FileNotFoundError:
        if tries > 1:
            return _real(path, tries - 1)
        raise WorkspaceError("NOT_FOUND", f"{path} changes while it is looked at") from None
    except (OSError, ValueError) as error:
        raise WorkspaceError("INVALID_ARGS", f"{path} names no place: {error}") from error


def _named(path: str) -> Path:
    if not path or "\0" in path:
        raise WorkspaceError("INVALID_ARGS", "a path must not be empty or hold a NUL character")
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise WorkspaceError("INVALID_ARGS", "the path holds half a character") from error
    if _SCHEME.match(path):
        place = path_of(path)
        if place is None:
            raise WorkspaceError("INVALID_ARGS", f"{path} is no file of this machine")
        return place
    if os.name == "nt":
        refuse_device(PureWindowsPath(path))
    return Path(path)


def refuse_device(path: PureWindowsPath) -> None:
    """Refuse names that Windows reads as a device or as a stream inside a file.

    Raises:
        WorkspaceError: INVALID_ARGS.
    """
    for part in path.parts[1:] if path.anchor else path.parts:
        if ":" in part or _DEVICE.fullmatch(part.rstrip(" .")):
            raise WorkspaceError("INVALID_ARGS", f"{part} names no file on Windows")


def refuse_share(path: PureWindowsPath, folders: Iterable[PureWindowsPath]) -> None:
    """Refuse what Windows looks for on another machine, or among its devices, but for our folders.

    Only to look there would tell a stranger's machine who is logged in here.

    Raises:
        WorkspaceError: INVALID_ARGS.
    """
    drive = _plain_drive(path)
    if drive.startswith("//") and drive not in map(_plain_drive, folders):
        raise WorkspaceError("INVALID_ARGS", f"{path} lies on another machine, or is a device")


def _plain_drive(path: PureWindowsPath) -> str:
    """A drive or a share, in one spelling of the many that there are."""
    drive = path.drive.replace("\\", "/").casefold()
    if drive.startswith("//?/unc"):
        host_and_share = [part for part in path.as_posix().split("/") if part][2:4]
        return "//" + "/".join(host_and_share).casefold()
    return drive.removeprefix("//?/") if _DRIVE.fullmatch(drive.removeprefix("//?")) else drive


def lies_in(path: Path, folder: Path) -> bool:
    """Whether a path is a folder or lies in it; both have no links in them.

    Where a file system may not tell upper and lower case apart, it is asked.
    """
    if path.is_relative_to(folder):
        return True
    if not _CASELESS:
        return False
    for above in (path, *path.parents):
        try:
            if above.samefile(folder):
                return True
        except OSError:
            continue
    return False


def uri_of(path: PurePath) -> str:
    """The file URI of an absolute path, with as much escaped as common editors escape."""
    if isinstance(path, PureWindowsPath):
        text = path.as_posix().replace("//?/UNC/", "//", 1).removeprefix("//?/")
        if text.startswith("//"):
            host, _, rest = text[2:].partition("/")
            return f"file://{host.lower()}/{quote(rest)}"
        return f"file:///{quote(text[:1].lower() + text[1:])}"
    return "file://" + quote(os.fsencode(path))


def path_of(uri: str) -> Path | None:
    """The path that a file URI names on this machine; None for every other URI."""
    path = pure_path_of(uri, PureWindowsPath if os.name == "nt" else PurePosixPath)
    return None if path is None else Path(path)


def pure_path_of(uri: str, flavour: type[PurePath]) -> PurePath | None:
    """The path that a file URI names on a machine of this kind; None for every other URI."""
    match = _FILE.match(uri)
    if match is None:
        return None
    host = (match["host"] or "").lower()
    raw = unquote_to_bytes(match["path"])
    if b"\0" in raw:
        return None
    if issubclass(flavour, PureWindowsPath):
        text = raw.decode("utf-8", "replace")
        if host not in ("", "localhost"):
            return flavour(f"//{host}{text}")
        # A drive alone would be whatever folder is the current one there.
        return flavour(f"{text[1:3]}/{text[4:]}" if _DRIVE.match(text) else text)
    return flavour(os.fsdecode(raw)) if host in ("", "localhost") else None


def canonical(uri: str) -> str:
    """One spelling for all the ways to escape a file URI; any other URI stays as it is."""
    match = _FILE.match(uri)
    if match is None:
        return uri
    path = quote(unquote_to_bytes(match["path"]))
    if re.match(r"/[a-zA-Z]%3A(/|$)", path):
        path = path[:2].lower() + path[2:]
    host = (match["host"] or "").lower()
    return f"file://{'' if host == 'localhost' else host}{path}"
