"""A server process that stands in a workspace of strangers."""

import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from turnbuckle.lsp.client import Client, attached, bare_errors
from turnbuckle.lsp.rpc.descriptors import open_streams
from turnbuckle.lsp.spawn import spawned
from turnbuckle.testing.editor import RecordingEditor
from turnbuckle.workspace.paths import uri_of

LIMIT = 60.0
"""Seconds until a server has to have answered; it is a bound for hangs."""


@asynccontextmanager
async def started(
    argv: Sequence[str], folder: Path, env: Mapping[str, str] | None = None
) -> AsyncIterator[Client]:
    """A server in `folder/work`, with the state and the settings beside it."""
    with bare_errors():
        async with spawned(
            argv, env=environment(folder) | dict(env or {}), cwd=folder / "work"
        ) as server:
            source, sink = await open_streams(server.incoming, server.outgoing)
            async with attached(source, sink, server) as client:
                with anyio.fail_after(LIMIT):
                    await RecordingEditor(client).initialize([uri_of(folder / "work")])
                    yield client
                    await client.shutdown()


def environment(folder: Path) -> dict[str, str]:
    """A few usual variables, and where our own files are."""
    wanted = ("PATH", "HOME", "SYSTEMROOT", "TEMP", "TMP", "LANG")
    return {name: os.environ[name] for name in wanted if name in os.environ} | {
        "TURNBUCKLE_STATE_DIR": str(folder / "state"),
        "TURNBUCKLE_CONFIG": str(folder / "config.toml"),
        "TURNBUCKLE_DISCOVER": "false",
        "TURNBUCKLE_MODEL": "demo",
    }


def installed() -> str:
    """Where packages are found, as an absolute PYTHONPATH: what tests run with."""
    return os.pathsep.join(place for place in sys.path if Path(place).is_absolute())
