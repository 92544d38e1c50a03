"""Markdown while it is written: blocks that are finished, and the one that is still open."""

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.segment import Segment, Segments
from rich.syntax import Syntax
from rich.text import Text

LONGEST = 2_000
"""Characters after which a block is cut though it goes on, so that drawing it again stays cheap."""

MOST_ROWS = 30
"""Lines of code after which they are printed though the code goes on."""

_FENCE = re.compile(r"(\s*)(`{3,}|~{3,})(.*)")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?: |$)")
_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])


@dataclass(frozen=True, slots=True)
class Block:
    """Markdown that changes no more; `joined` says that it goes on with what stands above it."""

    text: str
    joined: bool = False


class Blocks:
    """Cuts text into blocks; put together again, they are the text but for the ends of lines."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._partial = ""
        self._fence: tuple[str, str] | None = None  # the line that opened it, and its mark
        self.joined = False  # whether what is open goes on with the block before

    @property
    def open(self) -> str:
        """The block that is being written, as it would be if it ended here."""
        return "\n".join([*self._lines, self._partial]).rstrip("\n")

    def feed(self, text: str) -> Iterator[Block]:
        """Take more text, and give the blocks that are finished by it."""
        *whole, partial = (self._partial + text).split("\n")
        for row in whole:
            yield from self._row((yield from self._long(row)))
        self._partial = yield from self._long(partial)

    def finish(self) -> Iterator[Block]:
        """Give what is open: nothing follows."""
        if self._partial:
            yield from self._row(self._partial)
            self._partial = ""
        self._fence = None
        yield from self._cut(joined=False)

    def _long(self, row: str) -> Generator[Block, None, str]:
        """Cut a line that is too long between its words; what is left of it is returned."""
        while self._fence is None and len(row) > LONGEST:
            head = row[:LONGEST].rpartition(" ")[0] or row[:LONGEST]
            self._lines.append(head)
            row = row[len(head) :].removeprefix(" ")
            yield from self._cut(joined=True)
        return row

    def _row(self, row: str) -> Iterator[Block]:
        if self._fence is not None:
            yield from self._code(*self._fence, row)
            return
        listed = bool(self._lines and _ITEM.match(self._lines[0]))
        goes_on = not row.strip() or row[0].isspace() or _ITEM.match(row)
        if self._lines and not self._lines[-1] and not goes_on:
            yield from self._cut(joined=False)  # a list, and what follows belongs to it no more
            listed = False
        if not row.strip():
            if listed:
                self._lines.append("")
            else:
                yield from self._cut(joined=False)
            return
        if fence := _FENCE.fullmatch(row):
            if not listed:
                yield from self._cut(joined=False)
            self._fence = (row, fence[2])
        self._lines.append(row)
        if self._fence is None and sum(map(len, self._lines)) > LONGEST:
            yield from self._cut(joined=True)

    def _code(self, opening: str, mark: str, row: str) -> Iterator[Block]:
        self._lines.append(row)
        if row.strip().startswith(mark) and not row.strip().strip(mark[0]):
            self._fence = None
            if self._lines[0] == opening:
                yield from self._cut(joined=False)
        elif len(self._lines) > MOST_ROWS:
            self._lines.append(mark)
            yield from self._cut(joined=True)
            self._lines.append(opening)

    def _cut(self, *, joined: bool) -> Iterator[Block]:
        """What there is becomes a block; `joined` is said of the next one."""
        text = "\n".join(self._lines).rstrip("\n")
        self._lines = []
        if text:
            yield Block(text, self.joined)
            self.joined = joined


class _Code(CodeBlock):
    """Code in the terminal's own colours, on its own ground, a little to the right."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = Syntax(
            str(self.text).rstrip("\n"),
            self.lexer_name,
            theme="ansi_dark",
            background_color="default",
            word_wrap=True,
        )
        yield Padding(code, (0, 0, 0, 2))


class _Heading(Heading):
    """A heading at the left, without a frame."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        heading = Text("", style="bold underline" if self.tag == "h1" else "bold")
        heading.append_text(self.text)
        yield heading


class _Prose(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "fence": _Code,
        "code_block": _Code,
        "heading_open": _Heading,
    }


def prose(text: str) -> Markdown:
    """Markdown for Rich; tags are text, lines stay lines, where a link goes stands beside it."""
    made = _Prose("", hyperlinks=False)
    made.markup, made.parsed = text, _PARSER.parse(text)
    for token in made.parsed:
        for child in token.children or ():
            if child.type == "softbreak":
                child.type = "hardbreak"
    return made


def rows_of(text: str, console: Console, width: int) -> list[Segments]:
    """Markdown as the rows of a terminal, without empty ones at its ends."""
    options = console.options.update(width=max(width, 1), height=None)
    rows = [_trimmed(row) for row in console.render_lines(prose(text), options, pad=False)]
    while rows and not rows[0]:
        del rows[0]
    while rows and not rows[-1]:
        del rows[-1]
    return [Segments([*row, Segment.line()]) for row in rows]


def _trimmed(row: list[Segment]) -> list[Segment]:
    """A row without the spaces that fill it up."""
    row = list(row)
    while row and not row[-1].text.strip(" "):
        row.pop()
    if row:
        text, style, control = row[-1]
        row[-1] = Segment(text.rstrip(" "), style, control)
    return row
