"""Who answers what the agent may do: the person at the terminal, or nobody."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from turnbuckle.cli.editor import Closed, Editor
from turnbuckle.cli.keys import Keys
from turnbuckle.cli.lines import line
from turnbuckle.cli.screen import Screen
from turnbuckle.cli.subjects import shown_whole
from turnbuckle.cli.visible import exact
from turnbuckle.session.events import ApprovalAsked

QUESTION = "Allow once? [y]es / [n]o / [r]eject with a note "
PARTLY_SHOWN = "Not all of it could be shown. Allow it all the same? [yes] / [n]o / [r]eject "
CURSOR = "▌"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to an approval.

    `asked` says that a person gave it; where nobody did, `why` says so to whoever reads along.
    """

    allow: bool
    note: str | None = None
    asked: bool = True
    why: str | None = None


Decide: TypeAlias = Callable[[ApprovalAsked], Awaitable[Answer]]


class Person:
    """Whoever sits at the terminal."""

    def __init__(self, screen: Screen, keys: Keys) -> None:
        self._screen = screen
        self._keys = keys
        self._editor = Editor()

    async def line(self, question: str, *, fresh: bool = False) -> str | None:
        """Ask for a line; None at the end of input. `fresh` drops what was typed before."""
        if fresh:
            self._keys.forget()
            self._editor.forget()
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

    async def decide(self, asked: ApprovalAsked) -> Answer:
        """Ask whether to allow what was shown; anything but a clear yes is a no or asked again."""
        whole = shown_whole(asked.subject)
        question = QUESTION if whole else PARTLY_SHOWN
        reply = await self.line(question, fresh=True)
        while True:
            match ("n" if reply is None else reply).strip().lower():
                case "yes":
                    return Answer(allow=True)
                case "y" if whole:
                    return Answer(allow=True)
                case "n" | "no":
                    return Answer(allow=False)
                case "r" | "reject":
                    note = await self.line("Note for the agent: ")
                    return Answer(allow=False, note=(note or "").strip() or None)
                case _:
                    yes = "y" if whole else "yes"
                    self._screen.ask([line(f"  please type {yes}, n or r, then Enter", "dim")])
                    reply = await self.line(question)


async def deny(_: ApprovalAsked) -> Answer:
    """Nobody can be asked, so nothing is allowed."""
    return Answer(allow=False, note="there is no terminal to ask at", asked=False)


async def allow_in_demo(_: ApprovalAsked) -> Answer:
    """The demo works on a copy of its own, so that a missing terminal means yes there."""
    return Answer(allow=True, asked=False, why="no terminal to ask at: the demo allows it")
