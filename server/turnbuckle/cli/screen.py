"""The terminal while something goes on: lines above, and below them what happens now."""

from collections.abc import Callable, Iterable
from typing import TextIO

import anyio
from rich.console import Group
from rich.live import Live
from rich.text import Text

from turnbuckle.cli.lines import Line, Shown
from turnbuckle.cli.paper import Pipe, Sheet, console_on, text_of

TICK = 0.1
"""Seconds between two looks at the clock."""

Status = Callable[[], list[Line]]


class Screen:
    """Standard output, and the terminal that the person looks at, if there is one.

    Where standard output is no terminal but standard error is one, what happens now and questions
    are shown there. `prompt` is the question that is open, with what is typed so far.
    """

    def __init__(self, out: TextIO, err: TextIO, status: Status) -> None:
        self._status = status
        self.prompt: Line | None = None
        terminal = next((stream for stream in (out, err) if stream.isatty()), None)
        self.terminal = Sheet(console_on(terminal)) if terminal is not None else None
        self.paper: Sheet | Pipe = self.terminal if self.terminal and terminal is out else Pipe(out)
        self._errors: Sheet | Pipe = self.terminal or Pipe(err)
        self._live: Live | None = None
        if self.terminal and not self.terminal.console.is_dumb_terminal:
            self._live = Live(
                console=self.terminal.console,
                get_renderable=self._region,
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )

    @property
    def lively(self) -> bool:
        """Whether lines can be drawn again."""
        return self._live is not None

    def show(self, shown: Iterable[Shown]) -> None:
        """Print on standard output."""
        self._print(self.paper, list(shown))

    def ask(self, shown: Iterable[Shown]) -> None:
        """Print what belongs to a question, where the person sees it."""
        self._print(self.terminal or self.paper, list(shown))

    def complain(self, shown: Iterable[Shown]) -> None:
        """Print what went wrong: where the person looks, else on standard error."""
        self._print(self._errors, list(shown))

    def write(self, text: str) -> None:
        """Print text on standard output as it is."""
        if self._live is None or self.paper is not self.terminal:
            self.paper.write(text)
            return
        with self.terminal.console:
            self.paper.write(text)
            self._live.refresh()

    def _print(self, paper: Sheet | Pipe, shown: list[Shown]) -> None:
        if not shown:
            return
        if self._live is None or not isinstance(paper, Sheet):
            paper.show(shown)
            return
        with paper.console:  # one write, so that nothing flickers
            paper.show(shown)
            self._live.refresh()

    def set_prompt(self, prompt: Line | None) -> None:
        """Change the open question."""
        self.prompt = prompt
        if self._live:
            self._live.refresh()

    async def run(self) -> None:
        """Keep the time that is shown right, until cancelled."""
        if self._live is None:
            return
        with self._live:
            try:
                while True:
                    await anyio.sleep(TICK)
                    self._live.refresh()
            finally:
                self._finish()

    def _finish(self) -> None:
        """Leave nothing on the terminal but what was printed, whole."""
        self._status = list
        self.prompt = None
        if self.terminal:
            self.terminal.finish()

    def _region(self) -> Group:
        rest = self.terminal.rest if self.terminal else ""
        rows = [Text(rest)] if rest else []
        for line in self._status():
            row = text_of(line)
            row.no_wrap, row.overflow = True, "ellipsis"
            rows.append(row)
        return Group(*rows, *([text_of(self.prompt)] if self.prompt else []))
