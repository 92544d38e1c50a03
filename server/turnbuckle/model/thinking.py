"""Thoughts that a model says in its text, between tags, told apart from what it answers."""

from typing import Literal

OPEN, CLOSE = "<think>", "</think>"

_BLANK_LIMIT = 64  # characters of white space before the tag; a text that begins with more has none


class Thinking:
    """Splits a text that comes in pieces; only what it begins with can be thoughts.

    A tag may be cut anywhere, so what may still become one waits. White space around the tags
    belongs to neither side.
    """

    def __init__(self) -> None:
        self._place: Literal["before", "within", "after", "text"] = "before"
        self._held = ""
        self._thought = False

    def feed(self, text: str) -> tuple[str, str]:
        """The thoughts and the text that this piece completes."""
        if self._place == "text" or not text:
            return "", text
        thought, rest = "", self._held + text
        self._held = ""
        if self._place == "before":
            rest = self._open(rest)
        if self._place == "within":
            thought, rest = self._close(rest)
        if self._place == "after":
            rest = rest.lstrip()
            self._place = "text" if rest else "after"
        return thought, rest

    def end(self) -> tuple[str, str]:
        """What waited for more, when nothing more comes."""
        held, self._held = self._held, ""
        return (held, "") if self._place == "within" else ("", held)

    def _open(self, rest: str) -> str:
        begins = rest.lstrip()
        if begins.startswith(OPEN):
            self._place = "within"
            return begins.removeprefix(OPEN)
        if OPEN.startswith(begins) and len(rest) <= _BLANK_LIMIT:
            self._held = rest
            return ""
        self._place = "text"
        return rest

    def _close(self, rest: str) -> tuple[str, str]:
        if not self._thought:
            rest = rest.lstrip()
            self._thought = bool(rest)
        thought, found, text = rest.partition(CLOSE)
        if found:
            self._place = "after"
            return thought, text
        cut = next(n for n in range(len(CLOSE) - 1, -1, -1) if rest.endswith(CLOSE[:n]))
        self._held = rest[len(rest) - cut :]
        return rest[: len(rest) - cut], ""
