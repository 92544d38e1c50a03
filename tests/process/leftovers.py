"""What still runs that has to do with a folder, seen in the list of all processes."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.lowlevel

DEADLINE = 20.0
"""Seconds after which what still runs counts as left behind, on a machine that does much else."""


def running(folder: Path, *more: str) -> dict[int, str]:
    """Processes that have to do with a folder, by id, with their words; none where there is no /proc.

    It is their working folder, one of their open files, or stands in their environment or their
    words; so does any of `more`. This process is none of them.
    """
    wanted = [os.fsencode(folder), *map(os.fsencode, more)]
    return {
        pid: words.replace(b"\0", b" ").decode("utf-8", "replace").strip()
        for pid in _others()
        if any(one in told for told in _told(pid) for one in wanted) and _lives(pid)
        for words in [_read(pid, "cmdline")]
    }


async def require_none(folder: Path, *more: str) -> None:
    """Return once nothing runs any more that has to do with a folder, as in `running`.

    Raises:
        AssertionError: something goes on.
    """
    with anyio.move_on_after(DEADLINE):
        while found := running(folder, *more):
            for pid in found:
                await ended(pid)
        return
    raise AssertionError(f"left behind: {running(folder, *more)}")


async def until_running(folder: Path, text: str) -> int:
    """Wait until something runs there whose words hold a text; its id."""
    with anyio.fail_after(DEADLINE):
        while True:
            for pid, words in running(folder).items():
                if text in words:
                    return pid
            await anyio.lowlevel.checkpoint()


async def ended(pid: int) -> None:
    """Wait until a process has ended, whoever started it."""
    if sys.platform == "linux":
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        try:
            await anyio.wait_readable(descriptor)
        finally:
            os.close(descriptor)


class Held:
    """A pipe that the processes of a command hold open: it ends when the last of them has."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "held"
        self.seen = b""
        os.mkfifo(self.path)
        self.fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)

    @property
    def hold(self) -> str:
        """Shell text after which everything holds the pipe."""
        return f"exec 9>'{self.path}'; "

    async def ready(self, *names: str) -> None:
        """Wait until each of them has said that it is there, on a line of its own."""
        missing = set(names)
        with anyio.move_on_after(DEADLINE):
            while missing := missing - set(self.seen.decode().splitlines()):
                if await self._more() is False:
                    await anyio.wait_readable(self.fd)
        assert not missing, f"not there: {missing}"

    async def let_go(self) -> None:
        """Wait until nobody holds it any more."""
        with anyio.fail_after(DEADLINE):
            while await self._more() is not False:
                pass

    async def _more(self) -> bool | None:
        """Take what has come; False where nobody holds it, None where there is nothing now."""
        await anyio.lowlevel.checkpoint()
        try:
            more = os.read(self.fd, 4096)
        except BlockingIOError:
            await anyio.wait_readable(self.fd)
            return None
        self.seen += more
        return bool(more)

    def close(self) -> None:
        """Look no more."""
        os.close(self.fd)


def _others() -> Iterator[int]:
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):  # noqa: PTH208 - hot
            if name.isdigit() and int(name) != os.getpid():
                yield int(name)


def _told(pid: int) -> Iterator[bytes]:
    yield _read(pid, "environ")
    yield _read(pid, "cmdline")
    with contextlib.suppress(OSError):
        yield os.fsencode(os.readlink(f"/proc/{pid}/cwd"))  # noqa: PTH115 - hot
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - hot
            with contextlib.suppress(OSError):
                yield os.fsencode(os.readlink(f"/proc/{pid}/fd/{name}"))  # noqa: PTH115 - hot


def _lives(pid: int) -> bool:
    return _read(pid, "stat").rpartition(b") ")[2][:1] not in (b"", b"Z", b"X")


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""  # it has ended, or is another's
