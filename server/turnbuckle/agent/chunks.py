"""What a model says becomes chunks: at once, and few where much is said at once."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from turnbuckle.kernel.stopping import is_stopping
from turnbuckle.model.port import Delta
from turnbuckle.session.codec import scrub
from turnbuckle.session.events import AssistantChunk
from turnbuckle.session.parts import joined

R = TypeVar("R")


class Gathering:
    """Makes facts of deltas: of the first in a turn of the event loop at once, of the rest as one.

    So text waits for nothing, and a burst makes no more than two facts a turn. There is no timer.
    """

    def __init__(self, turn: int, step: int, append: Callable[[AssistantChunk], object]) -> None:
        self._turn = turn
        self._step = step
        self._append = append
        self._deltas: list[Delta] = []
        self._open = False
        # Set from the first delta of a turn of the loop to the next turn.
        self._begun = anyio.Event()
        self._said: list[str] = []

    @property
    def said(self) -> str:
        """All the text so far."""
        return "".join(self._said)

    def emit(self, delta: Delta) -> None:
        """Take a piece of the answer; never waits. What comes after its end is dropped."""
        if not self._open:
            return
        self._deltas.append(delta)
        if not self._begun.is_set():
            self._begun.set()
            self.close()

    def close(self) -> None:
        """Make what is gathered a fact now."""
        if not self._deltas:
            return
        deltas, self._deltas = self._deltas, []
        text = scrub("".join(delta.text for delta in deltas if delta.text))
        reasoning = scrub("".join(delta.reasoning for delta in deltas if delta.reasoning))
        calls = [call for delta in deltas for call in delta.tool_calls]
        if text:
            self._said.append(text)
        if text or reasoning or calls:
            self._append(
                AssistantChunk(
                    turn=self._turn,
                    step=self._step,
                    text=text or None,
                    reasoning=reasoning or None,
                    tool_calls=joined(calls) or None,
                )
            )

    async def _run(self) -> None:
        while True:
            await self._begun.wait()
            self._begun = anyio.Event()
            self.close()

    async def during(self, ask: Callable[[], Awaitable[R]]) -> R:
        """Run `ask`, making facts of what it emits; what was said last is a fact when it ends."""
        self._open = True
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._run)
                reply = await _itself(ask)
                tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            # Only `ask` can fail here; it fails as itself.
            raise group.exceptions[0] from group.exceptions[0].__cause__
        finally:
            self._open = False
            self.close()
        return reply


async def _itself(ask: Callable[[], Awaitable[R]]) -> R:
    """What is asked, where a cancellation that nobody asked for is an error and no cancellation."""
    try:
        return await ask()
    except anyio.get_cancelled_exc_class() as error:
        if is_stopping():
            raise
        raise RuntimeError("the model's request was cancelled by itself") from error
