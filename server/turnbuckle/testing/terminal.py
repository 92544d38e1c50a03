"""A pseudo-terminal with a program on it, for tests; POSIX only."""

import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from fcntl import ioctl
from pathlib import Path
from types import TracebackType
from typing import Self

_CONTROL = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[=>]|\r")

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")},
    "TERM": "xterm-256color",
    "PYTHONUTF8": "1",
}
"""An environment in which a program shows all that it can."""

TIME_LIMIT = 30.0
"""Seconds after which a test that waits has failed."""


def has_ended(pid_file: Path) -> bool:
    """Whether the process that wrote its id there is gone."""
    try:
        os.kill(int(pid_file.read_text(encoding="ascii")), 0)
    except ProcessLookupError:
        return True
    return False


class Terminal:
    """Runs a program on a terminal of its own; `raw` is what it wrote so far."""

    def __init__(
        self, argv: Sequence[str], *, env: Mapping[str, str], columns: int = 80, output: int = -1
    ) -> None:
        self.raw = b""
        self._seen = 0
        self._code: int | None = None
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            if output >= 0:
                os.dup2(output, 1)
            os.execve(argv[0], list(argv), dict(env))
        ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self.hang_up()

    @property
    def text(self) -> str:
        """What it wrote, without control sequences; what was drawn again stands there again."""
        return _CONTROL.sub(b"", self.raw).decode("utf-8", "replace")

    def echoes(self) -> bool:
        """Whether the terminal shows by itself what is typed."""
        return bool(termios.tcgetattr(self._master)[3] & termios.ECHO)

    def until(self, wanted: str | re.Pattern[str]) -> None:
        """Wait until it has written this, since the last wait."""
        pattern = re.compile(re.escape(wanted)) if isinstance(wanted, str) else wanted
        deadline = time.monotonic() + TIME_LIMIT
        while (match := pattern.search(self.text, self._seen)) is None:
            assert time.monotonic() < deadline, f"{wanted!r} did not come in {self.text!r}"
            assert self._read(deadline), f"it ended without {wanted!r}: {self.text!r}"
        self._seen = match.end()

    def send(self, keys: str) -> None:
        """Type."""
        os.write(self._master, keys.encode())

    def signal(self, number: int) -> None:
        """Send a signal to the program."""
        os.kill(self.pid, number)

    def end(self) -> int:
        """Wait for the end of the program, and give its exit code."""
        deadline = time.monotonic() + TIME_LIMIT
        while self._master >= 0 and self._read(deadline):
            pass
        assert time.monotonic() < deadline, f"it does not end: {self.text!r}"
        _, status = os.waitpid(self.pid, 0)
        self._code = os.waitstatus_to_exitcode(status)
        return self._code

    def hang_up(self) -> None:
        """Take the terminal away."""
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(deadline - time.monotonic(), 0))
        try:
            data = os.read(self._master, 65536) if ready else b""
        except OSError:  # the last program on it has ended
            return False
        self.raw += data
        return bool(data)
