"""Run a command to its end, or end it."""

import contextlib
import os
import secrets
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.lowlevel
from anyio import to_thread

from turnbuckle.workspace.process.environment import Shell, child_environment, find_shell
from turnbuckle.workspace.process.leaders import Begin, Leader, Start, begin, watched
from turnbuckle.workspace.process.output import Kept, Output
from turnbuckle.workspace.process.survivors import Family, Left

GRACE = 0.2
"""Seconds in which output may still come when the leader has ended."""

ASKED = 0.5
"""Seconds that a leader has between being asked to end and being killed."""

STUCK = 5.0
"""Seconds after which a process that cannot even be killed is left to the system."""

_READ = 64 * 1024


class NotStarted(Exception):
    """A program could not be started; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How it ended: `exit_code` is None where it was stopped, 128 + n for a signal n.

    `left` are the command lines of what still ran in the background, and was ended; `going` are
    those of what could not be ended, since it has become another user's or hangs in the system.
    """

    exit_code: int | None
    output: Kept
    timed_out: bool = False
    left: tuple[str, ...] = ()
    going: tuple[str, ...] = ()


async def run(
    command: str,
    *,
    cwd: Path,
    timeout: float,
    output: Output,
    shell: Shell | None = None,
    extra: Mapping[str, str] | None = None,
) -> Finished:
    """Run a command line in a shell; as `run_argv`, and on Linux nothing at all gets away."""
    argv = (shell or find_shell()).argv(command)
    child = _started(argv, cwd, extra, begin)
    return await _through(child, timeout, output)


async def run_argv(
    argv: Sequence[str],
    *,
    cwd: Path,
    timeout: float,
    output: Output,
    extra: Mapping[str, str] | None = None,
    until_cut: bool = False,
) -> Finished:
    """Run a program without input until it ends, or for `timeout` seconds.

    It is over when its leader has ended; what that left behind is ended too, on every way out, also
    when this process is killed. With `until_cut` it is stopped once more came than is kept.
    Cancelled, it leaves the output so far to the caller, to finish or to discard.

    Raises:
        NotStarted: there is no such program or folder, or the system refused.
    """
    child = _started(argv, cwd, extra, watched)
    return await _through(child, timeout, output, until_cut=until_cut)


async def _through(
    started: AbstractAsyncContextManager["_Child"],
    timeout: float,
    output: Output,
    *,
    until_cut: bool = False,
) -> Finished:
    try:
        async with started as child:
            timed_out = await _attend(child, output, timeout, until_cut=until_cut)
        return Finished(
            exit_code=None if child.stopped else child.exit_code,
            output=await output.finish(),
            timed_out=timed_out,
            left=() if child.stopped else child.left.ended,
            going=child.left.going,
        )
    except NotStarted:
        await output.discard()
        raise


@dataclass(slots=True)
class _Child:
    leader: Leader
    pipe: int
    family: Family
    drained: anyio.Event = field(default_factory=anyio.Event)
    over: bool = False
    stopped: bool = False
    left: Left = field(default_factory=Left)

    @property
    def exit_code(self) -> int | None:
        code = self.leader.returncode
        return 128 - code if code is not None and code < 0 else code

    async def end(self) -> None:
        """End all of it, shielded: from here on nothing of it may go on."""
        with anyio.CancelScope(shield=True):
            if self.over:
                return
            self.over = True
            if self.leader.returncode is None:
                self.stopped = True
                self.family.signal(kill=False)
                with anyio.move_on_after(ASKED):
                    await self.leader.wait()
            if self.leader.returncode is not None:
                with anyio.move_on_after(GRACE):
                    await self.drained.wait()
            self.left = await to_thread.run_sync(self.family.end)
            with anyio.move_on_after(GRACE):
                await self.drained.wait()
            with anyio.move_on_after(STUCK):
                await self.leader.wait()


@contextlib.asynccontextmanager
async def _started(
    argv: Sequence[str], cwd: Path, extra: Mapping[str, str] | None, begin: Begin
) -> AsyncIterator[_Child]:
    mark = secrets.token_hex(16)
    environment = child_environment(os.environ, cwd, mark, extra)
    async with contextlib.AsyncExitStack() as undo:
        pipe, theirs = os.pipe()
        undo.callback(os.close, pipe)
        start = Start(argv=argv, cwd=cwd, environment=environment, output=theirs)
        try:
            leader, family = await undo.enter_async_context(begin(start))
        except OSError as error:
            raise NotStarted(_reason(error, argv, cwd)) from error
        finally:
            os.close(theirs)
        child = _Child(leader, pipe, family)
        try:
            yield child
        finally:
            await child.end()


def _reason(error: OSError, argv: Sequence[str], cwd: Path) -> str:
    if not cwd.is_dir():
        return f"there is no folder {cwd}"
    return f"{argv[0]} could not be started: {error.strerror or error}"


async def _attend(child: _Child, output: Output, timeout: float, *, until_cut: bool) -> bool:
    """Take what it writes until it ends, and see to it that it does; whether its time ran out."""
    limit = anyio.CancelScope(deadline=anyio.current_time() + timeout)
    async with anyio.create_task_group() as group:
        group.start_soon(_pump, child, output, limit if until_cut else None)
        with limit:
            await child.leader.wait()
        await child.end()
        group.cancel_scope.cancel()
    return limit.cancelled_caught and not (until_cut and output.cut)


async def _pump(child: _Child, output: Output, enough: anyio.CancelScope | None) -> None:
    try:
        while data := await _read(child.pipe):
            await output.take(data)
            if enough is not None and output.cut:
                enough.cancel()
            await anyio.lowlevel.checkpoint()
    finally:
        child.drained.set()


async def _read(pipe: int) -> bytes:
    """What has come; empty once nobody can write any more."""
    if sys.platform == "win32":
        return await to_thread.run_sync(os.read, pipe, _READ, abandon_on_cancel=True)
    else:  # noqa: RET505 - what belongs to another system must stand in a branch of its own
        os.set_blocking(pipe, False)
        while True:
            try:
                return os.read(pipe, _READ)
            except BlockingIOError:
                await anyio.wait_readable(pipe)
