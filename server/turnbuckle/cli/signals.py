"""Signals in the event loop: the first Ctrl-C stops what runs, the next one leaves."""

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import anyio

if sys.platform == "win32":
    _NUMBERS = (signal.SIGINT, signal.SIGTERM)
else:
    _NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Leave:
    """How the program is left from outside.

    `interrupt` is what the next Ctrl-C does instead of leaving; `hurry` is called when we leave.
    `code` is the exit code then, None while nobody wants to leave.
    """

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.code: int | None = None
        self.interrupt: Callable[[], None] | None = None
        self.hurry: Callable[[], None] | None = None

    def leave(self, code: int) -> None:
        """Leave now; the first reason counts."""
        if self.code is None:
            self.code = code
            self.scope.cancel()
        if self.hurry is not None:
            self.hurry()

    def heed(self, number: int) -> None:
        """Take a signal."""
        if number == signal.SIGINT and self.interrupt is not None:
            interrupt, self.interrupt = self.interrupt, None
            interrupt()
        else:
            self.leave(128 + number)


@contextmanager
def heeding(leave: Leave) -> Iterator[None]:
    """Have signals go to `leave`; those that our parent has us ignore stay ignored."""
    loop = asyncio.get_running_loop()
    taken = [number for number in _NUMBERS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.getsignal(number) for number in taken}

    def later(number: int, _: FrameType | None) -> None:
        loop.call_soon_threadsafe(leave.heed, number)

    for number in taken:
        if sys.platform == "win32":
            signal.signal(number, later)
        else:
            loop.add_signal_handler(number, leave.heed, number)
    try:
        yield
    finally:
        for number, handler in before.items():
            if sys.platform != "win32":
                loop.remove_signal_handler(number)
            signal.signal(number, handler)
