"""One session of a chat: what is sent in it, what runs, and how it is left."""

from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import TaskGroup

from turnbuckle.cli.dialogue import Dialogue
from turnbuckle.cli.exits import CANCELLED as LEFT
from turnbuckle.cli.lines import Style, counted, line
from turnbuckle.cli.meter import meter, price_in
from turnbuckle.cli.opened import Talk
from turnbuckle.cli.source import Source, Typed
from turnbuckle.cli.stage import Stage
from turnbuckle.cli.visible import one_line
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.lives import SessionOpenParams
from turnbuckle.lsp.protocol import WhenBusy
from turnbuckle.lsp.rpc import CANCELLED, NoAnswer

LINGER = 5.0
"""Seconds that a turn has to end when the person leaves."""


class Sitting:
    """`opens` is the session to go on with after this one, None to leave the chat."""

    def __init__(self, stage: Stage, source: Source, dialogue: Dialogue, talk: Talk) -> None:
        self.stage = stage
        self.source = source
        self.dialogue = dialogue
        self.talk = talk
        self.config = talk.opened.config
        self.opens: SessionOpenParams | None = None
        self._over = False
        self._armed = False  # whether leaving was announced
        self._cancelling = False
        self._sending = 0
        self._under_way = False  # something was sent, and no turn has ended since
        self._gone: NoAnswer | None = None
        self._command: anyio.CancelScope | None = None

    @property
    def busy(self) -> bool:
        """Whether a turn runs, or a message is on its way into one."""
        return self.dialogue.waiting.running or self._under_way

    def say(self, text: str, style: Style = "dim") -> None:
        """Tell the person something that is no part of the session."""
        self.stage.screen.aside([line(row, style) for row in text.split("\n")])

    async def run(self, heed: Callable[["Sitting", Typed], Awaitable[None]]) -> None:
        """Have `heed` do what is typed, until the session is left.

        Raises:
            NoAnswer: the server is gone.
        """
        self._over, self.opens = False, None
        async with anyio.create_task_group() as group:
            self._group: TaskGroup = group
            group.start_soon(self.dialogue.answer, self.talk)
            group.start_soon(_watch, self)
            while not (self._over or self.opens):
                self.stage.leave.interrupt = self.interrupt
                if typed := await self.source.next():
                    announced = self._armed
                    await self._heed(heed, typed)
                    self._armed &= not announced  # only what is said right after it counts
                else:
                    self.close()
            await _end_turns(self, LINGER if self._gone is None else 0)
            group.cancel_scope.cancel()
        self.stage.leave.interrupt = None
        if self._gone is not None:
            raise self._gone

    async def _heed(
        self, heed: Callable[["Sitting", Typed], Awaitable[None]], typed: Typed
    ) -> None:
        with anyio.CancelScope() as scope:
            self._command = scope
            try:
                await heed(self, typed)
            except ServerRefused as refused:
                self.say(one_line(refused.message, 400), "bad")
            except NoAnswer as error:
                self.lose(error)
        if scope.cancelled_caught:
            self.say("stopped", "warn")
        self._command = None

    async def send(self, text: str | None, when_busy: WhenBusy = "queue") -> None:
        """Send a message; a patient source waits for the end of its turn. None resumes a turn."""
        self._sending += 1
        self._under_way = True
        if self.source.patient:
            self._command = None  # Ctrl-C is for the turn
            await self._send(text, when_busy)
        else:
            self._group.start_soon(self._send, text, when_busy)

    async def _send(self, text: str | None, when_busy: WhenBusy) -> None:
        try:
            await self.talk.turn(text, when_busy=when_busy)
        except ServerRefused as refused:
            if refused.code != CANCELLED:  # else it was dropped, which is told already
                self.say(f"not sent: {one_line(refused.message, 400)}", "bad")
                self.source.put_back(text or "")
        except NoAnswer as error:
            self.lose(error)
        finally:
            self._sending -= 1
            self._under_way &= self._sending > 0
            self._cancelling &= self.busy

    async def cancel(self, *, keep_queue: bool = False) -> None:
        """Cancel the turn that runs, and what waits unless it is to be kept."""
        self.stage.activity.end()
        self.stage.activity.begin("cancelling; Ctrl-C again leaves at once")
        self._cancelling = True
        try:
            await self.talk.cancel(keep_queue=keep_queue)
        except NoAnswer as error:
            self.lose(error)
        if not self.busy:
            self.stage.activity.end()
            self._cancelling = False

    def interrupt(self) -> None:
        """Ctrl-C: ends a command or a turn, clears the prompt, or leaves."""
        leave = self.stage.leave
        leave.interrupt = self.interrupt
        if self._command is not None and not self._command.cancel_called:
            self._command.cancel()
        elif self.busy and not self._cancelling:
            self._group.start_soon(self.cancel)
        elif self.busy or self._armed:
            leave.leave(LEFT)
        elif not self.source.clear():
            self._armed = True
            self.say("Ctrl-C again leaves")

    def close(self) -> None:
        """Leave; where a turn runs, only when it is said twice."""
        if self.busy and not (self._armed or self.source.patient):
            self._armed = True
            self.say("a turn runs: once more cancels it and leaves", "warn")
        else:
            self._over = True

    def lose(self, error: NoAnswer) -> None:
        """The server is gone."""
        self._gone = self._gone or error
        self._group.cancel_scope.cancel()

    def told(self) -> None:
        """A turn has ended: say what it took, if the model was asked at all."""
        end = self.dialogue.tally.end
        completed = end is not None and end.kind == "completed"
        self._under_way = completed and bool(self.dialogue.waiting.messages)  # else they are parked
        self._cancelling &= self.busy
        if not self.dialogue.tally.turn_steps:
            return
        used = meter(self.dialogue.tally.used, price_in(self.config))
        steps = counted(self.dialogue.tally.turn_steps, "step")
        self.stage.screen.ask([line(", ".join(filter(None, (steps, used))), "dim")])


async def _end_turns(sitting: Sitting, seconds: float) -> None:
    """Cancel what runs, and wait so long for its end."""
    with anyio.move_on_after(seconds):
        if sitting.busy:
            await sitting.cancel()
        while sitting.busy:
            await sitting.dialogue.heard()


async def _watch(sitting: Sitting) -> None:
    await sitting.talk.client.stop.wait()
    sitting.lose(NoAnswer("it closed the connection"))
