"""What a session cannot do, in the terms of the wire."""

from collections.abc import Iterator
from contextlib import contextmanager

from turnbuckle.agent.sessions import SessionNotFound, SessionUnreadable
from turnbuckle.lsp.rpc import Refused
from turnbuckle.session.store import StoreFailed


@contextmanager
def refusing() -> Iterator[None]:
    """Turn the failures of sessions and of their files into refusals, each with its `kind`.

    Raises:
        Refused: in place of what was raised.
    """
    try:
        yield
    except SessionNotFound as error:
        raise Refused(str(error), kind="sessionNotFound", retryable=False) from error
    except SessionUnreadable as error:
        raise Refused(str(error), kind="sessionUnreadable", retryable=False) from error
    except StoreFailed as error:
        raise Refused(str(error), kind="store", retryable=True) from error
