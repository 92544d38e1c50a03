"""Patterns for paths: `*`, `?`, `[…]`, `{a,b}` and `**`, as people write them."""

import re
from functools import reduce

_BRACES = re.compile(r"\{([^{}]*)\}")
_CLASS = re.compile(r"\[([!^]?)(\]?[^\]]*)\]")
_MOST = 64  # alternatives that one pattern may stand for


def compile_glob(pattern: str) -> re.Pattern[str]:
    """What matches a relative path with `/`; a pattern without one matches names at any depth.

    Raises:
        ValueError: it is no pattern, or stands for too many others.
    """
    pattern = pattern.removeprefix("./").lstrip("/")
    if pattern.endswith("/"):
        pattern += "**"
    if "/" not in pattern:
        pattern = "**/" + pattern
    try:
        return re.compile("|".join(map(_expression, _alternatives(pattern))), re.DOTALL)
    except re.error as error:
        raise ValueError(f"it is no pattern: {error}") from error


def _alternatives(pattern: str) -> list[str]:
    found = [pattern]
    while any(_BRACES.search(one) for one in found):
        found = reduce(list.__add__, map(_opened, found))
        if len(found) > _MOST:
            raise ValueError(f"it stands for more than {_MOST} patterns")
    return found


def _opened(pattern: str) -> list[str]:
    match = _BRACES.search(pattern)
    if match is None:
        return [pattern]
    before, after = pattern[: match.start()], pattern[match.end() :]
    return [before + choice + after for choice in match[1].split(",")]


def _expression(pattern: str) -> str:
    parts = pattern.split("/")
    last = len(parts) - 1
    expression = ""
    for index, part in enumerate(parts):
        if part == "**":
            expression += ".+" if index == last else "(?:.*/)?"
        else:
            expression += _segment(part) + ("/" if index < last else "")
    return f"(?:{expression})"


def _segment(part: str) -> str:
    found, at = "", 0
    while at < len(part):
        character = part[at]
        if character == "[" and (match := _CLASS.match(part, at)) and match[2]:
            inner = match[2].replace("\\", r"\\").replace("]", r"\]").replace("[", r"\[")
            found += f"(?!/)[{'^' if match[1] else ''}{inner}]"
            at = match.end()
            continue
        found += {"*": "[^/]*", "?": "[^/]"}.get(character) or re.escape(character)
        at += 1
    return found
