"""What can go wrong between two ends of the wire.

Refused                 a request that we cannot do; becomes its error answer
└─ BadMessage           params or a result whose shape is wrong; names the field
NoAnswer                a request of ours that got no usable answer
└─ PeerRefused          the peer answered it with an error
"""

import traceback
from collections.abc import Iterator

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR, NOT_INITIALIZED, REQUEST_FAILED, CANCELLED = -32603, -32002, -32803, -32800


class Refused(Exception):
    """A request cannot be done; becomes its error answer.

    `code` is a JSON-RPC error code, −32803 for refusals of the domain; `data` is `{kind, retryable,
    …}` for those.
    """

    def __init__(self, message: str, *, code: int = REQUEST_FAILED, **data: object) -> None:
        super().__init__(message)
        self.code = code
        self.data = data or None


class BadMessage(Refused):
    """Params or a result of the wrong shape; the text is `field: reason`, without any value."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, code=INVALID_PARAMS)


class NoAnswer(Exception):
    """A request of ours got no usable answer: an error, the wrong shape, none in time, or no peer.

    `said` is what the peer gave as its reason.
    """

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.said = said


class PeerRefused(NoAnswer):
    """The peer answered with an error; `data` is whatever JSON it added."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def stack(error: BaseException) -> str:
    """Where an error came from, for our log: types and lines, never its text.

    The text of an exception may hold what a message said; our log must not.
    """
    return "\n".join(_stack(error, set()))


def _stack(error: BaseException, seen: set[int]) -> Iterator[str]:
    if id(error) in seen:
        return
    seen.add(id(error))
    if (before := error.__cause__ or error.__context__) is not None:
        yield from _stack(before, seen)
        yield "then"
    yield type(error).__qualname__
    yield from (line.rstrip() for line in traceback.format_tb(error.__traceback__))
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            yield from _stack(member, seen)
