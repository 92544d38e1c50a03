"""What is left of a command when it should be over: found by kin, group and mark, and ended."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass

from turnbuckle.workspace.process.environment import MARK
from turnbuckle.workspace.process.keeper import kill_below, processes
from turnbuckle.workspace.process.programs import of_windows

GRACE = 0.2
"""Seconds that what survives has between being asked to end and being killed."""

_ROUNDS = 20  # a process that forks while it is looked for is found in a later round


@dataclass(frozen=True, slots=True)
class Left:
    """Command lines of what was left: `ended`, and what went on in spite of all that."""

    ended: tuple[str, ...] = ()
    going: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Family:
    """A leader (also the id of its group) and all that it started.

    Under a keeper, whatever it started is found, wherever it went. Without one, everywhere the
    members of its group are found; on Linux also those that left the group, by the mark in the
    environment that they inherited. There, a child that leaves its group with an environment of its
    own making gets away.
    """

    leader: int
    mark: str
    keeper: int | None = None

    def signal(self, *, kill: bool) -> None:
        """Ask the group to end, or kill it; a keeper that was stopped is woken."""
        if sys.platform == "win32":
            if kill:
                argv = [of_windows("taskkill.exe"), "/t", "/f", "/pid", str(self.leader)]
                subprocess.run(argv, check=False, capture_output=True)
        else:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                for number in _signals(kill=kill):
                    os.killpg(self.leader, number)
            if self.keeper is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.keeper, signal.SIGCONT)

    def members(self) -> dict[int, str]:
        """Those that live, by their ids, with their command lines; none where there is no /proc."""
        mark = f"{MARK}={self.mark}".encode()
        found: dict[int, str] = {}
        alive = processes()
        kin = _below(self.keeper, alive) if self.keeper is not None else set()
        for pid, (_, group, lives) in alive.items():
            if pid == self.keeper or not lives:
                continue
            # A process may end, or belong to somebody else, while it is looked at.
            with contextlib.suppress(OSError):
                if pid in kin or group == self.leader or mark in _proc(pid, "environ").split(b"\0"):
                    words = _proc(pid, "cmdline").replace(b"\0", b" ")
                    found[pid] = words.decode("utf-8", "replace").strip()
        return found

    def end(self) -> Left:
        """Ask all of them to end, then kill the rest; gives the command lines of who was there.

        Blocks for up to the grace, and for as long as new ones come: call it in a thread.
        """
        found = self.members()
        self._ask(found)
        self.signal(kill=True)
        if self.keeper is not None:
            kill_below(self.keeper)
        for _ in range(_ROUNDS):
            if not (left := self.members()):
                break
            for pid in left:
                _send(pid, kill=True)
            time.sleep(0.005)
        else:
            left = self.members()
        ended = tuple(words for pid, words in found.items() if pid not in left)
        return Left(ended, tuple(left.values()))

    def _ask(self, found: Mapping[int, str]) -> None:
        if not found:
            return
        self.signal(kill=False)
        for pid in found:
            _send(pid, kill=False)
        until = time.monotonic() + GRACE
        while self.members() and time.monotonic() < until:
            time.sleep(0.01)


def _below(root: int, alive: Mapping[int, tuple[int, int, bool]]) -> set[int]:
    """Whatever descends from a process."""
    children: dict[int, list[int]] = {}
    for pid, (parent, _, _) in alive.items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    waiting = [root]
    while waiting:
        new = [pid for pid in children.get(waiting.pop(), ()) if pid not in found]
        found.update(new)
        waiting += new
    return found


def _proc(pid: int, name: str) -> bytes:
    with open(f"/proc/{pid}/{name}", "rb", 0) as file:  # noqa: PTH123 - hot
        return file.read()


def _send(pid: int, *, kill: bool) -> None:
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            for number in _signals(kill=kill):
                os.kill(pid, number)


def _signals(*, kill: bool) -> tuple[signal.Signals, ...]:
    """What ends a process, or asks it to; who has been stopped has to be woken to hear that."""
    if sys.platform == "win32":
        return (signal.SIGTERM,)
    else:  # noqa: RET505 - what belongs to another system must stand in a branch of its own
        return (signal.SIGKILL,) if kill else (signal.SIGTERM, signal.SIGCONT)
