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
    """The pattern as an expression that never tries again what it has found once.

    The first place where what stands between two stars fits is as good as any later one.
    """
    first, *others = _groups(pattern.split("/"))
    expression = _path(first) + "/" * bool(first and others)
    for group in others[:-1]:
        expression += f"(?>(?:.*?/)??{_path(group)}/)"
    if others:
        expression += f"(?:.*/)?{_path(others[-1])}" if others[-1] else ".+"
    return f"(?:{expression})"


def _groups(parts: list[str]) -> list[list[str]]:
    """What stands between the parts that mean any number of folders."""
    groups: list[list[str]] = [[]]
    for part in parts:
        if part != "**":
            groups[-1].append(part)
        elif len(groups) == 1 or groups[-1]:
            groups.append([])
    return groups


def _path(parts: list[str]) -> str:
    return "/".join(map(_segment, parts))


def _segment(part: str) -> str:
    first, *others = _pieces(part)
    if not others:
        return first
    middle = "".join(f"(?>[^/]*?{piece})" for piece in others[:-1] if piece)
    return f"{first}{middle}[^/]*{others[-1]}"


def _pieces(part: str) -> list[str]:
    """What stands between the stars of a part of a path, as expressions."""
    found, at = [""], 0
    while at < len(part):
        character = part[at]
        if character == "[" and (match := _CLASS.match(part, at)) and match[2]:
            inner = match[2].replace("\\", r"\\").replace("]", r"\]").replace("[", r"\[")
            found[-1] += f"(?!/)[{'^' if match[1] else ''}{inner}]"
            at = match.end()
            continue
        if character == "*":
            found.append("")
        else:
            found[-1] += "[^/]" if character == "?" else re.escape(character)
        at += 1
    return found
