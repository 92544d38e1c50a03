"""The rules of ignore files, which strangers wrote: none of them takes long, whatever it says."""

import re
from collections.abc import Iterable
from itertools import islice

from pathspec import GitIgnoreSpec

MOST, LONGEST = 5_000, 1_000
"""How many rules of one file count, and the characters of each; what is more is passed over."""

_STAR = r"\[\^/\]\*"
_ONE = rf"(?:(?!{_STAR})(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/()\\]))"
_STARRED = re.compile(rf"{_STAR}({_ONE}*)(?={_STAR})")

_ANY = r"\(\?:/\.\+\)\?"
_FIRST = re.compile(rf"\^\(\?:\.\+/\)\?((?:(?!{_ANY}).)*)(?={_ANY})")
_NEXT = re.compile(rf"{_ANY}((?:(?!{_ANY}).)*)(?={_ANY})")


def spec_of(lines: Iterable[str]) -> GitIgnoreSpec:
    """The rules in these lines.

    Raises:
        ValueError: one is no pattern.
    """
    short = (line for line in lines if line.strip() and len(line) <= LONGEST)
    spec = GitIgnoreSpec.from_lines(islice(short, MOST))
    for pattern in spec.patterns:
        if pattern.regex is not None:
            pattern.regex = re.compile(steady(pattern.regex.pattern))
    return spec


def steady(expression: str) -> str:
    """A pattern as pathspec writes it, that never tries again what it has found once.

    The first place where a part of a rule fits is as good as any later one, as what follows may
    begin anywhere behind it.
    """
    found = _STARRED.sub(r"(?>[^/]*?\1)", expression)
    found = _FIRST.sub(r"^(?>(?:.+?/)??\1(?=/))", found)
    return _NEXT.sub(r"(?>(?:/.+?)??\1(?=/))", found)
