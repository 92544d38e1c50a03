"""One connection as its user sees it: handlers in, requests and notifications out."""

from typing import TYPE_CHECKING, Any

import orjson

from turnbuckle.lsp.rpc.answering import Answers
from turnbuckle.lsp.rpc.asking import Question, Questions
from turnbuckle.lsp.rpc.body import encode
from turnbuckle.lsp.rpc.bounds import require_shallow
from turnbuckle.lsp.rpc.errors import BadMessage, NoAnswer
from turnbuckle.lsp.rpc.framing import frame
from turnbuckle.lsp.rpc.gate import Gate
from turnbuckle.lsp.rpc.incoming import Incoming, NotificationHandler, RequestHandler
from turnbuckle.lsp.rpc.streams import PeerGone
from turnbuckle.lsp.rpc.writer import Writer

if TYPE_CHECKING:
    from turnbuckle.lsp.rpc.modelled import Requests

ANSWER_TIME = 20.0
"""Seconds after which a request of ours that nobody answered is settled."""


class Connection:
    """One JSON-RPC connection, the same for both ends.

    `converse` reads it. `prefix` begins the ids of our requests.
    """

    def __init__(self, writer: Writer, *, prefix: str, gate: Gate | None = None) -> None:
        self.writer = writer
        self.gate = gate or Gate()
        self.questions = Questions(prefix)
        self.incoming = Incoming(Answers(self._send), self.questions, self.gate)

    def know(self, requests: "Requests") -> None:
        """Have these methods' params and results as models, in both directions."""
        # Not at the top: a server needs no pydantic before it has answered `initialize`.
        from turnbuckle.lsp.rpc.modelled import Modelled

        self.incoming.messages = Modelled(requests, over=self.incoming.messages)

    def on_request(self, method: str, handler: RequestHandler) -> None:
        """Answer a method; raising `Refused` answers with an error. Runs as its own task.

        `$/cancelRequest` cancels the handler; a handler that is cancelled answers −32800, one that
        catches it and returns answers with what it returns. What it does before its first await
        is done before the next message is looked at.
        """
        self.incoming.requests[method] = handler

    def on_notification(self, method: str, handler: NotificationHandler) -> None:
        """Handle a notification: synchronously, in the order of arrival."""
        self.incoming.notifications[method] = handler

    def ask(self, method: str, params: object = None) -> Question:
        """Send a request; its answer can be waited for, or cancelled, by what is returned.

        Raises:
            NoAnswer: the peer is gone.
        """
        message = self._message(method, params)
        question = self.questions.add(method, self._give_up)
        self._send({"id": question.id, **message})
        return question

    async def call(
        self, method: str, params: object = None, *, timeout: float | None = ANSWER_TIME
    ) -> Any:  # Any: an lsprotocol or pydantic value, by method
        """Ask the peer and give its answer, structured by the method's result type.

        `timeout` in seconds, None to wait until it answers or is gone. When the wait is given up or
        cancelled, `$/cancelRequest` is sent and a late answer is ignored.

        Raises:
            NoAnswer: there is no usable answer.
        """
        return self.read(method, await self.ask(method, params).answer(timeout=timeout))

    def read(self, method: str, result: object) -> Any:  # Any: as in `call`
        """A raw result as the method's result type.

        Raises:
            NoAnswer: it has the wrong shape.
        """
        try:
            require_shallow(result, "result")
            return self.incoming.messages.result(method, result)
        except BadMessage as bad:
            raise NoAnswer(f"the answer to {method} has the wrong shape: {bad}") from None

    def notify(self, method: str, params: object = None) -> None:
        """Send a notification; never waits, and is dropped when the peer is gone."""
        self._send(self._message(method, params))

    async def send_text(self, *bodies: bytes) -> None:
        """Send encoded notifications that may wait: returns when the system has taken them.

        Of a sender this much is outstanding at most, so answers and questions overtake text.

        Raises:
            NoAnswer: the peer is gone.
        """
        if self.gate.forbids(""):
            raise RuntimeError("text was sent before initialize was answered")
        try:
            await self.writer.text(b"".join(map(frame, bodies)))
        except PeerGone:
            raise NoAnswer("the connection is closed") from None

    def _message(self, method: str, params: object) -> dict[str, object]:
        if self.gate.forbids(method):
            raise RuntimeError(f"{method} was sent before initialize was answered")
        if params is None:
            return {"method": method}
        # Encoded here, so that what is no JSON raises before anything else has happened.
        return {
            "method": method,
            "params": orjson.Fragment(encode(params, self.incoming.messages.plain)),
        }

    def _give_up(self, identity: str) -> None:
        self.notify("$/cancelRequest", {"id": identity})

    def _send(self, message: dict[str, object]) -> None:
        body = encode({"jsonrpc": "2.0", **message}, self.incoming.messages.plain)
        self.writer.post(frame(body))
