"""Text that others wrote, made fit for a terminal: nothing in it can steer or deceive."""

import re
import unicodedata
from collections.abc import Callable

_PLAIN = re.compile(r"[\n\t -~]*")
_CONTROLS = ("Cc", "Cs", "Zl", "Zp")
_UNSEEN = (*_CONTROLS, "Cf", "Co", "Cn")
_REORDERING = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
_WITHOUT_INK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_SELECTORS = ((0xFE00, 0xFE0F), (0x180B, 0x180F), (0xE0100, 0xE01EF))


def harmless(text: str) -> str:
    """The text without the power to steer the terminal or to reorder what is shown.

    Line feeds and tabs stay, a carriage return before a line feed goes, and every other control
    character is written out, as `<U+001B>`.
    """
    return _written_out(text.replace("\r\n", "\n"), _steers)


def exact(text: str) -> str:
    """The text with everything written out that is invisible or looks like something else.

    Only line feeds, tabs and plain spaces stay as they are: what the person agrees to must not
    differ from what the person sees.
    """
    return _written_out(text, _hides)


def exact_name(text: str) -> str:
    """A name, with line feeds and tabs written out too."""
    return exact(text).replace("\n", "<U+000A>").replace("\t", "<U+0009>")


def one_line(text: str, most: int = 80) -> str:
    """The text on one line of at most so many characters, harmless."""
    line = harmless(" ".join(text[: 8 * most].split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _written_out(text: str, odd: Callable[[str], bool]) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return "".join(
        f"<U+{ord(char):04X}>" if char not in "\n\t" and odd(char) else char for char in text
    )


def _steers(char: str) -> bool:
    return unicodedata.category(char) in _CONTROLS or char in _REORDERING


def _hides(char: str) -> bool:
    category = unicodedata.category(char)
    return (
        category in _UNSEEN
        or (category == "Zs" and char != " ")
        or char in _WITHOUT_INK
        or any(first <= ord(char) <= last for first, last in _SELECTORS)
    )
