"""What comes in on a connection: every request gets one answer, and nothing else gets any."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeAlias

from anyio.abc import TaskGroup

from turnbuckle.lsp.rpc.answering import Answers
from turnbuckle.lsp.rpc.asking import Questions
from turnbuckle.lsp.rpc.body import decode
from turnbuckle.lsp.rpc.bounds import require_shallow
from turnbuckle.lsp.rpc.envelope import Id, Invalid, Notification, Request, Response, open_envelope
from turnbuckle.lsp.rpc.errors import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    BadMessage,
    Refused,
    stack,
)
from turnbuckle.lsp.rpc.gate import Gate
from turnbuckle.lsp.rpc.messages import Messages, Raw

logger = logging.getLogger(__name__)

# Any: params are lsprotocol or pydantic values, by method.
RequestHandler: TypeAlias = Callable[[Any], Awaitable[object]]
NotificationHandler: TypeAlias = Callable[[Any], None]


class Incoming:
    """Sorts bodies and hands them to handlers; owns the requests that run."""

    def __init__(self, answers: Answers, questions: Questions, gate: Gate) -> None:
        self.answers = answers
        self.messages: Messages = Raw()
        self.requests: dict[str, RequestHandler] = {}
        self.notifications: dict[str, NotificationHandler] = {}
        self._questions = questions
        self._gate = gate

    def receive(self, body: bytes, group: TaskGroup) -> bool:
        """Handle one body; true if it started a request, as a task of the group."""
        try:
            value = decode(body)
        except ValueError:
            self._refuse(None, "the message is not JSON in UTF-8", PARSE_ERROR)
            return False
        match open_envelope(value):
            case Request() as request:
                return self._request(request, group)
            case Notification(method="$/cancelRequest", params={"id": int() | str() as identity}):
                self.answers.cancel(identity)
            case Notification() as notification:
                self._notification(notification)
            case Response() as response:
                self._response(response)
            case Invalid() as invalid:
                self._refuse(invalid.id, invalid.message, invalid.code)
        return False

    def _request(self, request: Request, group: TaskGroup) -> bool:
        handler = self.requests.get(request.method)
        if (refused := self._gate.refuses(request.method)) is not None:
            self.answers.refuse(request.id, refused)
        elif request.id in self.answers:
            self._refuse(request.id, "a request with this id has no answer yet", INVALID_REQUEST)
        elif handler is None:
            self._refuse(request.id, f"unknown method: {request.method[:200]}", METHOD_NOT_FOUND)
        elif self.answers.full(request.method):
            said = f"too many requests of {request.method} have no answer yet"
            self.answers.refuse(request.id, Refused(said, kind="overloaded", retryable=True))
        else:
            return self._start(request, handler, group)
        return False

    def _start(self, request: Request, handler: RequestHandler, group: TaskGroup) -> bool:
        try:
            params = self._params(request)
        except BadMessage as bad:
            self.answers.refuse(request.id, bad)
            return False
        self.answers.start(group, request.id, request.method, partial(handler, params))
        return True

    def _notification(self, notification: Notification) -> None:
        method = notification.method
        handler = self.notifications.get(method)
        if handler is None or self._gate.drops(method):
            logger.debug("nobody handles %s now", method[:200])
            return
        try:
            handler(self._params(notification))
        except BadMessage as bad:
            logger.warning("%s is ignored: %s", method, bad)
        except Exception as error:
            logger.error("%s failed\n%s", method, stack(error))  # noqa: TRY400 - no text of it

    def _params(self, message: Request | Notification) -> Any:  # Any: as in the port
        require_shallow(message.params, "params")
        return self.messages.params(message.method, message.params)

    def _response(self, response: Response) -> None:
        if not self._questions.settle(response) and not response.whole:
            self._refuse(response.id, "a message must have a method or a result", INVALID_REQUEST)

    def _refuse(self, identity: Id | None, message: str, code: int) -> None:
        self.answers.refuse(identity, Refused(message, code=code))
