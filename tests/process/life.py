"""A server as a real process that can be killed, and a client that sees all of its last words."""

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import orjson

from turnbuckle.lsp import names
from turnbuckle.lsp.client import Client, attached, bare_errors
from turnbuckle.lsp.lives import SessionEventsParams, SessionOpenParams, SessionOpenResult
from turnbuckle.lsp.protocol import TurnResult
from turnbuckle.lsp.rpc import Question
from turnbuckle.lsp.rpc.descriptors import open_streams
from turnbuckle.lsp.rpc.framing import Frames
from turnbuckle.lsp.rpc.streams import Source
from turnbuckle.lsp.spawn import ServerProcess, spawned
from turnbuckle.testing.editor import RecordingEditor
from turnbuckle.workspace.paths import uri_of

SOURCE = Path(__file__).parents[2] / "server"
MARK = "LC_TURNBUCKLE_TEST"
"""A name that a server hands on to its commands, by which they are found."""


class Watched:
    """A stream whose every message is told as it is read; `ended` is set at its end."""

    def __init__(self, source: Source, told: Callable[[dict[str, Any]], None]) -> None:
        self.ended = anyio.Event()
        self._frames = Frames()
        self._source = source
        self._told = told  # Any: JSON

    async def read(self) -> bytes:
        """The next bytes."""
        data = await self._source.read()
        for body in self._frames.feed(data):
            self._told(orjson.loads(body))
        if not data:
            self.ended.set()
        return data

    def close(self) -> None:
        """Read no more."""
        self._source.close()


class Life:
    """One server, from its start to its end by SIGKILL.

    `values` are the facts that came on the token of a session; `on_message` is told of whatever the
    server says that is no answer. `turns` are the turns that were answered. `argv` starts it.
    """

    argv: Sequence[str] = (sys.executable, "-P", "-m", "turnbuckle", "serve")

    def __init__(self, mark: str, **env: str) -> None:
        self.mark = mark
        self._env = env
        self.values: list[dict[str, Any]] = []  # Any: JSON
        self.turns: list[TurnResult] = []
        self.ready = anyio.Event()
        self.over = anyio.Event()
        self.on_message: Callable[[], None] = lambda: None
        self._client: Client | None = None
        self._process: ServerProcess | None = None
        self._watched: Watched | None = None
        self._keys = 0

    @property
    def client(self) -> Client:
        """Once `ready`."""
        assert self._client is not None
        return self._client

    @property
    def pid(self) -> int:
        """Once `ready`."""
        assert self._process is not None
        return self._process.pid

    @property
    def last_words(self) -> str:
        """The end of what the server wrote to standard error."""
        return self._process.stderr if self._process is not None else ""

    async def run(self, work: Path, state: Path, url: str) -> None:
        """Live until `over`."""
        env = {name: value for name, value in os.environ.items() if "TURNBUCKLE" not in name} | {
            MARK: self.mark,
            "PYTHONPATH": str(SOURCE),
            "TURNBUCKLE_BASE_URL": url,
            "TURNBUCKLE_MODEL": "scripted",
            "TURNBUCKLE_STATE_DIR": str(state),
            "TURNBUCKLE_CONFIG": str(state.parent / "config.toml"),
            **self._env,
        }
        async with self._started(env) as client:
            with anyio.fail_after(60):
                editor = RecordingEditor(client)
                await editor.initialize([uri_of(work)], events=True)
            self._client = client
            self.ready.set()
            await self.over.wait()

    @asynccontextmanager
    async def _started(self, env: dict[str, str]) -> AsyncIterator[Client]:
        with bare_errors():
            async with spawned(self.argv, env=env) as process:
                self._process = process
                source, sink = await open_streams(process.incoming, process.outgoing)
                self._watched = Watched(source, self._hear)
                async with attached(self._watched, sink, process) as client:
                    yield client

    def _hear(self, message: dict[str, Any]) -> None:  # Any: JSON
        match message:
            case {"method": "$/progress", "params": {"token": "events", "value": value}}:
                if "seq" in value:
                    self.values.append(value)
        if "method" in message:
            self.on_message()

    def kill(self) -> None:
        """Kill the server, without a word to it."""
        os.kill(self.pid, signal.SIGKILL)

    async def buried(self) -> None:
        """Wait until all is read that it had said."""
        assert self._process is not None
        assert self._watched is not None
        with anyio.fail_after(20):
            await self._watched.ended.wait()
            await self._process.end()
        self.over.set()

    async def open(self, session_id: str | None) -> SessionOpenResult:
        """Open a session and have all that happens in it told from now on."""
        params = SessionOpenParams(session_id=session_id)
        opened: SessionOpenResult = await self.client.request(names.SESSION_OPEN, params)
        events = SessionEventsParams(session_id=opened.session_id, token="events", after=opened.seq)
        await self.client.request(names.SESSION_EVENTS, events)
        return opened

    def send(self, session_id: str, prompt: str, **more: object) -> Question:
        """Send a message."""
        self._keys += 1
        params: dict[str, object] = {"sessionId": session_id, "key": f"{self.mark}-{self._keys}"}
        return self.client.ask(
            names.TURN, params | {"input": [{"type": "text", "text": prompt}]} | more
        )

    async def turn(self, session_id: str, prompt: str) -> TurnResult:
        """Send a message and wait for its turn."""
        with anyio.fail_after(30):
            answer = await self.send(session_id, prompt).answer()
        result = TurnResult.model_validate(answer)
        self.turns.append(result)
        return result


async def require_no_children(mark: str) -> None:
    """Return when nothing runs any more that bears the mark; where that can be seen.

    Raises:
        AssertionError: something goes on.
    """
    if sys.platform != "linux":
        return
    with anyio.move_on_after(15):
        while pids := _bearing(mark):
            for pid in pids:
                await _ended(pid)
        return
    raise AssertionError(f"left behind: {_bearing(mark)}")


def _bearing(mark: str) -> list[int]:
    wanted, found = f"{MARK}={mark}\0".encode(), []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (place / "environ").read_bytes():
                found.append(int(place.name))
        except OSError:
            pass  # it has ended, or is another's
    return found


async def _ended(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        await anyio.wait_readable(descriptor)
    finally:
        os.close(descriptor)
