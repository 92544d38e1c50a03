"""Text that comes in pieces, made fit for a log: no surrogate stands alone in it."""

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_HIGH = re.compile(r"[\ud800-\udbff]\Z")


class Text:
    """Text that grows; a surrogate pair that was cut in two is put together again."""

    __slots__ = ("_half", "_parts")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._half = ""

    def __bool__(self) -> bool:
        return bool(self._parts)

    def add(self, text: str) -> str:
        """What can be shown now; the first half of a pair waits for the other one."""
        if text and (self._half or _SURROGATE.search(text)):
            text = self._mend(self._half + text)
        if text:
            self._parts.append(text)
        return text

    def _mend(self, text: str) -> str:
        self._half = text[-1] if _HIGH.search(text) else ""
        return paired(text[: len(text) - len(self._half)])

    def ends_with(self, text: str) -> bool:
        return bool(self._parts) and self._parts[-1].endswith(text)

    def whole(self) -> str:
        return "".join(self._parts)


def word(value: object) -> str:
    """A short text that comes whole; null, and whatever is no text, is as good as absent."""
    return paired(value) if isinstance(value, str) else ""


def paired(text: str) -> str:
    """The text with its surrogate pairs as characters, and halves that stand alone replaced."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
