"""What a report of a fault tells of a machine and its sessions."""

import platform
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib import metadata
from json import dumps
from pathlib import Path

from turnbuckle.session.events import FACTS
from turnbuckle.session.parts import JsonObject
from turnbuckle.session.reading import Unreadable, outline, records, session_files

MOST = 100
"""Of how many sessions, the latest first, the shape is told."""


def system(env: Mapping[str, str]) -> JsonObject:
    """Versions, and which of our variables are set."""
    return {
        "python": sys.version,
        "platform": platform.platform(),
        "machine": platform.machine(),
        "encodings": [sys.getfilesystemencoding(), sys.stdout.encoding],
        "packages": dict(_packages()),
        "variables": sorted(name for name in env if name.startswith("TURNBUCKLE_")),
        "terminal": env.get("TERM", ""),
    }


def shapes(state: Path) -> list[JsonObject]:
    """What can be told of sessions without telling what was said in them."""
    return [_shape(path) for path in session_files(state)[:MOST]]


def stored_text(path: Path) -> str:
    """The lines of a session, as they are stored, up to the first that is damaged."""
    found: list[str] = []
    try:
        for stored, _ in records(path):
            found.append(stored.decode("utf-8", "replace").rstrip("\n"))
    except Unreadable as error:
        found.append(dumps({"damaged": str(error)}))
    return "\n".join(found) + "\n"


def _shape(path: Path) -> JsonObject:
    counts: Counter[str] = Counter()
    shape: JsonObject = {"session": path.stem}
    try:
        for _, record in records(path):
            kind = record.get("type")
            counts[kind if kind in FACTS else "unknown"] += 1
        known = outline(path)
    except Unreadable:
        shape["damaged"] = True
    else:
        shape |= {"bytes": known.size, "turns": known.turns, "lastEnd": known.end}
    return shape | {"facts": dict(counts)}


def _packages() -> Iterator[tuple[str, str]]:
    try:
        wanted = metadata.requires("turnbuckle") or []
    except metadata.PackageNotFoundError:  # it came with an editor's extension
        wanted = []
    for one in wanted:
        if "extra ==" not in one and (name := re.match(r"[\w.-]+", one)):
            try:
                yield name[0], metadata.version(name[0])
            except metadata.PackageNotFoundError:
                yield name[0], "not there"
