"""Comments that ask for something: `agent: do this`, in whatever way a language writes them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple
from weakref import WeakKeyDictionary

from turnbuckle.lsp.asking.syntax import CLOSING, LINES, regex_of
from turnbuckle.lsp.documents import OpenDocument

LARGE = 250_000
"""Characters of a text above which only comments that begin their line are found."""

SCANNED = 4_000_000
"""Characters of a text that are looked through at most."""

MOST = 100
"""Comments of a text that are found at most."""

ROWS = 2_000
"""Lines of one comment between two marks that are looked at."""

SAID_LIMIT = 4_000
"""Characters of a comment that are taken up at most."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_GAP = re.compile(r"(?:\r\n|\r|\n)(?P<indent>[ \t]*)")


@dataclass(frozen=True, slots=True)
class Comment:
    """Where what is asked for stands, in characters of the text, and what it is, in its lines."""

    start: int
    end: int
    said: str

    @property
    def line(self) -> str:
        """What is asked for, as one line."""
        return " ".join(self.said.split())


class _Row(NamedTuple):
    """A line of a comment: from its mark, where it has one, to its end; and what it says."""

    start: int
    end: int
    said: str


def find(text: str, language: str, word: str) -> tuple[Comment, ...]:
    """The comments that begin with the word and a colon, in order; what they say is not empty.

    `language` is named as in `didOpen`. The lines of a comment that follow belong to it, up to an
    empty one or to the next that begins so.
    """
    if not word or f"{word}:" not in text:
        return ()
    begin, found = f"{word}:", list[Comment]()
    regex = regex_of(language) if len(text) <= LARGE else LINES
    for rows in _comments(text[:SCANNED], regex, begin):
        found += _asking(rows, begin)
        if len(found) >= MOST:
            break
    return tuple(found[:MOST])


def _asking(rows: Iterable[_Row], begin: str) -> Iterator[Comment]:
    taken: list[_Row] = []
    for row in (*rows, _Row(0, 0, "")):
        begins = row.said == begin or row.said.startswith((f"{begin} ", f"{begin}\t"))
        if begins or not row.said:
            said = "\n".join(one.said for one in taken)[len(begin) :].strip()
            if said:
                yield Comment(taken[0].start, taken[-1].end, said[:SAID_LIMIT])
            taken = [row] if begins else []
        elif taken:
            taken.append(row)


def _comments(text: str, regex: re.Pattern[str], begin: str) -> Iterator[list[_Row]]:
    """The rows of comments in which `begin` stands; what single lines go on with belongs to them.

    Most of a text has nothing to do with it, and costs no more than being passed.
    """
    rows: list[_Row] = []
    wanted = text.find(begin)
    for kind, start, end in _marked(text, regex):
        if rows and not (kind == "line" and _goes_on(text, rows[-1], start)):
            yield rows
            rows = []
        if 0 <= wanted < start:
            wanted = text.find(begin, start)
        if rows or (kind == "line" and start <= wanted < end):
            rows.append(_Row(start, end, _bare(text[start:end])))
        elif wanted < 0:
            break
        elif kind == "block" and wanted < end:
            yield list(islice(_block(text, start, end), ROWS))
    yield rows


def _marked(text: str, regex: re.Pattern[str]) -> Iterator[tuple[str | None, int, int]]:
    """Strings, without a kind, and comments, in order: their kinds, and where they are."""
    for found in regex.finditer(text):
        kind = found.lastgroup
        yield kind, *found.span(kind or 0)


def _goes_on(text: str, above: _Row, start: int) -> bool:
    """Whether a comment stands right under another, begins where that does, and looks like it."""
    gap = _GAP.fullmatch(text, above.end, start)
    if gap is None or text[start] != text[above.start]:
        return False
    line = max(text.rfind("\n", 0, above.start), text.rfind("\r", 0, above.start)) + 1
    return len(gap["indent"]) == above.start - line


def _block(text: str, start: int, end: int) -> Iterator[_Row]:
    """The lines of a comment between two marks."""
    at = start
    for line_end in (*_LINE_END.finditer(text, start, end), None):
        until = end if line_end is None else line_end.start()
        said = text[at:until]
        if line_end is None:
            said = said.rstrip()
            said = next((said.removesuffix(mark) for mark in CLOSING if said.endswith(mark)), said)
        yield _Row(at + len(said) - len(said.lstrip()), until, _bare(said))
        at = until if line_end is None else line_end.end()


_MARKS = re.compile(
    r"""[ \t]*(?:<!--+|/\*+|\(\*+|\{-|--\[\[|<\#|\#=|//+|\#+|--+|;+|%+|\*+|[!{"'])?[!|:<]?[ \t]*"""
)


def _bare(line: str) -> str:
    """A line of a comment without the marks before it."""
    return _MARKS.sub("", line, count=1).rstrip()


class Comments:
    """The comments of open documents, found once for each of their states; `word` may be empty."""

    def __init__(self, word: str) -> None:
        self.word = word
        self._found: WeakKeyDictionary[OpenDocument, tuple[int, tuple[Comment, ...]]] = (
            WeakKeyDictionary()
        )

    def of(self, document: OpenDocument) -> tuple[Comment, ...]:
        """What a document asks for now."""
        known = self._found.get(document)
        if known is None or known[0] != document.revision:
            found = find(document.text, document.language, self.word)
            known = self._found[document] = (document.revision, found)
        return known[1]
