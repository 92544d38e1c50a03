"""The files below a folder, without those that version control ignores; links are not followed."""

import os
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from turnbuckle.workspace.ignoring import spec_of

SECONDS = 5.0
"""How long one walk may look around."""

_RULES = ".gitignore"
_OWN = ".git"
_MOST_RULES = 1024 * 1024  # characters of one file of rules


@dataclass(frozen=True, slots=True)
class Entry:
    """Something in the tree: its path relative to where the walk began, with `/`."""

    path: str
    is_folder: bool
    depth: int


@dataclass(frozen=True, slots=True)
class _Rules:
    """The ignore file of one folder; `above` are those of the folders over it."""

    folder: Path
    spec: GitIgnoreSpec
    above: "_Rules | None"

    def ignore(self, path: Path, *, is_folder: bool) -> bool:
        """What the nearest file that says anything says."""
        name = path.relative_to(self.folder).as_posix() + "/" * is_folder
        said = self.spec.check_file(name).include
        if said is None:
            return self.above is not None and self.above.ignore(path, is_folder=is_folder)
        return said


def walk(root: Path, seconds: float = SECONDS) -> Iterator[Entry]:
    """All that is below a folder: upper levels first, sorted by name within a folder.

    Raises:
        TimeoutError: there is more than can be looked at in the time.
        OSError: the folder itself cannot be read.
    """
    until = time.monotonic() + seconds
    waiting: deque[tuple[Path, str, int, _Rules | None]] = deque()
    waiting.append((root, "", 0, _rules_above(root)))
    while waiting:
        folder, prefix, depth, rules = waiting.popleft()
        rules = _rules_of(folder, rules)
        for item, is_folder in _items(folder, must=not prefix):
            path = folder / item
            if rules is not None and rules.ignore(path, is_folder=is_folder):
                continue
            yield Entry(prefix + item, is_folder, depth)
            if is_folder:
                waiting.append((path, f"{prefix}{item}/", depth + 1, rules))
            if time.monotonic() > until:
                break
        if time.monotonic() > until:
            raise TimeoutError(f"the folder could not be looked through in {seconds:g} seconds")


def _items(folder: Path, *, must: bool) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError:
        if must:
            raise
        return []
    return sorted(item for item in found if item[0] != _OWN)


def _rules_above(root: Path) -> _Rules | None:
    """The rules of the folders over this one, up to that of the repository."""
    above: list[Path] = []
    for folder in (root, *root.parents):
        if (folder / _OWN).exists():
            rules: _Rules | None = None
            for over in reversed(above):
                rules = _rules_of(over, rules)
            return rules
        above.append(folder.parent)
    return None


def _rules_of(folder: Path, above: _Rules | None) -> _Rules | None:
    file = folder / _RULES
    try:
        if not file.is_file():
            return above
        with file.open(encoding="utf-8", errors="replace") as opened:
            lines = opened.read(_MOST_RULES).split("\n")
        return _Rules(folder, spec_of(lines), above)
    except (OSError, ValueError):
        return above
