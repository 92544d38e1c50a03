"""What we asked the peer and have no answer to yet."""

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from turnbuckle.lsp.rpc.envelope import Id, Response
from turnbuckle.lsp.rpc.errors import INTERNAL_ERROR, NoAnswer, PeerRefused


@dataclass(eq=False, slots=True)
class Question:
    """A request of ours that was sent; `id` is what it bears on the wire."""

    id: str
    method: str
    _cancel: Callable[[], None]
    _forget: Callable[[], None]
    _answered: anyio.Event = field(default_factory=anyio.Event)
    _answer: Response | None = None
    _lost: str | None = None

    def cancel(self) -> None:
        """Send `$/cancelRequest`; the answer is still to come, and may be a result."""
        if not self._answered.is_set():
            self._cancel()

    async def answer(self, *, timeout: float | None = None, linger: float = 0) -> object:
        """Wait for the raw result; at most once.

        Args:
            timeout: seconds, or None to wait until it comes or the peer is gone.
            linger: seconds to go on waiting after a cancellation of the caller, so that the peer
                is done when the cancellation goes on.

        Raises:
            NoAnswer: there is none, in time or at all.
            PeerRefused: the answer is an error.
        """
        try:
            with anyio.move_on_after(timeout):
                await self._answered.wait()
        finally:
            self.cancel()
            if linger and not self._answered.is_set():
                with anyio.move_on_after(linger, shield=True):
                    await self._answered.wait()
            self._forget()
        if self._lost is not None:
            raise NoAnswer(self._lost)
        if self._answer is None:
            raise NoAnswer(f"no answer to {self.method} within {timeout:g} seconds")
        if self._answer.error is not None:
            raise _refusal(self._answer.error)
        return self._answer.result

    def settle(self, answer: Response) -> None:
        """Take the answer; the first one counts."""
        if not self._answered.is_set():
            self._answer = answer
            self._answered.set()

    def lose(self, why: str) -> None:
        """There will be no answer."""
        if not self._answered.is_set():
            self._lost = why
            self._answered.set()


class Questions:
    """All of them, by id; `prefix` keeps our ids apart from those of the peer."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._count = 0
        self._open: dict[Id, Question] = {}
        self._lost: str | None = None

    def __len__(self) -> int:
        return len(self._open)

    def add(self, method: str, cancel: Callable[[str], None]) -> Question:
        """A question with the next id; `cancel` sends `$/cancelRequest` for an id.

        Raises:
            NoAnswer: the peer is gone.
        """
        if self._lost is not None:
            raise NoAnswer(self._lost)
        self._count += 1
        identity = f"{self._prefix}{self._count}"
        question = Question(
            identity, method, lambda: cancel(identity), lambda: self._forget(identity)
        )
        self._open[identity] = question
        return question

    @property
    def lost(self) -> bool:
        """Whether the peer is gone."""
        return self._lost is not None

    def settle(self, answer: Response) -> bool:
        """Give an answer to its question; late, double and foreign ones are nobody's."""
        if (question := self._open.get(answer.id)) is None:
            return False
        question.settle(answer)
        return True

    def lose(self, why: str) -> None:
        """The peer is gone: nothing will be answered any more."""
        self._lost = why
        for question in self._open.values():
            question.lose(why)

    def _forget(self, identity: str) -> None:
        self._open.pop(identity, None)


def _refusal(error: object) -> PeerRefused:
    match error:
        case {"code": int(code), "message": str(message), **rest}:
            return PeerRefused(code, message, rest.get("data"))
        case _:
            return PeerRefused(INTERNAL_ERROR, "an error that does not say what it is")
