"""Read the head of a skill: `name: value` lines between two lines of `---`."""

import re

_LINE = re.compile(r"([A-Za-z][\w-]*)\s*:(?:\s+(.*))?$")
_BLOCK = re.compile(r"[|>][+-]?\d?[+-]?\s*(?:#.*)?$")
_QUOTED = re.compile(r"""(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')\s*(?:#.*)?$""")
_ESCAPE = re.compile(r"\\(.)")

LINES = 200
"""The most lines of a head."""


class BadHead(ValueError):
    """The head cannot be read; the message says why."""


def head_of(text: str) -> dict[str, str]:
    """The values of a head that are text, by name; other values are skipped.

    Line breaks in a value become spaces.

    Raises:
        BadHead: there is no head, it does not end, or a line of it is neither a value nor part of
            one.
    """
    lines = text.splitlines()[: LINES + 1]
    if not lines or lines[0].strip() != "---":
        raise BadHead("it does not begin with a line of ---")
    values: dict[str, list[str]] = {}
    name = ""
    for number, line in enumerate(lines[1:], 2):
        if line.strip() in ("---", "..."):
            return {key: " ".join(parts).strip() for key, parts in values.items()}
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line[0] in " \t-" and name:
            values[name].append(line.strip())
        elif match := _LINE.match(line):
            name = match[1]
            values[name] = [_value(match[2] or "", name)]
        else:
            raise BadHead(f"line {number} is not `name: value`")
    raise BadHead("its head does not end with a line of ---")


def _value(text: str, name: str) -> str:
    text = text.strip()
    if _BLOCK.match(text):
        return ""  # the lines that follow are the value
    if text[:1] in ("'", '"'):
        if (match := _QUOTED.match(text)) is None:
            raise BadHead(f"the quotes of {name} do not close on its line")
        if match[1] is not None:
            return _ESCAPE.sub(r"\1", match[1])
        return match[2].replace("''", "'")
    return re.split(r"\s#", text, maxsplit=1)[0].strip()
