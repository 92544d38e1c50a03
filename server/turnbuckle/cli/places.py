"""Places as people read them."""

from pathlib import Path

from turnbuckle.workspace.paths import path_of


def shown_place(uri: str, cwd: str | None) -> str:
    """A file URI as a path, relative to the folder `cwd` (a URI too) where it lies in it."""
    path = path_of(uri)
    if path is None:
        return uri
    folder = path_of(cwd) if cwd else None
    if folder is not None and path.is_relative_to(folder):
        return str(path.relative_to(folder))
    return short(path)


def short(path: Path) -> str:
    """A path, from `~` where it lies in the person's home."""
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return str(path)
