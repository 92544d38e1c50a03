"""Who answers what the agent may do: the person at the terminal, or nobody."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from turnbuckle.cli.lines import Line, line
from turnbuckle.cli.screen import Screen
from turnbuckle.cli.source import Asker
from turnbuckle.cli.subjects import hunks_of, shown_whole
from turnbuckle.cli.visible import exact_name
from turnbuckle.session.events import ApprovalAsked

PARTLY_SHOWN = "Not all of it could be shown. Allow it all the same? [yes] / [n]o / [r]eject "
ANSWER = "Answer (nothing leaves it open): "
ONE_HUNK = "This one? [y]es / [n]o / [a]ll that follow / [d]one, none of them "


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to an approval; `answer` is that to a question.

    `hunks` says which parts of a change are allowed. `remember` allows the same for the rest of
    the session. `asked` says that a person gave it; where nobody did, `why` says so to whoever
    reads along.
    """

    allow: bool
    note: str | None = None
    answer: str | None = None
    hunks: Mapping[str, bool] | None = None
    remember: bool = False
    asked: bool = True
    why: str | None = None


Decide: TypeAlias = Callable[[ApprovalAsked], Awaitable[Answer]]


class Person:
    """Whoever sits at the terminal; `cwd` is the session's folder, as a URI."""

    def __init__(self, screen: Screen, asker: Asker, cwd: str | None = None) -> None:
        self._screen = screen
        self._asker = asker
        self._cwd = cwd

    async def decide(self, asked: ApprovalAsked) -> Answer:
        """Ask whether to allow what was shown; anything but a clear yes is a no or asked again."""
        if asked.subject.get("kind") == "question":
            return await self._answer(asked)
        hunks = hunks_of(asked.subject, self._cwd) if shown_whole(asked.subject) else []
        question, words = _question(asked, many=len(hunks) > 1)
        reply = await self._asker.line(question, fresh=True)
        while True:
            typed = "n" if reply is None else reply.strip().lower()
            if typed in ("r", "reject"):
                note = await self._asker.line("Note for the agent: ")
                return Answer(allow=False, note=(note or "").strip() or None)
            if typed in ("h", "hunks") and len(hunks) > 1:
                return await self._one_by_one(hunks)
            if typed in words:
                return words[typed]
            keys = ", ".join(key for key in ("y", "s", "yes") if key in words and key != "yes")
            self._screen.ask([line(f"  please type {keys or 'yes'}, n or r, then Enter", "dim")])
            reply = await self._asker.line(question)

    async def _one_by_one(self, hunks: list[tuple[str, list[Line]]]) -> Answer:
        """Each hunk for itself."""
        taken: dict[str, bool] = {}
        rest: bool | None = None
        for number, (hunk_id, rows) in enumerate(hunks, 1):
            if rest is None:
                head = line(f"{number} of {len(hunks)}", "dim")
                self._screen.ask([line(""), head, *rows])
                taken[hunk_id], rest = await self._one()
            else:
                taken[hunk_id] = rest
        if len(set(taken.values())) == 1:
            return Answer(allow=next(iter(taken.values())))
        return Answer(allow=True, hunks=taken)

    async def _one(self) -> tuple[bool, bool | None]:
        """Whether to take a hunk, and whether the answer to all that follow is clear, too."""
        while True:
            typed = await self._asker.line(ONE_HUNK)
            match "d" if typed is None else typed.strip().lower():
                case "y" | "yes":
                    return True, None
                case "n" | "no":
                    return False, None
                case "a" | "all":
                    return True, True
                case "d" | "done":
                    return False, False
                case _:
                    self._screen.ask([line("  please type y, n, a or d, then Enter", "dim")])

    async def _answer(self, asked: ApprovalAsked) -> Answer:
        """A choice by its number, or words; nothing is no answer."""
        choices = [str(choice) for choice in asked.subject.get("choices", ())]
        rows = [line(f"  {n}  {exact_name(choice)}") for n, choice in enumerate(choices, 1)]
        self._screen.ask(rows)
        reply = (await self._asker.line(ANSWER, fresh=True) or "").strip()
        if reply.isascii() and reply.isdigit() and 1 <= int(reply) <= len(choices):
            reply = choices[int(reply) - 1]
        return Answer(allow=True, answer=reply) if reply else Answer(allow=False)


def _question(asked: ApprovalAsked, *, many: bool) -> tuple[str, dict[str, Answer]]:
    """What is asked, what may be typed, and what it means."""
    words = {"yes": Answer(allow=True), "n": Answer(allow=False), "no": Answer(allow=False)}
    if not shown_whole(asked.subject):
        return PARTLY_SHOWN, words
    words["y"] = words["yes"]
    offers = ["[y]es"]
    if "allowForSession" in asked.choices:
        words["s"] = words["session"] = Answer(allow=True, remember=True)
        offers.append("[s]ession")
    offers += ["[h]unk by hunk"] if many else []
    return f"Allow once? {' / '.join([*offers, '[n]o', '[r]eject with a note'])} ", words


async def deny(_: ApprovalAsked) -> Answer:
    """Nobody can be asked, so nothing is allowed."""
    return Answer(allow=False, note="there is no terminal to ask at", asked=False)


async def allow_in_demo(asked: ApprovalAsked) -> Answer:
    """The demo works on a copy of its own, so that a missing terminal means yes there."""
    if asked.subject.get("kind") == "question":
        return await deny(asked)
    return Answer(allow=True, asked=False, why="no terminal to ask at: the demo allows it")
