"""The server as it is put together: what starting it imports, wrong settings, a disk that is full."""

import errno
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest

from turnbuckle.lsp.client import Client, ServerRefused, connect
from turnbuckle.model.port import Emit, Reply, Request
from turnbuckle.session.rebuild import verify
from turnbuckle.session.store import sync_data
from turnbuckle.testing.scripted import Scripted, say, stream
from turnbuckle.testing.served import served
from turnbuckle.testing.tools import tool
from turnbuckle.tools.tool import Go
from turnbuckle.workspace.paths import uri_of

# Any: values on the wire are JSON.
Json = dict[str, Any]

SOURCE = Path(__file__).parents[2] / "server"

STARTS = """
import sys

import anyio

from turnbuckle.app import main  # as `turnbuckle serve` does
from turnbuckle.app.server import Server
from turnbuckle.lsp.serve import serve_stdio


class Watched(Server):
    def initialize(self, params):
        result = super().initialize(params)
        result["imported"] = sorted(sys.modules)
        return result

    async def load(self):
        await super().load()
        self._connection.notify("window/logMessage", {"type": 4, "message": " ".join(sys.modules)})


sys.exit(anyio.run(serve_stdio, Watched))
"""

HEAVY = {
    "httpx", "pydantic", "rich", "typer", "lsprotocol", "pygls", "tree_sitter", "pathspec",
    "cydifflib", "hypothesis", "turnbuckle.agent", "turnbuckle.tools", "turnbuckle.model",
    "turnbuckle.config", "turnbuckle.plugins", "turnbuckle.cli", "turnbuckle.testing",
}  # fmt: skip


@asynccontextmanager
async def process(folder: Path, script: str) -> AsyncIterator[Client]:
    """A server in a process of its own, with the offline model."""
    path = folder / "script.py"
    path.write_text(script)
    (folder / "work").mkdir()
    env = {
        **os.environ,
        "PYTHONPATH": str(SOURCE),
        "TURNBUCKLE_STATE_DIR": str(folder / "state"),
        "TURNBUCKLE_CONFIG": str(folder / "config.toml"),
        "TURNBUCKLE_MODEL": "demo",
    }
    with anyio.fail_after(60):
        async with connect([sys.executable, str(path)], env=env) as client:
            yield client


async def test_initialize_is_answered_before_anything_heavy_is_imported(tmp_path: Path) -> None:
    loaded = anyio.Event()
    names: set[str] = set()

    def note(params: Json) -> None:
        names.update(params["message"].split())
        loaded.set()

    async with process(tmp_path, STARTS) as client:
        client.on_notification("window/logMessage", note)
        result = await client.initialize()
        assert HEAVY & set(result["imported"]) == set()
        # And this is not because it never needs them.
        await loaded.wait()
        assert {"httpx", "pydantic", "turnbuckle.agent"} <= names
        # A session can be opened now. What only LSP's own messages need takes longest, so it comes
        # after that, and what nobody needs does not come.
        assert {
            "lsprotocol",
            "rich",
            "typer",
            "turnbuckle.cli",
            "turnbuckle.testing",
        } & names == set()


# Settings.


async def test_wrong_settings_are_said_and_stop_nothing_but_the_model(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("max_stepps = 7\n")
    async with served(None, tmp_path) as server:
        screen = server.editor.screen
        (message,) = await screen.until(lambda: screen.messages)
        assert "max_stepps" in message
        assert str(tmp_path / "config.toml") in message
        assert screen.of("window/showMessage")[0]["type"] == 1
        session_id = await server.open()
        result = await server.turn(session_id, "go")
        assert result.end["kind"] == "error"
        assert result.end["failure"]["kind"] == "model"
        assert "max_stepps" in result.end["failure"]["message"]


async def test_nothing_in_the_workspace_configures_the_server(tmp_path: Path) -> None:
    work = tmp_path / "work"
    bad = "max_stepps = 7\n[model]\nname = 'evil'\nbase_url = 'http://127.0.0.1:9/v1'\n"
    for name in ("config.toml", ".turnbuckle.toml", "turnbuckle.toml", "pyproject.toml"):
        (work / ".turnbuckle").mkdir(parents=True, exist_ok=True)
        (work / name).write_text(bad)
        (work / ".turnbuckle" / name).write_text(bad)
    (work / ".env").write_text("TURNBUCKLE_MODEL=evil\nTURNBUCKLE_BASE_URL=http://127.0.0.1:9\n")
    async with served(None, tmp_path, env={"TURNBUCKLE_MODEL": "demo"}) as server:
        raw = await server.client.ask("turnbuckle/models", {}).answer()
        assert "evil" not in str(raw)
        assert server.editor.screen.messages == []


async def test_no_secret_of_an_endpoint_leaves_the_server(tmp_path: Path) -> None:
    env = {
        "TURNBUCKLE_MODEL": "m",
        "TURNBUCKLE_BASE_URL": "http://user:sesame@127.0.0.1:9/v1?api-key=sesame",
        "TURNBUCKLE_API_KEY": "sesame",
    }
    async with served(None, tmp_path, env=env) as server:
        await server.client.ask("turnbuckle/models", {}).answer()
        await server.open()
        assert "sesame" not in str(server.held.seen)
        assert "127.0.0.1:9" in str(server.held.seen)


# A disk that is full, a state folder that cannot be used.


def stored(state: Path) -> list[Json]:
    """The facts of the only session, whose requests all rebuild."""
    (log,) = (state / "sessions").glob("**/*.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    assert all(rebuilt for _, rebuilt in verify(iter(lines)))
    facts = [orjson.loads(line) for line in lines]
    assert [fact["seq"] for fact in facts] == list(range(len(facts)))
    return facts


def failure(result: Any) -> str:
    assert result.end["kind"] == "error"
    assert result.end["failure"]["kind"] == "store"
    return str(result.end["failure"]["message"])


async def test_where_the_state_folder_is_a_file_nothing_is_run(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    model = Scripted([say("at last")])
    async with served(model, tmp_path) as server:
        with pytest.raises(ServerRefused, match="no session"):
            await server.open("nonsense")
        session_id = await server.open()
        said = failure(await server.turn(session_id, "one"))
        assert "nothing was run" in said
        assert "send the message again" in said
        assert model.requests == []
        assert (await server.turn(session_id, "one", key="k1")).turn == 1  # joined, and told again
        (tmp_path / "state").unlink()
        assert (await server.turn(session_id, "two")).end["kind"] == "completed"
        kinds = [fact["type"] for fact in stored(server.state)]
        assert kinds.count("turn/end") == kinds.count("turn/start") == 2


class Disk:
    """A disk that is full for as long as a test wants."""

    def __init__(self) -> None:
        self.full = False

    async def sync(self, descriptor: int) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        await sync_data(descriptor)


async def test_a_full_disk_ends_the_turn_before_the_model_is_asked(tmp_path: Path) -> None:
    disk, model = Disk(), Scripted([say("one"), say("three")])
    async with served(model, tmp_path, sync=disk.sync) as server:
        session_id = await server.open()
        await server.watch(session_id)
        await server.turn(session_id, "first")
        disk.full = True
        assert "No space left on device" in failure(await server.turn(session_id, "second"))
        assert len(model.requests) == 1
        disk.full = False
        assert (await server.turn(session_id, "third")).end["kind"] == "completed"
        assert [end["end"]["kind"] for end in server.facts("turn/end")] == [
            "completed", "error", "completed",
        ]  # fmt: skip
        assert [fact["type"] for fact in stored(server.state)].count("turn/end") == 3


async def test_a_full_disk_ends_the_turn_before_a_tool_is_started(tmp_path: Path) -> None:
    disk, ran = Disk(), []

    async def act(_arguments: Json, _: Go) -> str:
        ran.append(1)
        return "acted"

    async def call(_: Request, emit: Emit) -> Reply:
        reply = say("", ("1", "act", {}))
        await stream(reply, emit)
        disk.full = True
        return reply

    model = Scripted([call, say("done")])
    async with served(model, tmp_path, tools=[tool("act", act)], sync=disk.sync) as server:
        session_id = await server.open()
        failure(await server.turn(session_id, "first"))
        assert ran == []
        disk.full = False
        assert (await server.turn(session_id, "go on")).end["kind"] == "completed"
        facts = stored(server.state)
        assert [f["data"]["callId"] for f in facts if f["type"] == "tool/result"] == ["1"]
        assert ran == []


FULL = """
import resource
import sys

resource.setrlimit(resource.RLIMIT_FSIZE, (1500, resource.RLIM_INFINITY))

from turnbuckle.app import main

sys.exit(main([]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are Linux's")
async def test_a_write_that_fails_ends_the_turn_and_loses_nothing(tmp_path: Path) -> None:
    import resource

    async with process(tmp_path, FULL) as client:
        await client.initialize(folders=[uri_of(tmp_path / "work")])
        opened = await client.request("turnbuckle/session/open", {})

        async def turn(key: str) -> Any:
            message = {"sessionId": opened.session_id, "key": key}
            return await client.request("turnbuckle/turn", message | {"input": [text(key)]})

        assert "nothing was run" in failure(await turn("one"))
        assert client.process is not None
        resource.prlimit(client.process.pid, resource.RLIMIT_FSIZE, (-1, -1))
        assert (await turn("two")).end["kind"] == "completed"
        await client.shutdown()
    facts = stored(tmp_path / "state")
    assert [f["data"]["input"] for f in facts if f["type"] == "inbox/added"] == ["one", "two"]
    ends = [f["data"]["end"]["kind"] for f in facts if f["type"] == "turn/end"]
    assert ends == ["error", "completed"]


def text(words: str) -> Json:
    return {"type": "text", "text": words}


async def test_the_end_of_a_turn_that_is_not_on_disk_is_told_and_written_when_it_can_be(
    tmp_path: Path,
) -> None:
    disk = Disk()

    async def fill(_: Request, _emit: Emit) -> Reply:
        disk.full = True
        return say("said, and not on disk")

    async with served(Scripted([fill, say("later")]), tmp_path, sync=disk.sync) as server:
        session_id = await server.open()
        assert (await server.turn(session_id, "first")).end["kind"] == "completed"
        disk.full = False
        assert (await server.turn(session_id, "second")).end["kind"] == "completed"
        facts = stored(server.state)
        said = [f["data"]["content"] for f in facts if f["type"] == "assistant/message"]
        assert said == ["said, and not on disk", "later"]
