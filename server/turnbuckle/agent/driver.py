"""When a turn runs: one at a time, in order; and how it is cancelled."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import anyio

from turnbuckle.agent.agent import Agent
from turnbuckle.agent.ending import kept, settled, writable
from turnbuckle.agent.inbox import owes_turn
from turnbuckle.agent.overdue import name_overdue
from turnbuckle.agent.turn import run_turn
from turnbuckle.kernel.failures import told
from turnbuckle.kernel.stopping import FAILURES, is_failure
from turnbuckle.model.port import ModelFailed
from turnbuckle.session.check import NotLogged
from turnbuckle.session.events import TurnEnd, TurnStart
from turnbuckle.session.parts import Context, End, Failure, Source, Target
from turnbuckle.session.store import StoreFailed

logger = logging.getLogger(__name__)

_PARKING = ("blocked", "stopped", "error")
"""Ends after which what waits stays parked; so does an abort, from the cancel on."""


Work: TypeAlias = Callable[[Agent, int], Awaitable[End]]
"""What runs as the turn of this number, and how that ends."""


class Busy(Exception):
    """A turn runs, or is about to."""


@dataclass(slots=True, eq=False)
class _Errand:
    work: Work
    end: End | None = None
    done: anyio.Event = field(default_factory=anyio.Event)


class Driver:
    """Runs the turns of one session; the only catcher of a turn's failure.

    After a turn that ended `blocked`, `stopped`, `error` or `aborted` what waits is parked until
    the next message wakes it.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._scope: anyio.CancelScope | None = None
        self._cause: str | None = None
        self._keep = False
        self._errand: _Errand | None = None
        self._wake = anyio.Event()  # a message lets what waits have its turn
        self._bell = anyio.Event()  # there is something to look at
        self._idle = anyio.Event()
        self._idle.set()

    @property
    def running(self) -> int | None:
        """The turn that runs now, or None."""
        return self._agent.session.turn if self._scope else None

    @property
    def busy(self) -> bool:
        """Whether a turn runs, or is about to."""
        if self._scope is not None or self._errand is not None:
            return True
        return not self._idle.is_set() and owes_turn(self._agent.inbox)

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
        self._bell.set()
        return True

    async def errand(self, work: Work) -> End | None:
        """Run something as a turn without steps, and give its end; None if the session was closed.

        It wakes no message that is parked. Cancelling the call cancels that turn.

        Raises:
            Busy: a turn runs, or is about to.
        """
        if self.busy:
            raise Busy("a turn runs in this session already")
        errand = self._errand = _Errand(work)
        self._idle = anyio.Event()
        self._bell.set()
        try:
            await errand.done.wait()
        except anyio.get_cancelled_exc_class():
            if self._errand is errand:
                self._errand = None  # it had not begun
            elif not errand.done.is_set():
                self.cancel("user", keep_queue=True)
                with anyio.CancelScope(shield=True):
                    await errand.done.wait()
            raise
        return errand.end

    def cancel(self, cause: str, *, keep_queue: bool = False) -> None:
        """Stop the running turn; nothing if none runs. The first cause wins.

        Unless `keep_queue`, the person's messages that wait are dropped; injected context stays.
        """
        if self._scope is None or self._cause is not None:
            return
        self._cause, self._keep = cause, keep_queue
        self._wake = anyio.Event()  # only messages after this one wake
        if not keep_queue:
            waiting = [item for item in self._agent.inbox.waiting if item.source == "user"]
            self._agent.inbox.drop(tuple(item.key for item in waiting), "cancelled")
        self._scope.cancel()

    async def idle(self) -> None:
        """Return when nothing runs and nothing is about to."""
        await self._idle.wait()

    async def run(self) -> None:
        """Run turns as messages come, until cancelled."""
        try:
            while True:
                await self._bell.wait()
                self._bell = anyio.Event()
                if (errand := self._errand) is not None:
                    self._errand = None  # from here on only its turn can be cancelled
                    try:
                        errand.end = await self._one(errand.work)
                    finally:
                        errand.done.set()
                if self._wake.is_set():
                    await self._drain()
                if not self._bell.is_set():
                    self._idle.set()
        finally:
            if self._errand is not None:
                self._errand.done.set()

    async def _drain(self) -> None:
        """Give what waits its turns, until one parks the rest."""
        self._wake = anyio.Event()
        while owes_turn(self._agent.inbox):
            end = await self._one(run_turn)
            parks = end.kind == "aborted" or end.kind in _PARKING
            if parks and not self._wake.is_set():
                break

    async def _one(self, work: Work) -> End:
        session = self._agent.session
        turn = session.turn + 1
        self._cause, self._keep = None, False
        end = End(kind="aborted", cause="shutdown")
        # The scope is there before the first fact, so that whoever sees that can cancel already.
        self._scope = anyio.CancelScope()
        try:
            session.append(TurnStart(turn=turn))
            with self._scope:
                end = await self._watched(work, turn)
            end = kept(settled(end, self._cause), session)
        finally:
            self._scope = None
            end = writable(end)
            if end.kind in _PARKING and work is run_turn:
                self._wake = anyio.Event()  # only messages after the end wake
            self._agent.inbox.settle_claims(end.kind, keep=self._keep)
            session.append(TurnEnd(turn=turn, end=end))
            logger.info("turn %s ended: %s", turn, end.kind)
            with anyio.CancelScope(shield=True):
                await _last_flush(self._agent)
        return end

    async def _watched(self, work: Work, turn: int) -> End:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_watch, self._agent)
            end = await self._guarded(work, turn)
            tasks.cancel_scope.cancel()
        return end

    async def _guarded(self, work: Work, turn: int) -> End:
        try:
            return await work(self._agent, turn)
        except ModelFailed as error:
            failure = error.failure
        except StoreFailed as error:
            failure = Failure(kind="store", message=str(error))
        except NotLogged as error:
            said = f"the request was not sent, since the log does not hold it: {error}"
            failure = Failure(kind="internal", message=said)
        except FAILURES as error:
            if not is_failure(error):
                raise
            logger.exception("turn %s failed", turn)
            failure = Failure(kind="hook", message=told(error))
        return End(kind="error", failure=failure)


async def _last_flush(agent: Agent) -> None:
    try:
        await agent.session.flush()
    except StoreFailed as error:
        logger.warning("the end of a turn is not on disk yet: %s", error)


async def _watch(agent: Agent) -> None:
    try:
        await name_overdue(agent)
    except Exception:
        logger.exception("the turns of session %s are not watched", agent.session.id)
