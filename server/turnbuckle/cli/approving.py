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
FOR_SESSION = "Allow once? [y]es / [s]ession / [n]o / [r]eject with a note "
PARTLY_SHOWN = "Not all of it could be shown. Allow it all the same? [yes] / [n]o / [r]eject "
ANSWER = "Answer (nothing leaves it open): "
CURSOR = "▌"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to an approval; `answer` is that to a question.

    `remember` allows the same for the rest of the session. `asked` says that a person gave it;
    where nobody did, `why` says so to whoever reads along.
    """

    allow: bool
    note: str | None = None
    answer: str | None = None
    remember: bool = False
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
        if asked.subject.get("kind") == "question":
            return await self._answer(asked)
        whole = shown_whole(asked.subject)
        question = _question(asked, whole=whole)
        words = _words(asked, whole=whole)
        reply = await self.line(question, fresh=True)
        while True:
            typed = "n" if reply is None else reply.strip().lower()
            if typed in ("r", "reject"):
                note = await self.line("Note for the agent: ")
                return Answer(allow=False, note=(note or "").strip() or None)
            if typed in words:
                return words[typed]
            yes = "y, s" if "s" in words else "y" if whole else "yes"
            self._screen.ask([line(f"  please type {yes}, n or r, then Enter", "dim")])
            reply = await self.line(question)

    async def _answer(self, asked: ApprovalAsked) -> Answer:
        """A choice by its number, or words; nothing is no answer."""
        choices = [str(choice) for choice in asked.subject.get("choices", ())]
        rows = [line(f"  {n}  {exact(choice)}") for n, choice in enumerate(choices, 1)]
        self._screen.ask(rows)
        reply = (await self.line(ANSWER, fresh=True) or "").strip()
        if reply.isascii() and reply.isdigit() and 1 <= int(reply) <= len(choices):
            reply = choices[int(reply) - 1]
        return Answer(allow=True, answer=reply) if reply else Answer(allow=False)


def _question(asked: ApprovalAsked, *, whole: bool) -> str:
    if not whole:
        return PARTLY_SHOWN
    return FOR_SESSION if "allowForSession" in asked.choices else QUESTION


def _words(asked: ApprovalAsked, *, whole: bool) -> dict[str, Answer]:
    """What may be typed, and what it means."""
    words = {"yes": Answer(allow=True), "n": Answer(allow=False), "no": Answer(allow=False)}
    if whole:
        words["y"] = words["yes"]
        if "allowForSession" in asked.choices:
            words["s"] = words["session"] = Answer(allow=True, remember=True)
    return words


async def deny(_: ApprovalAsked) -> Answer:
    """Nobody can be asked, so nothing is allowed."""
    return Answer(allow=False, note="there is no terminal to ask at", asked=False)


async def allow_in_demo(asked: ApprovalAsked) -> Answer:
    """The demo works on a copy of its own, so that a missing terminal means yes there."""
    if asked.subject.get("kind") == "question":
        return await deny(asked)
    return Answer(allow=True, asked=False, why="no terminal to ask at: the demo allows it")
