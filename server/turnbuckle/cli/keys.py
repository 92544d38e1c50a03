"""What is typed at the terminal, read without holding up the event loop."""

import codecs
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol, TextIO

import anyio


class Keys(Protocol):
    """A terminal's keyboard."""

    async def read(self) -> str:
        """The next keys, as soon as there are any; `""` when the terminal is gone."""
        ...

    def forget(self) -> None:
        """Drop what was typed and not read: it was not meant for what is asked now."""
        ...


if sys.platform == "win32":
    import msvcrt
    import signal

    from anyio import to_thread

    class _Console:
        async def read(self) -> str:
            # The thread is left behind where the wait is cancelled; it takes one key with it.
            return await to_thread.run_sync(self._key, abandon_on_cancel=True)

        def _key(self) -> str:
            key = msvcrt.getwch()
            if key in ("\x00", "\xe0"):  # an arrow or a function key, in two parts
                msvcrt.getwch()
                return "\x1b"
            if key == "\x03":
                signal.raise_signal(signal.SIGINT)
                return "\x1b"
            return "\x04" if key == "\x1a" else key

        def forget(self) -> None:
            while msvcrt.kbhit():
                msvcrt.getwch()

    class _Lines:
        def __init__(self, stdin: TextIO) -> None:
            self._stdin = stdin

        async def read(self) -> str:
            return await to_thread.run_sync(self._stdin.readline, abandon_on_cancel=True)

        def forget(self) -> None:
            """Whoever wrote it meant all of it."""

    def piped(stdin: TextIO) -> Keys:
        """What comes through a pipe or from a file."""
        return _Lines(stdin)

    @contextmanager
    def keyboard(stdin: TextIO | None, *, quiet: bool) -> Iterator[Keys | None]:
        """The keyboard, None where nobody can type; `quiet` says that we show what is typed."""
        yield _Console() if stdin is not None and stdin.isatty() else None

else:
    import termios

    class _Descriptor:
        def __init__(self, descriptor: int) -> None:
            self._descriptor = descriptor
            self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

        async def read(self) -> str:
            while True:
                with suppress(PermissionError):  # a file can always be read
                    await anyio.wait_readable(self._descriptor)
                try:
                    data = os.read(self._descriptor, 4096)
                except OSError:  # the terminal was closed
                    return ""
                if keys := self._decoder.decode(data, final=not data):
                    return keys
                if not data:
                    return ""

        def forget(self) -> None:
            self._decoder.reset()
            with suppress(termios.error):
                termios.tcflush(self._descriptor, termios.TCIFLUSH)

    def piped(stdin: TextIO) -> Keys:
        """What comes through a pipe or from a file."""
        return _Descriptor(stdin.fileno())

    @contextmanager
    def keyboard(stdin: TextIO | None, *, quiet: bool) -> Iterator[Keys | None]:
        """The keyboard, None where nobody can type; `quiet` says that we show what is typed."""
        if stdin is None or not stdin.isatty():
            yield None
            return
        descriptor = stdin.fileno()
        if os.tcgetpgrp(descriptor) != os.getpgrp():  # in the background, reading would stop us
            yield None
            return
        before = termios.tcgetattr(descriptor)
        if quiet:
            attributes = termios.tcgetattr(descriptor)
            attributes[3] &= ~(termios.ECHO | termios.ICANON)
            termios.tcsetattr(descriptor, termios.TCSANOW, attributes)
        try:
            yield _Descriptor(descriptor)
        finally:
            with suppress(termios.error):  # the terminal may be gone
                termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
