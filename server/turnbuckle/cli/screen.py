"""The terminal while something goes on: lines above, and below them what happens now."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol, TextIO

import anyio
from rich.console import Group, RenderableType
from rich.live import Live

from turnbuckle.cli.lines import Line, Shown
from turnbuckle.cli.paper import Pipe, Sheet, console_on, text_of

TICK = 0.1
"""Seconds between two looks at the clock."""

Status = Callable[[], list[Line]]


class Below(Protocol):
    """What is drawn below the lines, again and again."""

    def above(self) -> AbstractContextManager[None]:
        """A time in which lines are printed; then it is drawn again."""
        ...

    def refresh(self) -> None:
        """Draw it again, soon."""
        ...


class Screen:
    """Standard output, and the terminal that the person looks at, if there is one.

    Where standard output is no terminal but standard error is one, what happens now and questions
    are shown there. `prompt` is the question that is open, with what is typed so far. `still` says
    that nothing is drawn below the lines until something is laid there, as `below`. `status` tells
    what goes on with its time.
    """

    def __init__(self, out: TextIO, err: TextIO, status: Status, *, still: bool = False) -> None:
        self.status = status
        self.prompt: Line | None = None
        terminal = next((stream for stream in (out, err) if stream.isatty()), None)
        self.terminal = Sheet(console_on(terminal)) if terminal is not None else None
        self.paper: Sheet | Pipe = self.terminal if self.terminal and terminal is out else Pipe(out)
        self._errors: Sheet | Pipe = self.terminal or Pipe(err)
        self.capable = bool(self.terminal and not self.terminal.console.is_dumb_terminal)
        self.below: Below | None = None
        if self.capable and not still:
            self.below = _Lively(self)

    @property
    def lively(self) -> bool:
        """Whether lines are drawn again."""
        return self.below is not None

    def show(self, shown: Iterable[Shown]) -> None:
        """Print on standard output."""
        _print(self.below, self.paper, list(shown))

    def ask(self, shown: Iterable[Shown]) -> None:
        """Print what belongs to a question, where the person sees it."""
        _print(self.below, self.terminal or self.paper, list(shown))

    def aside(self, shown: Iterable[Line]) -> None:
        """Print what does not belong to the session, without breaking off what is being said."""
        if self.terminal is None or self.below is None:
            self.ask(shown)
            return
        with self.below.above():
            self.terminal.aside(shown)

    def settle(self) -> None:
        """What was being said is over: have it printed for good."""
        if self.below is not None and self.terminal:
            with self.below.above():
                self.terminal.finish()

    def complain(self, shown: Iterable[Shown]) -> None:
        """Print what went wrong: where the person looks, else on standard error."""
        _print(self.below, self._errors, list(shown))

    def write(self, text: str) -> None:
        """Print text on standard output as it is."""
        with _room(self.below, self.paper):
            self.paper.write(text)

    def set_prompt(self, prompt: Line | None) -> None:
        """Change the open question."""
        self.prompt = prompt
        if self.below:
            self.below.refresh()

    async def run(self) -> None:
        """Keep the time that is shown right, until cancelled."""
        if not isinstance(self.below, _Lively):
            return
        with self.below.live:
            try:
                while True:
                    await anyio.sleep(TICK)
                    self.below.refresh()
            finally:
                self.finish()

    def finish(self) -> None:
        """Leave nothing on the terminal but what was printed, whole."""
        self.status = list
        self.prompt = None
        if self.terminal:
            self.terminal.finish()

    def region(self, room: int | None = None) -> list[RenderableType]:
        """What is to be drawn below the lines: of what is being said at most `room` rows."""
        rows: list[RenderableType] = []
        if self.terminal:
            most = room if room is not None else max(self.terminal.console.height // 2, 1)
            rows += self.terminal.rest(most)
        for line in self.status():
            row = text_of(line)
            row.no_wrap, row.overflow = True, "ellipsis"
            rows.append(row)
        return rows


def _room(below: Below | None, paper: Sheet | Pipe) -> AbstractContextManager[None]:
    """Room for lines above what is drawn below them, if anything is."""
    return below.above() if below is not None and isinstance(paper, Sheet) else nullcontext()


def _print(below: Below | None, paper: Sheet | Pipe, shown: list[Shown]) -> None:
    if shown:
        with _room(below, paper):
            paper.show(shown)


class _Lively:
    """The status, and the question with what is typed so far."""

    def __init__(self, screen: Screen) -> None:
        assert screen.terminal is not None
        self._screen = screen
        self._console = screen.terminal.console
        self.live = Live(
            console=self._console,
            get_renderable=self._region,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    @contextmanager
    def above(self) -> Iterator[None]:
        """One write, so that nothing flickers."""
        with self._console:
            yield
            self.live.refresh()

    def refresh(self) -> None:
        """Draw it now."""
        self.live.refresh()

    def _region(self) -> Group:
        prompt = self._screen.prompt
        return Group(*self._screen.region(), *([text_of(prompt)] if prompt else []))
