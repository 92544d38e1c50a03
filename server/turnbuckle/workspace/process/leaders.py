"""How a command is begun, so that whatever happens to us, nothing of it stays behind."""

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    suppress,
)
from dataclasses import dataclass
from pathlib import Path
from socket import socket, socketpair
from subprocess import DEVNULL, STDOUT
from typing import Protocol, TypeAlias

import anyio
from anyio import to_thread
from anyio.abc import Process

from turnbuckle.workspace.process import keeper
from turnbuckle.workspace.process.environment import MARK
from turnbuckle.workspace.process.survivors import Family
from turnbuckle.workspace.process.watcher import Watcher

_READ, _WAKE = 4096, 0.1


class Leader(Protocol):
    """The process that was asked for; a `returncode` below 0 is a signal's."""

    @property
    def returncode(self) -> int | None:
        """How it ended; None while it has not."""
        ...

    async def wait(self) -> int:
        """Wait until it has ended."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What is to be begun: arguments, folder, environment with the mark, where its output goes."""

    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    output: int


Begun: TypeAlias = AbstractAsyncContextManager[tuple[Leader, Family]]
Begin: TypeAlias = Callable[[Start], Begun]
"""Begins something; where it is left, the rest is ended if that has not happened yet.

Raises OSError where it cannot be started.
"""


@asynccontextmanager
async def watched(start: Start) -> AsyncIterator[tuple[Leader, Family]]:
    """Begin a program with a watcher beside it, which acts when we die."""
    with Watcher(mark := start.environment[MARK]) as watcher:
        process = await _spawned(start, start.argv, DEVNULL)
        watcher.watch(process.pid)
        yield process, Family(process.pid, mark)


@asynccontextmanager
async def kept(start: Start, python: str = sys.executable) -> AsyncIterator[tuple[Leader, Family]]:
    """Begin a program under a keeper, which nothing that it starts gets away from.

    Where no keeper can be had, as in a Python that does not start by itself, it is only watched.
    """
    async with AsyncExitStack() as undo:
        try:
            begun = await undo.enter_async_context(_under_keeper(start, python))
        except _NoKeeper:
            begun = await undo.enter_async_context(watched(start))
        yield begun


@asynccontextmanager
async def _under_keeper(start: Start, python: str) -> AsyncIterator[tuple[Leader, Family]]:
    if not (os.access(python, os.X_OK) and os.access(keeper.__file__, os.R_OK)):
        raise _NoKeeper
    ours, theirs = socketpair()
    with ours:
        with theirs:
            program = [python, "-I", "-S", keeper.__file__]
            process = await _spawned(start, [*program, *start.argv], theirs.fileno())
        ours.setblocking(False)
        try:
            leader = _Kept(ours)
            pid = await leader.begun()
            if pid is None and await process.wait() > 0:
                raise _NoKeeper
            if pid is None:  # then it has not run
                raise OSError("its keeper was killed")
            yield leader, Family(pid, start.environment[MARK], process.pid)
        finally:
            ours.close()
            await _ended(process)


async def _ended(process: Process) -> None:
    """Wait until a keeper has ended itself, which it does when it has nothing more to keep."""
    with anyio.CancelScope(shield=True):
        with anyio.move_on_after(keeper.STUCK):
            while process.returncode is None:
                if sys.platform != "win32":
                    # A command may have stopped it. Popen's own way of sending a signal looks
                    # first whether it has ended, and takes the end away from who waits for it.
                    with suppress(ProcessLookupError):
                        os.kill(process.pid, signal.SIGCONT)
                with anyio.move_on_after(_WAKE):
                    await process.wait()
        if process.returncode is None:
            await to_thread.run_sync(keeper.kill_below, process.pid)
            process.kill()
            await process.wait()


class _NoKeeper(Exception):
    """Nothing has begun, since what was to be its parent cannot."""


begin: Begin = kept if sys.platform == "linux" else watched
"""How what may start anything at all is begun."""


async def _spawned(start: Start, argv: Sequence[str], stdin: int) -> Process:
    process: Process
    # Half a start would leave a process that nobody knows.
    with anyio.CancelScope(shield=True):
        process = await anyio.open_process(
            argv,
            cwd=start.cwd,
            env=start.environment,
            stdin=stdin,
            stdout=start.output,
            stderr=STDOUT,
            start_new_session=True,
        )
    return process


class _Kept:
    """What a keeper tells of the program that it has begun; one task may wait at a time."""

    def __init__(self, line: socket) -> None:
        self._line = line
        self._heard = b""
        self._over = False
        self._told: dict[str, int] = {}

    @property
    def returncode(self) -> int | None:
        # With its keeper the program is killed too.
        return self._told.get("exit", -9 if self._over else None)

    async def begun(self) -> int | None:
        """The id of the program, once it runs; None where its keeper has ended before that.

        Raises:
            OSError: it could not be started.
        """
        while not (self._told.keys() & {"runs", "error"} or self._over):
            await self._hear()
        if "error" in self._told:
            number = self._told["error"]
            raise OSError(number, os.strerror(number))
        return self._told.get("pid")

    async def wait(self) -> int:
        """Wait until the program has ended, and say how."""
        while (code := self.returncode) is None:
            await self._hear()
        return code

    async def _hear(self) -> None:
        await anyio.wait_readable(self._line)
        try:
            data = self._line.recv(_READ)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        self._over = not data
        *lines, self._heard = (self._heard + data).split(b"\n")
        for line in lines:
            what, number = line.split()
            self._told[what.decode()] = int(number)
