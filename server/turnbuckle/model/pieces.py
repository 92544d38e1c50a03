"""Text that comes in pieces, made fit for a log: no surrogate stands alone in it."""

import re
from io import StringIO

from turnbuckle.session.codec import scrub

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
        return scrub(text[: len(text) - len(self._half)])

    def whole(self) -> str:
        return self._written.getvalue()


def word(value: object) -> str:
    """A short text that comes whole; null, and whatever is no text, is as good as absent."""
    return scrub(value) if isinstance(value, str) else ""
