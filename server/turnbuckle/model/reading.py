"""Reading the body of a response, with its time limits."""

from dataclasses import dataclass

import anyio
import httpx

from turnbuckle.model.answer import Answer
from turnbuckle.model.inflating import pieces_of

_SLACK = 1.0  # seconds that a wait for data may be too long, at most
_DRAIN_WAIT = 0.05  # seconds for the end of a body whose answer is complete


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds: without data (comments are none), for a whole answer, and for what may still come.

    The last are for when the outcome is known: usage after the finish, the text of an error.
    """

    idle: float = 120.0
    total: float = 1800.0
    grace: float = 2.0


class Clock:
    """The limits of one request, as one cancel scope whose deadline moves.

    Once the answer is complete it is settled, and only ends the reading.
    """

    def __init__(self, timeouts: Timeouts) -> None:
        self._idle, self._total = timeouts.idle, timeouts.total
        self._grace = timeouts.grace
        self._end = anyio.current_time() + timeouts.total
        self._slack = min(_SLACK, timeouts.idle / 20)
        self._due = 0.0
        self._settled = False
        self.scope = anyio.CancelScope()
        self.heard()

    def heard(self) -> None:
        """Data came."""
        now = anyio.current_time()
        # To move the deadline costs much of what a piece of text costs: it is moved now and then,
        # and by so much that it never comes too early.
        if now >= self._due and not self._settled:
            self._due = now + self._slack
            self.scope.deadline = min(self._due + self._idle, self._end)

    def settle(self, *, wait_for_usage: bool) -> None:
        """The answer is complete: wait a little for its usage, or only for the end of the body."""
        # Reading to the end of the body lets the connection serve the next request.
        wait = self._grace if wait_for_usage else min(_DRAIN_WAIT, self._grace)
        if not self._settled or not wait_for_usage:
            self.scope.deadline = min(self.scope.deadline, anyio.current_time() + wait)
        self._settled = True

    def why(self, shown: str) -> str:
        """What to say when the time was up."""
        if anyio.current_time() >= self._end:
            return f"{shown} did not finish its answer within {self._total:g} s."
        return f"{shown} sent no data for {self._idle:g} s, so the request was given up."


async def read_stream(response: httpx.Response, answer: Answer, clock: Clock) -> None:
    """Read events to the end of the body, or until the clock's scope ends it.

    Raises:
        ModelFailed: the stream reports an error, or cannot be understood.
    """
    async for data in pieces_of(response):
        heard = answer.take(data)
        if answer.finished:
            clock.settle(wait_for_usage=not answer.done)
        elif heard:
            clock.heard()


async def head_of(response: httpx.Response, limit: int) -> bytes:
    """The first bytes of a body, `limit` at most."""
    head = bytearray()
    async for data in pieces_of(response):
        head += data
        if len(head) >= limit:
            break
    return bytes(head[:limit])
