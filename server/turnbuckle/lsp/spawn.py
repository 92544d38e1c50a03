"""A server as a child process: started in a group of its own, and always ended."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio.abc import Process

END_TIME = 8.0
"""Seconds that a server has to end by itself once it is told to, or has lost its client."""

TAIL = 64 * 1024
"""How much of a server's standard error is kept, in bytes."""


class ServerProcess:
    """A running server; `incoming` and `outgoing` are our ends of its two pipes."""

    def __init__(self, process: Process, incoming: int, outgoing: int) -> None:
        self.incoming = incoming
        self.outgoing = outgoing
        self._process = process
        self._tail = bytearray()

    @property
    def pid(self) -> int:
        """Its process id, which is that of its group too."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its exit code; −n after signal n, None while it runs."""
        return self._process.returncode

    @property
    def stderr(self) -> str:
        """The end of what it wrote to standard error, unless that went elsewhere."""
        return self._tail.decode("utf-8", "replace")

    async def end(self, limit: float = END_TIME) -> int:
        """Wait for its end, and kill it and its children after `limit` seconds."""
        with anyio.move_on_after(limit):
            return await self._process.wait()
        self.kill()
        return await self._process.wait()

    def kill(self) -> None:
        """Kill it and its children, now."""
        if self.returncode is not None:
            return
        if sys.platform == "win32":
            self._process.kill()
        else:
            os.killpg(self.pid, signal.SIGKILL)

    async def collect(self) -> None:
        """Keep the end of its standard error, until that is closed."""
        if self._process.stderr is None:
            return
        async for data in self._process.stderr:
            self._tail += data
            del self._tail[:-TAIL]


@asynccontextmanager
async def spawned(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stderr: int | None = None,
) -> AsyncIterator[ServerProcess]:
    """A server process that has ended when the block is left.

    Whoever takes its pipes closes them. `env` replaces the environment; `stderr` is a descriptor,
    or None to collect the end of it.

    Raises:
        OSError: it cannot be started.
    """
    server = await _start(argv, env, cwd, subprocess.PIPE if stderr is None else stderr)
    async with anyio.create_task_group() as group:
        group.start_soon(server.collect)
        try:
            yield server
        finally:
            with anyio.CancelScope(shield=True):
                await server.end()
                group.cancel_scope.cancel()
                await server._process.aclose()  # noqa: SLF001 - this module's own


async def _start(
    argv: Sequence[str], env: Mapping[str, str] | None, cwd: Path | None, stderr: int
) -> ServerProcess:
    its_input, outgoing = os.pipe()
    incoming, its_output = os.pipe()
    try:
        process = await anyio.open_process(
            list(argv),
            stdin=its_input,
            stdout=its_output,
            stderr=stderr,
            env=env,
            cwd=cwd,
            start_new_session=sys.platform != "win32",
            creationflags=_new_group(),
        )
    except BaseException:
        os.close(incoming)
        os.close(outgoing)
        raise
    finally:
        os.close(its_input)
        os.close(its_output)
    return ServerProcess(process, incoming, outgoing)


def _new_group() -> int:
    if sys.platform == "win32":
        return subprocess.CREATE_NEW_PROCESS_GROUP
    else:  # noqa: RET505 - what belongs to another system must stand in a branch of its own
        return 0
