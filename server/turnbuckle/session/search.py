"""Words in what was said: all of them, in any order, whatever their case."""

import re
from collections.abc import Iterable, Iterator

import orjson

from turnbuckle.session.codec import Entry
from turnbuckle.session.events import AssistantMessage, InboxAdded, SessionTitle, UserMessage

MOST = 32
"""How many words are looked for; more would find nothing else."""

SHOWN = 200
"""How many characters of the line that was found are shown."""

_SAYING = {
    b"session/title": "title", b"inbox/added": "input",
    b"user/message": "content", b"assistant/message": "content",
}  # fmt: skip
"""The facts in which something is said, and where."""

_SAME_IN_JSON = re.compile(r"[!#-\[\]-~]+")
"""What stands in JSON as it is."""


class Words:
    """Some words that are looked for."""

    LIMIT = 32 * 1024 * 1024
    """Up to how many bytes a file is read at once."""

    def __init__(self, query: str) -> None:
        self.words = tuple(dict.fromkeys(query.lower().split()))[:MOST]
        self._pieces = {p.encode() for word in self.words for p in _SAME_IN_JSON.findall(word)}

    def may_be_in(self, raw: bytes) -> bool:
        """Whether all words could be in these lines; cheap, and never wrongly no."""
        low = raw.lower()
        return all(piece in low for piece in self._pieces)

    def said(self, line: bytes) -> Iterator[str]:
        """What the person or the model says in a stored fact; nothing for one that is damaged."""
        at = line.find(b'"type":"', 0, 80) + 8
        name = _SAYING.get(line[at : line.find(b'"', at)])
        if name is None:
            return
        try:
            data = orjson.loads(line)["data"]
            if data.get("source", "user") == "user":
                yield from _texts(data[name])
        except (ValueError, KeyError, TypeError, AttributeError):
            return

    def find(self, said: Iterable[str]) -> str | None:
        """The first line that holds most of the words, if all of them were said."""
        missing, best, most = set(self.words), "", 0
        for text in said:
            low = text.lower()
            here = [word for word in self.words if word in low]
            missing.difference_update(here)
            if len(here) > most:
                best, most = self._best(text, best, most)
            if most == len(self.words):
                break
        return None if missing else _shown(best, self.words)

    def _best(self, text: str, best: str, most: int) -> tuple[str, int]:
        """The line with most of the words, and how many; the given one unless it has fewer."""
        for line in text.splitlines():
            low = line.lower()
            if (count := sum(word in low for word in self.words)) > most:
                best, most = line, count
        return best, most


def said_in(entries: Iterable[Entry]) -> Iterator[str]:
    """What the person and the model say in facts."""
    for entry in entries:
        match entry.fact:
            case SessionTitle(title=text):
                yield text
            case InboxAdded(source="user", input=text):
                yield text
            case UserMessage(source="user", content=text):
                yield text
            case AssistantMessage(content=text):
                yield text
            case _:
                pass


def _texts(content: object) -> Iterator[str]:
    """Text as it is stored: a string, or pieces."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for piece in content:
            if isinstance(piece, dict):
                yield from _texts(piece.get("text"))


def _shown(line: str, words: tuple[str, ...]) -> str:
    """A line, or of a long one what stands around the first of the words."""
    line = line.strip()
    if len(line) <= SHOWN:
        return line
    low = line.lower()
    first = min((at for word in words if (at := low.find(word)) >= 0), default=0)
    start = max(0, min(first - SHOWN // 4, len(line) - SHOWN))
    cut = line[start : start + SHOWN]
    return f"{'…' if start else ''}{cut}{'…' if start + SHOWN < len(line) else ''}"
