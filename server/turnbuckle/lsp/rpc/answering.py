"""What the peer asked us and has no answer to yet: one task and one answer for each request."""

import logging
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

import anyio
from anyio.abc import TaskGroup

from turnbuckle.lsp.rpc.envelope import Id
from turnbuckle.lsp.rpc.errors import CANCELLED, INTERNAL_ERROR, Refused, stack

logger = logging.getLogger(__name__)

MOST = 2048
"""Requests of one method that may run at once; those of others can always still stop them."""


@dataclass(eq=False, slots=True)
class _Running:
    method: str
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    answered: anyio.Event = field(default_factory=anyio.Event)


class Answers:
    """The requests that run, by id.

    `send` posts an answer `{id, result}` or `{id, error}`, and raises if it is not JSON.
    """

    def __init__(self, send: Callable[[dict[str, object]], None]) -> None:
        self._send = send
        self._running: dict[Id, _Running] = {}
        self._count: Counter[str] = Counter()

    def __contains__(self, identity: Id) -> bool:
        return identity in self._running

    def full(self, method: str) -> bool:
        """Whether so many requests of a method run that no other is taken on."""
        return self._count[method] >= MOST

    def start(
        self, group: TaskGroup, identity: Id, method: str, work: Callable[[], Awaitable[object]]
    ) -> None:
        """Answer a request with what `work` gives, in a task of the group."""
        running = self._running[identity] = _Running(method)
        self._count[method] += 1
        group.start_soon(self._answer, identity, running, work, name=method)

    def cancel(self, identity: Id) -> None:
        """Cancel a request, if it runs; it is answered by its own task."""
        if (running := self._running.get(identity)) is not None:
            running.scope.cancel()

    async def settle(self, *, keep: str) -> None:
        """Cancel all but those of one method, and wait until they are answered."""
        for running in (others := [r for r in self._running.values() if r.method != keep]):
            running.scope.cancel()
        for running in others:
            await running.answered.wait()

    def refuse(self, identity: Id | None, refused: Refused) -> None:
        """Answer with an error."""
        error = {"code": refused.code, "message": str(refused), "data": refused.data}
        if refused.data is None:
            del error["data"]
        self._send({"id": identity, "error": error})

    async def _answer(
        self, identity: Id, running: _Running, work: Callable[[], Awaitable[object]]
    ) -> None:
        answer: Callable[[], None] = partial(
            self.refuse, identity, Refused("cancelled", code=CANCELLED)
        )
        try:
            with running.scope:
                answer = partial(self._send, {"id": identity, "result": await work()})
        except Refused as refused:
            answer = partial(self.refuse, identity, refused)
        except Exception as error:
            answer = partial(self.refuse, identity, _bug(running.method, error))
        finally:
            # Also when the whole connection is cancelled: who still listens gets an answer.
            del self._running[identity]
            self._count[running.method] -= 1
            self._say(identity, running.method, answer)
            running.answered.set()

    def _say(self, identity: Id, method: str, answer: Callable[[], None]) -> None:
        try:
            answer()
        except Exception as error:  # it is no JSON, whatever its serialiser raised
            self.refuse(identity, _bug(method, error))


def _bug(method: str, error: Exception) -> Refused:
    """A fault of ours: where it is goes to the log, and only a reference to the peer."""
    reference = uuid.uuid4().hex[:8]
    logger.error("%s failed (reference %s)\n%s", method, reference, stack(error))
    return Refused("internal error", code=INTERNAL_ERROR, reference=reference)
