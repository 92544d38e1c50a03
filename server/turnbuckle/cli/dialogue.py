"""A session at the terminal: its events are shown, its questions are asked."""

from collections import deque
from collections.abc import Iterable
from contextlib import suppress

import anyio
import orjson

from turnbuckle.cli.activity import Activity
from turnbuckle.cli.approving import Decide
from turnbuckle.cli.lines import Line, line
from turnbuckle.cli.narration import Narration
from turnbuckle.cli.opened import Talk
from turnbuckle.cli.screen import Screen
from turnbuckle.cli.signals import Leave
from turnbuckle.cli.subjects import subject_lines
from turnbuckle.cli.tally import Tally
from turnbuckle.cli.values import Event, Note, event_of
from turnbuckle.cli.visible import one_line
from turnbuckle.cli.waiting import Waiting
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.protocol import ImagePart, TurnResult
from turnbuckle.lsp.rpc import NoAnswer
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    AssistantMessage,
    SessionCreated,
)

_WANTS = {
    "command": "The agent wants to run a command",
    "change": "The agent wants to change files",
    "read": "The agent wants to read",
    "question": "The agent asks",
}


class Dialogue:
    """Shows what comes and answers what is asked.

    With `narration` None the values themselves are printed, one JSON object a line. `denied` says
    that something was refused because nobody could be asked.
    """

    def __init__(
        self,
        screen: Screen,
        activity: Activity,
        decide: Decide,
        narration: Narration | None,
        *,
        cwd: str | None,
    ) -> None:
        self.tally = Tally()
        self.waiting = Waiting()
        self.denied = False
        self.live = True
        self.cwd = cwd
        self._screen = screen
        self._activity = activity
        self._decide = decide
        self._narration = narration
        # What is asked and not settled; with a scope while the person looks at it.
        self._open: dict[str, anyio.CancelScope | None] = {}
        self._waiting: deque[ApprovalAsked] = deque()
        self._news = anyio.Event()
        self._heard = anyio.Event()

    @property
    def asking(self) -> bool:
        """Whether a question is before the person."""
        return any(scope is not None for scope in self._open.values())

    def take(self, value: object) -> None:
        """The next value of the session's events."""
        if self._narration is None:
            self._screen.write(orjson.dumps(value).decode() + "\n")
        if (event := event_of(value)) is None:
            return
        self.waiting.feed(event)
        if self.live:
            self._activity.feed(event)
            self.tally.feed(event)
        self._heard.set()
        self._follow(event)
        if self._narration is not None:
            self._screen.show(self._narration.feed(event, past=not self.live))
            if isinstance(event, AssistantMessage):
                self._screen.settle()

    def _follow(self, event: Event) -> None:
        match event:
            case Note(type="live"):
                self.live = True
            case SessionCreated(cwd=str(cwd)):
                self.cwd = cwd
            case ApprovalAsked(approval_id=approval_id):
                self._open[approval_id] = None
                self._waiting.append(event)
                self._news.set()
            case ApprovalDecided():
                self._settle(event)
            case _:
                pass

    async def heard(self) -> None:
        """Wait for the next value."""
        self._heard = anyio.Event()
        await self._heard.wait()

    def _settle(self, decided: ApprovalDecided) -> None:
        scope = self._open.pop(decided.approval_id, None)
        if scope is not None:
            if decided.outcome in ("allowed", "rejected"):
                self._ask([line("  the question is withdrawn: it was settled elsewhere", "warn")])
            scope.cancel()

    def _ask(self, shown: Iterable[Line]) -> None:
        if self._narration is not None or self._screen.terminal is not None:
            self._screen.ask(shown)

    async def turn(
        self, talk: Talk, prompt: str, leave: Leave, images: tuple[ImagePart, ...] = ()
    ) -> TurnResult:
        """Send a message, show its turn, and ask what it asks; Ctrl-C cancels it.

        Raises:
            ServerRefused: it was not taken.
            NoAnswer: the server is gone.
        """
        interrupted = anyio.Event()
        result: TurnResult | NoAnswer
        async with anyio.create_task_group() as group:
            group.start_soon(self.answer, talk)
            group.start_soon(self._cancel, talk, interrupted)
            leave.interrupt = interrupted.set
            try:
                result = await talk.turn(prompt, images=images)
            except NoAnswer as error:
                result = error
            finally:
                leave.interrupt = None
                group.cancel_scope.cancel()
        self._activity.end()
        if isinstance(result, NoAnswer):
            raise result
        return result

    async def _cancel(self, talk: Talk, interrupted: anyio.Event) -> None:
        await interrupted.wait()
        self._activity.end()
        self._activity.begin("cancelling; Ctrl-C again leaves at once")
        with suppress(NoAnswer):
            await talk.cancel()

    async def answer(self, talk: Talk) -> None:
        """Put one question after the other to the person, until cancelled."""
        while True:
            while self._waiting:
                asked = self._waiting.popleft()
                if asked.approval_id in self._open:
                    self._ask(_question(asked, self.cwd))
                    await self._put(talk, asked)
            self._news = anyio.Event()
            await self._news.wait()

    async def _put(self, talk: Talk, asked: ApprovalAsked) -> None:
        with anyio.CancelScope() as scope:
            self._open[asked.approval_id] = scope
            answer = await self._decide(asked)
        if scope.cancelled_caught or asked.approval_id not in self._open:
            return
        self._open[asked.approval_id] = None
        self.denied |= not answer.asked and not answer.allow
        if answer.why:
            self._ask([line(f"  {answer.why}", "dim")])
        try:
            accepted = await talk.approve(asked.approval_id, answer)
        except ServerRefused as refused:
            self._ask(
                [line(f"  the answer was not taken: {one_line(refused.message, 400)}", "bad")]
            )
        except NoAnswer:
            pass  # the turn ends with it
        else:
            if not accepted:
                self._ask([line("  it was settled already", "warn")])


def _question(asked: ApprovalAsked, cwd: str | None) -> list[Line]:
    """What is asked, in full, with the reason why it is."""
    wants = _WANTS.get(str(asked.subject.get("kind")), "The agent asks for leave")
    reason = asked.subject.get("reason")
    why = f"  {one_line(reason, 200)}" if isinstance(reason, str) else ""
    head: Line = (("● ", "warn"), (wants, "strong"), (why, "dim"))
    return [line(""), head, *subject_lines(asked.subject, cwd)]
