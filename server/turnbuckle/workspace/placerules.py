"""Rules for places: folders, files and patterns that the person always allows."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from turnbuckle.workspace.globs import compile_glob
from turnbuckle.workspace.paths import lies_in

_GLOB = re.compile(r"[*?\[{]")


@dataclass(frozen=True, slots=True)
class PlaceRule:
    """A folder with all that is in it, a file, or a pattern; `base` is what of it is no pattern.

    A relative one begins at each folder of the workspace.
    """

    text: str
    base: Path
    pattern: re.Pattern[str] | None

    def matches(self, path: Path, folders: Sequence[Path]) -> bool:
        """Whether the rule means a path, which has no links in it."""
        starts = [self.base] if self.base.is_absolute() else [f / self.base for f in folders]
        return any(self._matches(path, Path(os.path.realpath(start))) for start in starts)

    def _matches(self, path: Path, base: Path) -> bool:
        if self.pattern is None:
            return lies_in(path, base)
        if not path.is_relative_to(base):
            return False
        return self.pattern.fullmatch(path.relative_to(base).as_posix()) is not None


def place_rule(text: str) -> PlaceRule:
    """Read a rule: `src`, `docs/**`, `*.md`, `~/notes`, `/usr/include`.

    A pattern without a slash means names at any depth.

    Raises:
        ValueError: it names no place, or is no pattern.
    """
    if not text.strip() or "\0" in text:
        raise ValueError("it names no place")
    try:
        parts = Path(text).expanduser().parts
    except RuntimeError as error:
        raise ValueError(f"{text} cannot be found: {error}") from error
    if ".." in parts:
        raise ValueError("it must not lead upwards")
    fixed = next((n for n, part in enumerate(parts) if _GLOB.search(part)), len(parts))
    rest = "/".join(parts[fixed:])
    if rest and text.endswith("/"):
        rest += "/"
    return PlaceRule(text, Path(*parts[:fixed]), _compiled(rest, alone=not fixed) if rest else None)


def _compiled(rest: str, *, alone: bool) -> re.Pattern[str]:
    pattern = compile_glob(rest)
    if alone or "/" in rest or rest == "**":
        return pattern
    # Below a folder that is named, a single name is one right in it.
    return re.compile(f"(?!.*/)(?:{pattern.pattern})", re.DOTALL)
