"""What a model says in one turn of the event loop becomes one chunk."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from anyio.lowlevel import checkpoint

from turnbuckle.model.port import Delta
from turnbuckle.session.codec import scrub
from turnbuckle.session.events import AssistantChunk
from turnbuckle.session.parts import joined

R = TypeVar("R")


class Gathering:
    """Deltas that were said and are not yet a fact. No timer: the loop's own turns are the beat."""

    def __init__(self, turn: int, step: int, append: Callable[[AssistantChunk], object]) -> None:
        self._turn = turn
        self._step = step
        self._append = append
        self._deltas: list[Delta] = []
        self._more = anyio.Event()
        self._said: list[str] = []

    @property
    def said(self) -> str:
        """All the text so far."""
        return "".join(self._said)

    def emit(self, delta: Delta) -> None:
        """Take a piece of the answer; never waits."""
        self._deltas.append(delta)
        self._more.set()

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
            await self._more.wait()
            self._more = anyio.Event()
            await checkpoint()
            self.close()

    async def during(self, ask: Callable[[], Awaitable[R]]) -> R:
        """Run `ask`, making facts of what it emits; what was said last is a fact when it ends."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._run)
                reply = await ask()
                tasks.cancel_scope.cancel()
        except ExceptionGroup as group:
            # Only `ask` can fail here; it fails as itself.
            raise group.exceptions[0] from group.exceptions[0].__cause__
        finally:
            self.close()
        return reply
