"""The terminal of a chat: what is said scrolls above, the prompt stays usable below."""

import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
from prompt_toolkit.application import Application
from prompt_toolkit.application.current import set_app
from prompt_toolkit.data_structures import Size
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.input import create_input
from prompt_toolkit.layout import (
    ConditionalContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.output import ColorDepth, Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from rich.console import Console, RenderableType
from rich.text import Text

from turnbuckle.cli.fields import MOST_ROWS, Fields, bindings, prompt_of
from turnbuckle.cli.history import History
from turnbuckle.cli.lines import Line
from turnbuckle.cli.paper import Sheet, text_of
from turnbuckle.cli.screen import TICK, Screen
from turnbuckle.cli.source import Typed
from turnbuckle.lsp.client import bare_errors


class Desk:
    """Drawn below the lines of a screen; what is typed waits to be fetched with `next`.

    `rows` gives what stands between the status and the prompt, `complete` what may follow a text;
    `interrupt` is told of Ctrl-C.
    """

    patient = False

    def __init__(
        self,
        screen: Screen,
        history: History,
        *,
        rows: Callable[[], list[Line]],
        complete: Callable[[str], str],
        interrupt: Callable[[], None],
    ) -> None:
        assert screen.terminal is not None
        self.fields = Fields(history.load(), history.add)
        self._screen = screen
        self._terminal = screen.terminal
        self._rows = rows
        self._told = ""
        self._over = False
        told = Window(FormattedTextControl(lambda: ANSI(self._told)), dont_extend_height=True)
        shown = ConditionalContainer(told, Condition(lambda: bool(self._told)))
        self._app: Application[None] = Application(
            layout=Layout(HSplit([shown, prompt_of(self.fields)])),
            key_bindings=bindings(self.fields, complete, interrupt),
            input=create_input(sys.stdin),
            output=_output(self._terminal),
            before_render=self._look,
            erase_when_done=True,
        )
        self._app.key_processor.before_key_press += self.fields.touched

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The time in which the prompt stands on the terminal."""
        with bare_errors():
            async with anyio.create_task_group() as group:
                group.start_soon(self._draw)
                group.start_soon(self._tick)
                self._screen.below = self
                try:
                    yield
                finally:
                    self._over = True
                    self._screen.below = None
                    if self._app.is_running and not self._app.is_done:
                        self._app.exit()
                    group.cancel_scope.cancel()

    async def _draw(self) -> None:
        """Shielded: it ends by itself, so that the terminal is as it was in any case."""
        with anyio.CancelScope(shield=True):
            try:
                await self._app.run_async(
                    pre_run=self._leave_if_over, handle_sigint=False, set_exception_handler=False
                )
            except (EOFError, OSError):  # the terminal is gone
                self.fields.close()

    def _leave_if_over(self) -> None:
        if self._over:
            self._app.exit()

    async def _tick(self) -> None:
        """Draw again while something is told with its time."""
        while True:
            await anyio.sleep(TICK)
            if self._screen.status():
                self._app.invalidate()

    async def next(self) -> Typed | None:
        """What is sent next; None when the person wants to leave."""
        return await self.fields.next()

    def put_back(self, text: str) -> None:
        """Lay a text into the prompt again, if nothing stands there."""
        self.fields.put_back(text)
        self.refresh()

    def clear(self) -> bool:
        """Take away the message that stands in the prompt; false if there is none."""
        if self.fields.empty:
            return False
        self.fields.clear()
        return True

    async def line(self, question: str, *, fresh: bool = False, given: str = "") -> str | None:
        """Ask for a line; with `fresh` only when no key has come for a moment."""
        try:
            return await self.fields.line(question, fresh=fresh, given=given, asked=self.refresh)
        finally:
            self.refresh()

    @contextmanager
    def above(self) -> Iterator[None]:
        """Lines are printed where the prompt stood, which then stands below them."""
        app = self._app
        if not app.is_running or app.is_done:
            yield
            return
        app.renderer.erase()
        with self._terminal.console:  # one write
            yield
        self._look()
        app.render_counter += 1  # else what was told before is drawn again
        with set_app(app):
            app.renderer.render(app, app.layout)

    def refresh(self) -> None:
        """Draw it again, soon."""
        self._app.invalidate()

    def _look(self, _: object = None) -> None:
        """See what is being said, what goes on and what waits, as much as there is room for."""
        rows = [_cut_off(text_of(row)) for row in self._rows()]
        console = self._terminal.console
        room = max(self._app.output.get_size().rows - len(rows) - MOST_ROWS - 4, 3)
        asked: list[RenderableType] = []
        if self.fields.question:
            asked.append(Text(self.fields.question.rstrip(), style="bold"))
        with console.capture() as captured:
            for item in [*self._screen.region(room), *rows, *asked]:
                if isinstance(item, Text):
                    console.print(item, no_wrap=item.no_wrap, overflow=item.overflow)
                else:
                    console.print(item, end="")
        self._told = captured.get().removesuffix("\n")


def _cut_off(row: Text) -> Text:
    row.no_wrap, row.overflow = True, "ellipsis"
    return row


def _output(terminal: Sheet) -> Output:
    """Plain escape codes to the terminal, and no question to it that it might not answer."""
    console = terminal.console
    file: Any = console.file  # Any: a file that is guarded, which is no TextIO by name
    if sys.platform == "win32":
        output = create_output(file)
    else:
        output = _escape_codes(console, file)
    return output


def _escape_codes(console: Console, file: Any) -> Output:  # Any: as above
    descriptor = file.fileno()

    def size() -> Size:
        columns, rows = os.get_terminal_size(descriptor)
        return Size(rows=rows or 24, columns=columns or 80)

    depth = ColorDepth.DEPTH_1_BIT if console.no_color else ColorDepth.DEPTH_8_BIT
    term = os.environ.get("TERM")
    return Vt100_Output(file, size, term=term, default_color_depth=depth, enable_cpr=False)
