"""Whether a JSON text that grows is whole, in time that grows with its length alone."""

import re

_MARK = re.compile(r'\\.?|["{}\[\]]', re.DOTALL)


class Closing:
    """Follows a JSON text: `whole` says that its outermost value has ended, and nothing came after.

    Only strings and brackets are looked at, each character once; a text that is whole may still be
    wrong, and then nothing that is added makes it right.
    """

    __slots__ = ("_depth", "_ended", "_escaped", "_quoted", "whole")

    def __init__(self) -> None:
        self._depth = 0
        self._ended = False
        self._escaped = False
        self._quoted = False
        self.whole = False

    def add(self, text: str) -> None:
        """Take what the text goes on with."""
        if self._ended:
            self.whole = self.whole and not text.strip()
            return
        if not text:
            return
        start, self._escaped = int(self._escaped), False
        for mark in _MARK.finditer(text, start):
            if self._ends(mark[0]):
                self._ended = True
                self.whole = not text[mark.end() :].strip()
                return

    def _ends(self, mark: str) -> bool:
        """Whether this quote, bracket or backslash ends the outermost value."""
        if self._quoted:
            self._quoted = mark != '"'
            self._escaped = mark == "\\"  # what it stands before comes with the next piece
            return False
        match mark[-1]:  # outside of a string a backslash means nothing
            case '"':
                self._quoted = True
            case "{" | "[":
                self._depth += 1
            case "}" | "]":
                self._depth -= 1
                return self._depth <= 0
            case _:
                pass
        return False
