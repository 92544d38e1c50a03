"""A real server process, and every trace of it: what it said, logged, kept and shows of itself."""

import os
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from turnbuckle.lsp import names
from turnbuckle.lsp.client import Client, attached, bare_errors
from turnbuckle.lsp.lives import SessionEventsParams, SessionExportParams, SessionOpenParams
from turnbuckle.lsp.protocol import TurnResult
from turnbuckle.lsp.rpc import Question
from turnbuckle.lsp.rpc.descriptors import open_streams
from turnbuckle.lsp.rpc.streams import Source
from turnbuckle.lsp.spawn import spawned
from turnbuckle.testing.editor import RecordingEditor
from turnbuckle.testing.edits import Json
from turnbuckle.workspace.paths import uri_of

LIMIT = 60.0
"""Seconds that a turn may take."""


class _Overheard:
    """A stream whose bytes are kept as they are read."""

    def __init__(self, source: Source, kept: bytearray) -> None:
        self._source = source
        self._kept = kept

    async def read(self) -> bytes:
        data = await self._source.read()
        self._kept += data
        return data

    def close(self) -> None:
        self._source.close()


@dataclass(slots=True, kw_only=True)
class Witness:
    """One server with `folder/work` and `folder/state`; `heard` is all that it said on the wire."""

    folder: Path
    client: Client
    editor: RecordingEditor
    pid: int
    heard: bytearray = field(default_factory=bytearray)
    exports: list[str] = field(default_factory=list)
    turns: int = 0

    async def open(self) -> str:
        """Open a session, and have all that happens in it told."""
        opened = await self.client.request(names.SESSION_OPEN, SessionOpenParams())
        session_id = str(opened.session_id)
        events = SessionEventsParams(session_id=session_id, token="events")
        await self.client.request(names.SESSION_EVENTS, events)
        return session_id

    def send(self, session_id: str, prompt: str) -> Question:
        """Send a message."""
        self.turns += 1
        params = {
            "sessionId": session_id,
            "key": f"k{self.turns}",
            "input": [{"type": "text", "text": prompt}],
        }
        return self.client.ask(names.TURN, params)

    async def turn(self, session_id: str, prompt: str) -> TurnResult:
        """Send a message and wait for the end of its turn."""
        with anyio.fail_after(LIMIT):
            return TurnResult.model_validate(await self.send(session_id, prompt).answer())

    async def export(self, session_id: str) -> None:
        """Have the session exported in every form."""
        for form in ("markdown", "json"):
            params = SessionExportParams.model_validate({"sessionId": session_id, "format": form})
            exported = await self.client.request(names.SESSION_EXPORT, params)
            self.exports.append(exported.text)

    def traces(self) -> dict[str, bytes]:
        """All that is left of it so far, by where it stands.

        Of a running process on Linux that is also what the system shows of it to others.
        """
        found = {
            "the wire": bytes(self.heard),
            "the log": (self.folder / "log").read_bytes(),
            "exports": "\n".join(self.exports).encode(),
        }
        for path in sorted((self.folder / "state").rglob("*")):
            if path.is_file():
                found[f"state/{path.relative_to(self.folder / 'state')}"] = path.read_bytes()
        for name in ("environ", "cmdline"):
            try:
                found[f"/proc/PID/{name}"] = Path(f"/proc/{self.pid}/{name}").read_bytes()
            except OSError:
                continue  # it has ended, or this system shows nothing
        return found

    def found(self, canaries: Iterable[str]) -> list[str]:
        """Where which of these stand in a trace; nowhere, if all is well."""
        traces = self.traces()
        return [
            f"{canary} in {where}"
            for canary in canaries
            for where, data in traces.items()
            if canary.encode() in data
        ]


@asynccontextmanager
async def witnessed(
    folder: Path, env: Mapping[str, str], options: Json | None = None
) -> AsyncIterator[Witness]:
    """A server of `folder`, started with only these variables and a few that Python wants.

    Its configuration is `folder/config.toml`, its log `folder/log`.
    """
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, "-P", "-m", "turnbuckle", "serve"]
    heard = bytearray()
    with bare_errors(), (folder / "log").open("ab") as log:
        async with spawned(
            argv, env=_environment(folder) | dict(env), stderr=log.fileno()
        ) as server:
            source, sink = await open_streams(server.incoming, server.outgoing)
            async with attached(_Overheard(source, heard), sink, server) as client:
                editor = RecordingEditor(client)
                with anyio.fail_after(LIMIT):
                    await editor.initialize([uri_of(work)], options=options, events=True)
                yield Witness(
                    folder=folder, client=client, editor=editor, pid=server.pid, heard=heard
                )
                await client.shutdown()


def _environment(folder: Path) -> dict[str, str]:
    wanted = ("PATH", "HOME", "SYSTEMROOT", "TEMP", "TMP", "LANG")
    return {name: os.environ[name] for name in wanted if name in os.environ} | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TURNBUCKLE_STATE_DIR": str(folder / "state"),
        "TURNBUCKLE_CONFIG": str(folder / "config.toml"),
        "TURNBUCKLE_DISCOVER": "false",
        "TURNBUCKLE_LOG": "debug",
    }
