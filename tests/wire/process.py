"""A real server whose client reads only when it is told to, and how much memory it takes."""

import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from turnbuckle.lsp.client import Client, attached, bare_errors
from turnbuckle.lsp.rpc.descriptors import open_streams
from turnbuckle.lsp.spawn import ServerProcess, spawned
from turnbuckle.testing.editor import RecordingEditor
from turnbuckle.testing.served import Held
from turnbuckle.workspace.paths import uri_of
from wire.raw import RawPeer, reading

SERVE = [sys.executable, "-P", "-m", "turnbuckle", "serve"]
FAULTS = ("Traceback", "never retrieved", "never awaited", " ERROR ", "BrokenPipe")
"""What the log of a server that had nothing but a bad client does not hold."""

START = 60.0
"""Seconds until a server counts as not coming up, on a machine that does much else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talking:
    """A real server; `held` is what it says, which can be left unread."""

    client: Client
    editor: RecordingEditor
    held: Held
    process: ServerProcess


@asynccontextmanager
async def talking(folder: Path, url: str) -> AsyncIterator[Talking]:
    """A server of `folder/work` whose model is asked at a URL."""
    with bare_errors():
        async with spawned(SERVE, env=environment(folder, url)) as process:
            source, sink = await open_streams(process.incoming, process.outgoing)
            held = Held(source)
            async with attached(held, sink, process) as client:
                editor = RecordingEditor(client)
                with anyio.fail_after(START):
                    await editor.initialize([uri_of(folder / "work")], events=True)
                yield Talking(client=client, editor=editor, held=held, process=process)
                held.let_go()
                await client.shutdown()


@asynccontextmanager
async def raw_process(folder: Path, url: str = "http://127.0.0.1:9/v1") -> AsyncIterator[RawPeer]:
    """A peer of a real server, with nothing sent yet."""
    with bare_errors():
        async with spawned(SERVE, env=environment(folder, url)) as process:
            source, sink = await open_streams(process.incoming, process.outgoing)
            async with reading(source, sink, process) as peer:
                yield peer


def environment(folder: Path, url: str) -> dict[str, str]:
    """What a server is started with."""
    (folder / "work").mkdir(parents=True, exist_ok=True)
    own = {name: value for name, value in os.environ.items() if "TURNBUCKLE" not in name}
    return own | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TURNBUCKLE_BASE_URL": url,
        "TURNBUCKLE_MODEL": "scripted",
        "TURNBUCKLE_STATE_DIR": str(folder / "state"),
        "TURNBUCKLE_CONFIG": str(folder / "config.toml"),
        "TURNBUCKLE_DISCOVER": "false",
    }


def memory(process: ServerProcess, at: str = "VmRSS") -> int:
    """Bytes that a process takes now, or with `VmHWM` at its worst; 0 where it cannot be seen."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text("ascii")
    except OSError:
        return 0
    found = re.search(rf"{at}:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0
