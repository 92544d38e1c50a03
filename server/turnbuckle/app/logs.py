"""The server's own log: to standard error, and without secrets and the texts of exceptions."""

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from types import TracebackType
from typing import TypeAlias

from turnbuckle.lsp.rpc.errors import stack
from turnbuckle.workspace.variables import holds_secret

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")

logger = logging.getLogger(__name__)

Held: TypeAlias = Callable[[], Iterable[str]]
Raised: TypeAlias = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
)


class Discreet(logging.Formatter):
    """Makes lines without secrets. `held` gives those that are known by their text.

    Of an exception only its type and where it came from are told: its text, and the values that
    pydantic and others put into it, may be what a message, a file or a model said.
    """

    def __init__(self, held: Held) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self.held = held

    def format(self, record: logging.LogRecord) -> str:
        """One record, whatever it is made of."""
        # Imported late: a server that says nothing needs none of it.
        from turnbuckle.session.redacting import redacted

        # Others get the record as it is; what one has cached may hold the text of the exception.
        record = copy(record)
        record.exc_text = None
        if record.name == "asyncio":
            # It shows callbacks with their arguments, which may be the bytes of a message.
            head = record.getMessage().partition("\n")[0].partition("<")[0].partition("(")[0]
            record.msg, record.args = f"{head.strip()} (what with is not shown)", ()
        return redacted(super().format(record), self.held())

    # The name is logging's own.
    def formatException(self, ei: Raised) -> str:  # noqa: N802
        """Where an exception came from."""
        return stack(ei[1]) if ei[1] is not None else ""


def log_to_standard_error(env: Mapping[str, str]) -> Discreet:
    """Set up logging for a process that serves, what nothing catches included."""
    secrets = tuple(value for name, value in env.items() if holds_secret(name, value))
    discreet = Discreet(lambda: secrets)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(discreet)
    level = os.environ.get("TURNBUCKLE_LOG", "WARNING").upper()
    logging.basicConfig(handlers=[handler], level=level if level in LEVELS else "WARNING")
    # They write URLs, headers and bodies, which are nobody's business in a log.
    for name in ("httpx", "httpcore", "hpack", "asyncio"):
        logging.getLogger(name).setLevel(logging.WARNING)
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread
    sys.unraisablehook = _unraisable
    return discreet


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        return
    logger.critical("the server ends, as nothing caught this\n%s", stack(error))


def _uncaught_in_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None:
        logger.error("a thread ended, as nothing caught this\n%s", stack(args.exc_value))


def _unraisable(args: "sys.UnraisableHookArgs") -> None:
    if args.exc_value is not None:
        logger.error("this could not be raised\n%s", stack(args.exc_value))
