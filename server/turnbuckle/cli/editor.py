"""Keys to lines: as much line editing as a question needs."""

import re
import unicodedata
from enum import Enum

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^\[O])?", re.DOTALL)
_LAST_WORD = re.compile(r"\S*\s*\Z")


class Closed(Enum):
    """The end of input: Ctrl-D on an empty line."""

    CLOSED = "closed"


class Editor:
    """Gathers keys; `text` is the line so far. Keys after a line's end wait for the next line."""

    def __init__(self) -> None:
        self.text = ""
        self._keys = ""

    def feed(self, keys: str) -> None:
        """Take keys as a terminal sends them."""
        self._keys += keys

    def forget(self) -> None:
        """Drop everything that was typed."""
        self.text = self._keys = ""

    def take(self) -> str | Closed | None:
        """The next whole line, the end of input, or None while the line goes on."""
        while self._keys:
            if escape := _ESCAPE.match(self._keys):
                self._keys = self._keys[escape.end() :]
                continue
            key, self._keys = self._keys[0], self._keys[1:]
            if key in "\r\n":
                line, self.text = self.text, ""
                return line
            if key == "\x04" and not self.text:
                return Closed.CLOSED
            self._edit(key)
        return None

    def _edit(self, key: str) -> None:
        match key:
            case "\x7f" | "\b":
                while self.text and unicodedata.combining(self.text[-1]):
                    self.text = self.text[:-1]
                self.text = self.text[:-1]
            case "\x15":
                self.text = ""
            case "\x17":
                self.text = _LAST_WORD.sub("", self.text, count=1)
            case "\t":
                self.text += " "
            case _ if unicodedata.category(key) != "Cc":
                self.text += key
            case _:
                pass
