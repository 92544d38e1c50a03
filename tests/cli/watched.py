"""A terminal on which the chat runs with the real server, looked at as a person does."""

import fcntl
import os
import re
import struct
import sys
import termios
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pyte

from turnbuckle.testing.modelserver import ModelServer, Play
from turnbuckle.testing.terminal import ENVIRONMENT, Terminal

LIMIT = 30.0
"""Seconds after which a test that waits has failed."""

ROWS, COLUMNS = 24, 80


class Watched:
    """A chat; what stands on its terminal is waited for. `work` is the folder that it runs in."""

    def __init__(self, terminal: Terminal, work: Path, columns: int = COLUMNS) -> None:
        self.terminal = terminal
        self.work = work
        # Any: the emulator says nothing about the types of its characters.
        self.screen: Any = pyte.HistoryScreen(columns, ROWS, history=2_000)
        self._stream = pyte.ByteStream(self.screen)
        self._fed = 0

    @property
    def rows(self) -> list[str]:
        """What stands on the terminal, without what has scrolled away."""
        return [row.rstrip() for row in self.screen.display]

    @property
    def all(self) -> str:
        """What stands on the terminal, and what has scrolled away."""
        gone = [
            "".join(row[column].data for column in range(self.screen.columns)).rstrip()
            for row in self.screen.history.top
        ]
        return "\n".join([*gone, *self.rows])

    async def until(self, wanted: str | re.Pattern[str], *, last: int = ROWS) -> None:
        """Wait until this can be read in the last rows that are in use."""
        pattern = re.compile(re.escape(wanted)) if isinstance(wanted, str) else wanted
        with anyio.move_on_after(LIMIT):
            while not self._holds(pattern, last):
                await self._more()
            return
        raise AssertionError(f"{wanted!r} did not come:\n" + "\n".join(self.rows))

    async def gone(self, unwanted: str) -> None:
        """Wait until this can be read no more."""
        with anyio.move_on_after(LIMIT):
            while any(unwanted in row for row in self.rows):
                await self._more()
            return
        raise AssertionError(f"{unwanted!r} stays:\n" + "\n".join(self.rows))

    def _holds(self, pattern: re.Pattern[str], last: int) -> bool:
        return bool(
            pattern.search("\n".join("\n".join(self.rows).rstrip("\n").split("\n")[-last:]))
        )

    async def _more(self) -> None:
        await anyio.wait_readable(self.terminal._master)
        assert self.terminal._read(time.monotonic() + LIMIT), "it ended:\n" + "\n".join(self.rows)
        self._feed()

    def _feed(self) -> None:
        self._stream.feed(self.terminal.raw[self._fed :])
        self._fed = len(self.terminal.raw)

    def send(self, keys: str) -> None:
        """Type."""
        self.terminal.send(keys)

    async def ready(self) -> None:
        """Wait until the session is open."""
        await self.until("/help, /exit")

    async def leave(self) -> None:
        """Leave by the end of input when nothing runs any more, and have that succeed."""
        await self.gone("Enter queues")
        self.send("/exit\r")
        assert await self.end(leaving=True) == 0

    async def end(self, *, leaving: bool = False) -> int:
        """Wait for the end, and give the exit code."""
        with anyio.move_on_after(LIMIT):
            while True:
                await anyio.wait_readable(self.terminal._master)
                if not self.terminal._read(time.monotonic() + LIMIT):
                    return self.terminal.end()
                self._feed()
                if leaving and "oncemorecancelsitandleaves" in "".join("".join(self.rows).split()):
                    leaving = False  # a turn had not quite ended
                    self.send("/exit\r")
        raise AssertionError("it did not end:\n" + "\n".join(self.rows))

    def resize(self, columns: int) -> None:
        """Make the terminal wider or narrower."""
        size = struct.pack("HHHH", ROWS, columns, 0, 0)
        self.screen.resize(ROWS, columns)
        fcntl.ioctl(self.terminal._master, termios.TIOCSWINSZ, size)


def environment(home: Path, url: str) -> dict[str, str]:
    """What the client and its server may see; nothing of whoever runs the tests."""
    own = {name: value for name, value in ENVIRONMENT.items() if not name.startswith("TURNBUCKLE_")}
    return own | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TURNBUCKLE_STATE_DIR": str(home / "state"),
        "TURNBUCKLE_CONFIG": str(home / "no-config.toml"),
        "TURNBUCKLE_API_KEY": "key-of-the-tests",
        "TURNBUCKLE_MODEL": "played",
        "TURNBUCKLE_BASE_URL": url,
    }


def argv(work: Path, *options: str) -> list[str]:
    """The command line of a chat in a folder."""
    return [sys.executable, "-m", "turnbuckle", "chat", "--cwd", str(work), *options]


@asynccontextmanager
async def chatting(
    home: Path, script: Sequence[Play], *options: str, **more: str
) -> AsyncIterator[tuple[Watched, ModelServer]]:
    """A chat with the real server and a model that plays a script."""
    work = home / "work"
    work.mkdir(exist_ok=True)
    async with ModelServer(script) as model:
        with Terminal(argv(work, *options), env=environment(home, model.url) | more) as terminal:
            yield Watched(terminal, work), model
