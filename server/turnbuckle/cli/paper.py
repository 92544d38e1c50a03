"""Where lines go for good: a terminal, in colours, or a pipe, as plain text."""

import io
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, TextIO, TypeAlias, cast

from rich.console import Console, RenderableType
from rich.text import Text

from turnbuckle.cli.lines import Line, Said, Shown, Style
from turnbuckle.cli.prose import Block, Blocks, rows_of

_COLOURS: dict[Style, str] = {
    "": "",
    "dim": "dim",
    "strong": "bold",
    "good": "green",
    "bad": "red",
    "warn": "yellow",
    "add": "green",
    "remove": "red",
    "you": "cyan",
    "todo": "blue",
}


Gone: TypeAlias = Callable[[OSError], None]


def text_of(line: Line) -> Text:
    """A line for Rich; what is in it is never read as markup."""
    return Text.assemble(*((text, _COLOURS[style]) for text, style in line))


def console_on(file: TextIO) -> Console:
    """A console that has colours and a cursor exactly where the file is a terminal."""
    return Console(
        file=file,
        force_terminal=file.isatty(),
        highlight=False,
        markup=False,
        emoji=False,
    )


class Guarded:
    """A file that may lose its reader, or its room.

    Then `gone` is called, once, with the reason, and what is written from then on is lost.
    """

    def __init__(self, file: TextIO, gone: Gone) -> None:
        self._file = file
        self._gone = gone
        self._open = True

    def write(self, text: str) -> int:
        """Write, if somebody reads it."""
        self._try(lambda: self._file.write(text))
        return len(text)

    def flush(self) -> None:
        """Have everything written."""
        self._try(self._file.flush)

    def __getattr__(self, name: str) -> Any:  # Any: as the file has it
        if name == "buffer":  # nobody writes past us
            raise AttributeError(name)
        return getattr(self._file, name)

    def _try(self, work: Callable[[], object]) -> None:
        if not self._open:
            return
        try:
            work()
        except OSError as error:
            self._open = False
            # What is still buffered must not fail again when the program ends.
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._file.fileno())
            os.close(null)
            self._gone(error)


class Pipe:
    """A file or a pipe: text as it comes, nothing else."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._mid_line = False

    def show(self, shown: Iterable[Shown]) -> None:
        """Write lines, and text in the middle of a line."""
        parts: list[str] = []
        for item in shown:
            if isinstance(item, Said):
                parts.append(item.text)
                self._mid_line = not item.text.endswith("\n") if item.text else self._mid_line
            else:
                parts += ["\n"] if self._mid_line else []
                parts += [text for text, _ in item] + ["\n"]
                self._mid_line = False
        self.write("".join(parts))

    def write(self, text: str) -> None:
        """Write text as it is, at once."""
        self._file.write(text)
        self._file.flush()


class Sheet:
    """A terminal's lines. What is said is Markdown; of it, only finished blocks are printed."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._blocks = Blocks()
        self._first = True

    def rest(self, room: int) -> list[RenderableType]:
        """The last rows of the block that is still being said: below what is printed."""
        if not (text := self._blocks.open):
            return []
        gap: list[RenderableType] = [Text("")] if not (self._first or self._blocks.joined) else []
        return [*gap, *rows_of(text, self.console, self.width)][-room:]

    @property
    def width(self) -> int:
        """The columns for text; the last one stays free, so that no terminal breaks the row."""
        return max(self.console.width - 1, 1)

    def show(self, shown: Iterable[Shown]) -> None:
        """Print what is finished."""
        for item in shown:
            if isinstance(item, Said):
                self._print(self._blocks.feed(item.text))
            else:
                self.finish()
                self.console.print(text_of(item), soft_wrap=True)

    def aside(self, lines: Iterable[Line]) -> None:
        """Print lines above what is still being said, which they do not break off."""
        for item in lines:
            self.console.print(text_of(item), soft_wrap=True)

    def write(self, text: str) -> None:
        """Print text as it is."""
        self.finish()
        self.console.print(Text(text), soft_wrap=True, end="")

    def finish(self) -> None:
        """Print what is open: nothing follows on it."""
        self._print(self._blocks.finish())
        self._first = True

    def _print(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            if not self._first and not block.joined:
                self.console.print()
            self._first = False
            for row in rows_of(block.text, self.console, self.width):
                self.console.print(row, end="")


def standard_streams(gone: Gone, *, json: bool = False) -> tuple[TextIO, TextIO]:
    """Standard output and error; `gone` is called when one of them cannot be written.

    Characters that their encoding does not have are written as escapes; JSON is always UTF-8.
    """
    streams = []
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = "utf-8" if json and stream is sys.stdout else None
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
        streams.append(cast("TextIO", Guarded(stream, gone)))
    return streams[0], streams[1]
