"""Find the folders that hold a SKILL.md: the person's own, and those of the workspace."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from anyio import to_thread

from turnbuckle.plugins.skills.frontmatter import BadHead, head_of
from turnbuckle.workspace.errors import Missing, WorkspaceError
from turnbuckle.workspace.paths import Place, Roots
from turnbuckle.workspace.port import Workspace

NAME = "SKILL.md"

FOLDERS = (".agents/skills", ".turnbuckle/skills")
"""Where the skills of a workspace stand."""

MOST = 100
"""How many skills of one folder are looked at, and how many files of one skill are named."""

LARGEST = 1024 * 1024
"""Bytes of the largest file that is a skill."""

SAID = 400
"""Characters of a description that are shown."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A skill; `own` is whether it is the person's, else it is the workspace's."""

    name: str
    description: str
    place: Place
    own: bool


@dataclass(slots=True)
class Found:
    """Skills by name, the person's first; `faults` are sentences on what cannot be used."""

    skills: dict[str, Skill] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


async def find(workspace: Workspace, own: Path | None) -> Found:
    """All skills that there are now. One of the person hides those of the workspace by its name."""
    found = Found()
    if own is not None:
        roots = Roots(cwd=None, folders=(own,))
        for folder in await to_thread.run_sync(_inside, own, found):
            await _take(found, workspace, roots.resolve(str(folder / NAME)), own=True)
    for root in workspace.roots.folders:
        for home in FOLDERS:
            for folder in await to_thread.run_sync(_inside, root / home, found):
                place = workspace.roots.resolve(str(folder / NAME))
                await _take(found, workspace, place, own=False)
    return found


def _inside(home: Path, found: Found) -> list[Path]:
    """The folders in a folder, in order; none where it is not there."""
    try:
        with os.scandir(home) as entries:
            names = sorted(e.name for e in entries if e.is_dir() and not e.name.startswith("."))
    except FileNotFoundError:
        return []
    except OSError as error:
        found.faults.append(f"{home}: it cannot be read: {error.strerror or error}")
        return []
    if len(names) > MOST:
        found.faults.append(f"{home}: it has {len(names):,} folders; {MOST} are looked at")
    return [home / name for name in names[:MOST]]


async def _take(found: Found, workspace: Workspace, place: Place, *, own: bool) -> None:
    try:
        skill = await _read(workspace, place, own=own)
    except Missing:
        return
    except (BadHead, WorkspaceError) as error:
        found.faults.append(f"{place.shown}: {error}")
        return
    if skill.name in found.skills:
        found.faults.append(f"{place.shown}: there is a skill named {skill.name} already")
    else:
        found.skills[skill.name] = skill


async def _read(workspace: Workspace, place: Place, *, own: bool) -> Skill:
    if not own and (not place.inside or place.secret):
        raise BadHead("it leads out of the workspace")
    if await to_thread.run_sync(_size, place.path) > LARGEST:
        raise BadHead(f"it is larger than {LARGEST:,} bytes")
    return _skill(head_of((await workspace.texts.read(place)).text), place, own=own)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # reading it tells more


def _skill(head: dict[str, str], place: Place, *, own: bool) -> Skill:
    name = head.get("name", "")
    if not _NAME.fullmatch(name):
        raise BadHead("its name must be letters, digits, dots and dashes, 64 at most")
    description = "".join(c if c.isprintable() else " " for c in head.get("description", ""))
    description = " ".join(description.split())
    if not description:
        raise BadHead("it has no description")
    if len(description) > SAID:
        description = f"{description[:SAID]}…"
    return Skill(name=name, description=description, place=place, own=own)


def beside(skill: Path) -> list[str]:
    """The other files of a skill, by their paths: `MOST` at most, and three folders deep."""
    found: list[str] = []
    for path in _files(skill.parent, 3):
        if path != skill:
            found.append(path.as_posix())
        if len(found) == MOST:
            break
    return found


def _files(folder: Path, depth: int) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            rows = sorted((e.name, e.is_dir(follow_symlinks=False)) for e in entries)
    except OSError:
        return
    for name, is_folder in rows:
        if name.startswith("."):
            continue
        if not is_folder:
            yield folder / name
        elif depth > 1:
            yield from _files(folder / name, depth - 1)
