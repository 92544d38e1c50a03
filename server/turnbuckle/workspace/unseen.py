"""Characters that nobody sees but a model reads: hidden words go, what reorders is written out."""

import json
import re
from dataclasses import dataclass

_TAGS = re.compile(
    "(?P<flag>\U0001f3f4[\U000e0061-\U000e007a]{2,6}\U000e007f)|[\U000e0000-\U000e007f]+"
)
"""Letters that stand for ASCII and are never shown; but a flag is made of them."""

_ODD = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0100-\U000e01ef]"
)
"""Characters without width, and those that change the order or the look of others."""

_JOINING = frozenset("\u200c\u200d\u200e\u200f\u061c\ufe0e\ufe0f")
"""What belongs into words of many scripts and into emoji; beside ASCII it has no use."""

_SELECTORS = frozenset("\ufe0e\ufe0f")

_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What breaks a line or turns the writing round."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A text in which everything can be seen; `removed` and `marked` count characters."""

    text: str
    removed: int = 0
    marked: int = 0

    @property
    def count(self) -> int:
        """How many characters could not be seen."""
        return self.removed + self.marked


def seen(text: str) -> Seen:
    """The text without hidden words, and with everything else that is invisible as `<U+200B>`.

    Joiners between characters of scripts that use them, and in emoji, stay. A text in which all
    can be seen comes back as the same string. The forms are those of Unicode's tag characters,
    default ignorable characters and bidirectional controls.
    """
    if text.isascii():
        return Seen(text)
    removed = marked = 0

    def without(found: re.Match[str]) -> str:
        nonlocal removed
        if found["flag"]:
            return found["flag"]
        removed += len(found[0])
        return ""

    def shown(found: re.Match[str]) -> str:
        nonlocal marked
        if found[0] in _JOINING and _joins(rest, found.start()):
            return found[0]
        marked += 1
        return f"<U+{ord(found[0]):04X}>"

    rest = _TAGS.sub(without, text)
    return (
        Seen(_ODD.sub(shown, rest), removed, marked) if _ODD.search(rest) else Seen(rest, removed)
    )


def named(name: str) -> str:
    """A name on one line: as it is, or as JSON spells it where it could pass for more than a name.

    That is where it breaks a line or turns the writing round, or begins with a quote itself.
    """
    if not (name.startswith('"') or _STEERING.search(name)):
        return name
    quoted = json.dumps(name, ensure_ascii=False)
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _joins(text: str, at: int) -> bool:
    """Whether what stands at a place stands after, and if anything follows before, no ASCII.

    It joins characters that are seen: of several in a row, bits could be made that nobody sees.
    """
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if not before or (_ODD.match(before) and before not in _SELECTORS):
        return False
    if text[at] in _SELECTORS:  # they say how the one before looks, also of a digit's key
        return before in "0123456789#*" if before.isascii() else before not in _SELECTORS
    if before in _SELECTORS:  # of an emoji that says how it looks, and is joined to another
        return text[at] == "\u200d" and not after.isascii() and not _ODD.match(after)
    return not before.isascii() and not (after.isalnum() and after.isascii())
