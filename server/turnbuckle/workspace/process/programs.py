"""Where programs stand: never in the folder that a process happens to be in."""

import os
from pathlib import Path

_ENDINGS = (".exe",) if os.name == "nt" else ("",)


def find_program(name: str, places: str | None = None) -> str | None:
    """The absolute path of a program in these folders, by default those of PATH; or None.

    A relative or empty one of them is passed over, for that is the workspace of whoever opened it.
    Windows would look there too, and before all others.
    """
    for folder in absolute(os.environ.get("PATH", os.defpath) if places is None else places):
        for ending in _ENDINGS:
            path = Path(folder, name + ending)
            if path.is_file() and os.access(path, os.X_OK):
                return str(path)
    return None


def absolute(places: str) -> list[str]:
    """The folders of a PATH that mean the same wherever a process stands."""
    return [folder for folder in places.split(os.pathsep) if Path(folder).is_absolute()]


def only_absolute(places: str) -> str:
    """A PATH without its relative folders; never an empty one, which means the folder one is in."""
    return os.pathsep.join(absolute(places) or absolute(os.defpath))


def of_windows(name: str) -> str:
    """A program that Windows comes with, by its absolute path."""
    return str(Path(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", name))
