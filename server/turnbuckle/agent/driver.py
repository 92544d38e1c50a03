"""When a turn runs: one at a time, in order; and how it is cancelled."""

import logging
from dataclasses import replace

import anyio

from turnbuckle.agent.agent import Agent
from turnbuckle.agent.inbox import owes_turn
from turnbuckle.agent.turn import run_turn
from turnbuckle.model.port import ModelFailed
from turnbuckle.session.check import NotLogged
from turnbuckle.session.codec import scrub
from turnbuckle.session.events import TurnEnd, TurnStart
from turnbuckle.session.parts import Context, End, Failure, Source, Target
from turnbuckle.session.store import StoreFailed

logger = logging.getLogger(__name__)

_PARKING = ("blocked", "stopped", "error")
"""Ends after which what waits stays parked; so does an abort, from the cancel on."""


class Driver:
    """Runs the turns of one session; the only catcher of a turn's failure.

    After a turn that ended `blocked`, `stopped`, `error` or `aborted` what waits is parked until
    the next message wakes it.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._scope: anyio.CancelScope | None = None
        self._cause: str | None = None
        self._wake = anyio.Event()
        self._idle = anyio.Event()
        self._idle.set()

    @property
    def running(self) -> int | None:
        """The turn that runs now, or None."""
        return self._agent.session.turn if self._scope else None

    @property
    def busy(self) -> bool:
        """Whether a turn runs, or is about to."""
        return self._scope is not None or (not self._idle.is_set() and owes_turn(self._agent.inbox))

    def send(
        self,
        key: str,
        text: str,
        *,
        target: Target = "turn",
        context: tuple[Context, ...] = (),
        source: Source = "user",
    ) -> bool:
        """Let a message wait and wake the driver; False, and nothing, for a key that is known."""
        if not self._agent.inbox.add(key, text, target=target, context=context, source=source):
            return False
        if self._idle.is_set():
            self._idle = anyio.Event()
        self._wake.set()
        return True

    def cancel(self, cause: str, *, keep_queue: bool = False) -> None:
        """Stop the running turn; nothing if none runs. The first cause wins."""
        if self._scope is None or self._cause:
            return
        self._cause = cause
        self._wake = anyio.Event()  # only messages after this one wake
        if not keep_queue:
            waiting = self._agent.inbox.waiting
            self._agent.inbox.drop(tuple(item.key for item in waiting), "cancelled")
        self._scope.cancel()

    async def idle(self) -> None:
        """Return when nothing runs and nothing is about to."""
        await self._idle.wait()

    async def run(self) -> None:
        """Run turns as messages come, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake = anyio.Event()
            while owes_turn(self._agent.inbox):
                end = await self._one()
                parks = end.kind == "aborted" or end.kind in _PARKING
                if parks and not self._wake.is_set():
                    break
            if not self._wake.is_set():
                self._idle.set()

    async def _one(self) -> End:
        session = self._agent.session
        turn = session.turn + 1
        self._cause = None
        session.append(TurnStart(turn=turn))
        end = End(kind="aborted", cause="shutdown")
        try:
            with anyio.CancelScope() as self._scope:
                end = await self._guarded(turn)
            if self._scope.cancelled_caught:
                end = End(kind="aborted", cause=self._cause)
        finally:
            self._scope = None
            if end.kind in _PARKING:
                self._wake = anyio.Event()  # only messages after the end wake
            self._agent.inbox.settle_claims(end.kind)
            session.append(TurnEnd(turn=turn, end=_spelt(end)))
            logger.info("turn %s ended: %s", turn, end.kind)
            with anyio.CancelScope(shield=True):
                await self._last_flush()
        return end

    async def _guarded(self, turn: int) -> End:
        try:
            return await run_turn(self._agent, turn)
        except ModelFailed as error:
            return End(kind="error", failure=error.failure)
        except StoreFailed as error:
            return End(kind="error", failure=Failure(kind="store", message=str(error)))
        except NotLogged as error:
            said = f"the request was not sent, since the log does not hold it: {error}"
            return End(kind="error", failure=Failure(kind="internal", message=said))
        except Exception as error:
            logger.exception("turn %s failed", turn)
            said = f"{type(error).__name__}: {error}"
            return End(kind="error", failure=Failure(kind="hook", message=said))

    async def _last_flush(self) -> None:
        try:
            await self._agent.session.flush()
        except StoreFailed as error:
            logger.warning("the end of a turn is not on disk yet: %s", error)


def _spelt(end: End) -> End:
    """The end with what a plugin or the system said of it, in letters that can be written down."""
    failure = end.failure and replace(end.failure, message=scrub(end.failure.message))
    return replace(end, reason=end.reason and scrub(end.reason), failure=failure)
