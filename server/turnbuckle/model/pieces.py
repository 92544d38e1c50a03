"""Text that comes in pieces, made fit for a log: no surrogate stands alone in it."""

import re
from io import StringIO

_SURROGATE = re.compile("[\ud800-\udfff]")
_HIGH = re.compile(r"[\ud800-\udbff]\Z")


class Text:
    """Text that grows; a surrogate pair that was cut in two is put together again.

    It takes about as much memory as its characters, however small its pieces are.
    """

    __slots__ = ("_half", "_written", "size")

    def __init__(self) -> None:
        self._written = StringIO(newline="")  # no line end becomes another
        self._half = ""
        self.size = 0
        """How many characters there are."""

    def __bool__(self) -> bool:
        return self.size > 0

    def add(self, text: str) -> str:
        """What can be shown now; the first half of a pair waits for the other one."""
        if text and (self._half or _SURROGATE.search(text)):
            text = self._mend(self._half + text)
        if text:
            self._written.write(text)
            self.size += len(text)
        return text

    def _mend(self, text: str) -> str:
        self._half = text[-1] if _HIGH.search(text) else ""
        return paired(text[: len(text) - len(self._half)])

    def whole(self) -> str:
        return self._written.getvalue()


def word(value: object) -> str:
    """A short text that comes whole; null, and whatever is no text, is as good as absent."""
    return paired(value) if isinstance(value, str) else ""


def paired(text: str) -> str:
    """The text with its surrogate pairs as characters, and halves that stand alone replaced."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
