"""What is printed: lines of styled pieces, and text that goes on where it ended."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Style: TypeAlias = Literal[
    "", "dim", "strong", "good", "bad", "warn", "add", "remove", "you", "todo"
]
Span: TypeAlias = tuple[str, Style]
Line: TypeAlias = tuple[Span, ...]
"""One line, without its end."""


@dataclass(frozen=True, slots=True)
class Said:
    """Text that is appended to what was said last; it may end in the middle of a line."""

    text: str


Shown: TypeAlias = Line | Said


def line(text: str, style: Style = "") -> Line:
    """A line of one style."""
    return ((text, style),)


def plain(shown: Iterable[Line]) -> str:
    """Lines as plain text."""
    return "".join("".join(text for text, _ in one) + "\n" for one in shown)


def seconds(duration: float) -> str:
    """A duration as people read it: `0.4 s`, `12 s`, `3 min 05 s`."""
    if duration < 10:
        return f"{max(duration, 0.0):.1f} s"
    if duration < 60:
        return f"{int(duration)} s"
    minutes, rest = divmod(int(duration), 60)
    return f"{minutes} min {rest:02} s"


def counted(number: int, noun: str) -> str:
    """`1 step`, `1,200 steps`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
