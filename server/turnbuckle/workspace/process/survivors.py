"""What is left of a command when it should be over: found by group and by mark, and ended."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

from turnbuckle.workspace.process.environment import MARK

GRACE = 0.2
"""Seconds that what survives has between being asked to end and being killed."""

_ROUNDS = 20  # a process that forks while it is looked for is found in a later round


@dataclass(frozen=True, slots=True)
class Family:
    """A leader (also the id of its group) and all that it started.

    Everywhere, the members of its group are found; on Linux also those that left the group, by the
    mark in the environment that they inherited. A child that leaves its group with an environment
    of its own making gets away.
    """

    leader: int
    mark: str

    def signal(self, *, kill: bool) -> None:
        """Ask the group to end, or kill it."""
        if sys.platform == "win32":
            if kill:
                argv = ["taskkill", "/t", "/f", "/pid", str(self.leader)]
                subprocess.run(argv, check=False, capture_output=True)
        else:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.leader, signal.SIGKILL if kill else signal.SIGTERM)

    def members(self) -> dict[int, str]:
        """Those that live, by their ids, with their command lines; none where there is no /proc."""
        mark = f"{MARK}={self.mark}".encode()
        found: dict[int, str] = {}
        for pid in _processes():
            # A process may end, or belong to somebody else, while it is looked at.
            with contextlib.suppress(OSError, ValueError, IndexError):
                if mark in _proc(pid, "environ").split(b"\0") or self._in_group(pid):
                    words = _proc(pid, "cmdline").replace(b"\0", b" ")
                    found[pid] = words.decode("utf-8", "replace").strip()
        return found

    def _in_group(self, pid: int) -> bool:
        state, _, group = _proc(pid, "stat").rpartition(b") ")[2].split()[:3]
        return int(group) == self.leader and state not in b"ZX"

    def end(self) -> tuple[str, ...]:
        """Ask all of them to end, then kill the rest; gives the command lines of who was there.

        Blocks for up to the grace: call it in a thread.
        """
        found = self.members()
        self._ask(found)
        self.signal(kill=True)
        for _ in range(_ROUNDS):
            left = self.members()
            if not left:
                break
            for pid in left:
                _kill(pid, kill=True)
            time.sleep(0.005)
        return tuple(found.values())

    def _ask(self, found: dict[int, str]) -> None:
        if not found:
            return
        self.signal(kill=False)
        for pid in found:
            _kill(pid, kill=False)
        until = time.monotonic() + GRACE
        while self.members() and time.monotonic() < until:
            time.sleep(0.01)


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - hot
    except OSError:
        return []


def _proc(pid: int, name: str) -> bytes:
    with open(f"/proc/{pid}/{name}", "rb", 0) as file:  # noqa: PTH123 - hot
        return file.read()


def _kill(pid: int, *, kill: bool) -> None:
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL if kill else signal.SIGTERM)
