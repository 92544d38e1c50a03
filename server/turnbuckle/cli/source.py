"""Where what the person says comes from: a prompt on the terminal, or the lines of a pipe."""

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from turnbuckle.cli.editor import Closed, Editor
from turnbuckle.cli.keys import Keys
from turnbuckle.cli.lines import line
from turnbuckle.cli.screen import Screen
from turnbuckle.cli.visible import exact

CHAT_PROMPT = "› "
CURSOR = "▌"


@dataclass(frozen=True, slots=True)
class Typed:
    """Something that was said; `steer` says that the turn that runs should heed it."""

    text: str
    steer: bool = False


class Asker(Protocol):
    """Somebody who can be asked for a line."""

    async def line(self, question: str, *, fresh: bool = False, given: str = "") -> str | None:
        """Ask for a line; None at the end of input.

        `fresh` has what was typed before not count as the answer; `given` stands there already.
        """
        ...


class Source(Asker, Protocol):
    """What a chat is fed by.

    `patient` sources wait for the end of a turn before they give what comes next.
    """

    patient: bool

    def running(self) -> AbstractAsyncContextManager[object]:
        """The time in which it works."""
        ...

    async def next(self) -> Typed | None:
        """What is said next; None when nothing will be."""
        ...

    def put_back(self, text: str) -> None:
        """Something could not be sent: the person may want it back."""
        ...

    def clear(self) -> bool:
        """Take away what is typed and not sent; false if there is nothing."""
        ...


class Typist:
    """Lines that are typed at a terminal, one at a time."""

    patient = True

    def __init__(self, screen: Screen, keys: Keys) -> None:
        self._screen = screen
        self._keys = keys
        self._editor = Editor()

    def running(self) -> AbstractAsyncContextManager[object]:
        """There is nothing to begin or to end."""
        return nullcontext()

    async def next(self) -> Typed | None:
        """The next line, with those that a backslash at the end goes on to."""
        return await _continued(self, CHAT_PROMPT)

    def put_back(self, text: str) -> None:
        """It still stands on the terminal."""

    def clear(self) -> bool:
        """There is nothing that is known of."""
        return False

    async def line(self, question: str, *, fresh: bool = False, given: str = "") -> str | None:
        """Ask for a line; `fresh` drops what was typed before."""
        if fresh:
            self._keys.forget()
            self._editor.forget()
        self._editor.text = given if self._screen.lively else ""
        if not self._screen.lively:
            self._screen.ask([line(question.rstrip(), "strong")])
        try:
            while (taken := self._editor.take()) is None:
                self._screen.set_prompt(
                    ((question, "strong"), (exact(self._editor.text), ""), (CURSOR, "you"))
                )
                if not (keys := await self._keys.read()):
                    return None
                self._editor.feed(keys)
        finally:
            self._screen.set_prompt(None)
        return None if isinstance(taken, Closed) else taken


class Piped:
    """The lines of a pipe or a file. Nobody can be asked."""

    patient = True

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._text = ""
        self._over = False

    def running(self) -> AbstractAsyncContextManager[object]:
        """There is nothing to begin or to end."""
        return nullcontext()

    async def next(self) -> Typed | None:
        """The next line, with those that a backslash at the end goes on to."""
        return await _continued(self, "")

    def put_back(self, text: str) -> None:
        """A pipe takes nothing back."""

    def clear(self) -> bool:
        """There is nothing that is known of."""
        return False

    async def line(self, question: str, *, fresh: bool = False, given: str = "") -> str | None:
        """The next line of a message; a question gets none."""
        if question:
            return None
        while "\n" not in self._text and not self._over:
            keys = await self._keys.read()
            self._over = not keys
            self._text += keys
        if not self._text:
            return None
        row, _, self._text = self._text.partition("\n")
        return row.removesuffix("\r")


async def _continued(asker: Asker, prompt: str) -> Typed | None:
    rows: list[str] = []
    while (row := await asker.line(prompt)) is not None:
        if not row.endswith("\\"):
            return Typed("\n".join([*rows, row]))
        rows.append(row[:-1])
    return Typed("\n".join(rows)) if rows else None
