"""What may get between the frames of the wire, and how it ends: cases F of a real process."""

import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import orjson
import pytest

from cases.case import Case, Run
from process.leftovers import Held, ended, require_none, running
from turnbuckle.lsp.rpc.framing import Frames
from turnbuckle.lsp.rpc.streams import MemoryPipe
from turnbuckle.lsp.service import Service
from turnbuckle.session.verification import verify_file
from turnbuckle.testing.completions import answer
from turnbuckle.testing.echo_app import EchoApp
from turnbuckle.testing.modelserver import ModelServer, Play
from turnbuckle.testing.witness import Witness, witnessed
from wire.raw import INITIALIZE, RawPeer, reading

LIMIT = 60.0
"""Seconds that one of these may take, on a machine that does much else."""

ENDED = 5.0
"""Seconds in which a server and all that it started is gone after its editor."""

CARELESS = '''
"""A plugin whose tool does what it is told, as a careless library would."""

import os
import subprocess

from pydantic import BaseModel

from turnbuckle.tools.subject import Internal
from turnbuckle.tools.tool import Outcome, Prepared, Tool


class Do(BaseModel):
    code: str


async def prepare(arguments, _workspace):
    async def perform(_go):
        exec(arguments.code, {"os": os, "subprocess": subprocess})
        return Outcome(content="done")

    return Prepared(subject=Internal(), perform=perform)


def install(ctx):
    print("stray print of a plugin", flush=True)
    ctx.tools.register(
        Tool(
            name="careless",
            description="Be careless.",
            parameters=Do,
            prepare=prepare,
            execution_mode="exclusive",
        )
    )
'''


@asynccontextmanager
async def server(script: list[Play], folder: Path) -> AsyncIterator[Witness]:
    """A real server with a careless plugin and a model that plays a script."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "careless.py").write_text(CARELESS, "utf-8")
    (folder / "config.toml").write_text(
        f"plugins = [{json.dumps(str(folder / 'careless.py'))}]\n", "utf-8"
    )
    async with ModelServer(script) as model:
        env = {"TURNBUCKLE_BASE_URL": model.url, "TURNBUCKLE_MODEL": "scripted"}
        with anyio.fail_after(LIMIT):
            async with witnessed(folder, env) as witness:
                yield witness


async def nothing_between_frames(case: Case, folder: Path) -> None:
    """Whatever is written to or read from the standard streams, the protocol is untouched."""
    triggers = case.data["triggers"]
    calls = [
        answer("", (f"c{number}", "careless", {"code": code}))
        for number, code in enumerate(triggers)
    ]
    async with server([*calls, answer("done"), answer("again")], folder) as witness:
        session_id = await witness.open()
        assert (await witness.turn(session_id, "go")).end == {"kind": "completed"}
        results = [
            value["data"]["content"]
            for value in witness.editor.screen.progress("events")
            if value["type"] == "tool/result"
        ]
        assert results == ["done"] * len(triggers), results
        assert (await witness.turn(session_id, "once more")).end == {"kind": "completed"}
    assert case.data["expect"] in ({"frames_valid": True}, {"next_message_ok": True})
    frames = Frames()
    bodies = [orjson.loads(body) for body in frames.feed(bytes(witness.heard))]
    assert all(body["jsonrpc"] == "2.0" for body in bodies)
    assert witness.client.returncode == 0
    if case.data["expect"] == {"frames_valid": True}:
        log = (folder / "log").read_text("utf-8")
        assert "stray print of a plugin" in log
        assert log.count("x\n") >= 2


async def length_in_bytes(case: Case, _folder: Path) -> None:
    """A length counts bytes: of what comes in unescaped, and of what goes out."""
    text = case.data["body"]["params"]["t"]
    body = {**case.data["body"], "method": "test/echo"}
    unescaped = json.dumps(body, ensure_ascii=False).encode()
    assert len(unescaped) > len(unescaped.decode())
    async with echoing() as peer:
        peer.send(INITIALIZE)
        header = b"Content-Length: %d\r\n\r\n" % len(unescaped)
        peer.write(header + unescaped)
        answer = await peer.answer(body["id"])
        assert answer["result"]["params"]["t"] == text == case.data["expect"]["echo"]
        # What follows is in step only if both lengths were right.
        peer.send({"id": "next", "method": "test/echo", "params": {"t": text}})
        assert (await peer.answer("next"))["result"]["params"]["t"] == text
        assert text.encode() in peer.data  # it goes out unescaped too
        before, _, rest = bytes(peer.data).rpartition(b"Content-Length: ")
        length, _, last = rest.partition(b"\r\n\r\n")
        assert int(length) == len(last) > len(last.decode())
        assert before.endswith(b"}")


@asynccontextmanager
async def echoing() -> AsyncIterator[RawPeer]:
    """A peer of the echo app, with nothing sent yet."""
    up, down = MemoryPipe(), MemoryPipe()
    async with anyio.create_task_group() as group:
        group.start_soon(Service(up, down, EchoApp).run)
        async with reading(down, up) as peer:
            yield peer


async def editor_dies(_: Case, folder: Path) -> None:
    """With its editor go the server and what runs in it, and what was said stays readable."""
    if sys.platform != "linux":
        pytest.skip("looks at /proc")
    for how in ("leaves", "is killed", "is killed, and its pipe is held open"):
        await one_end(how, folder / how.replace(" ", "-").replace(",", ""))


async def one_end(how: str, folder: Path) -> None:
    (folder / "work").mkdir(parents=True)
    held = Held(folder)
    command = f"{held.hold}echo up >&9; sleep 300 & sleep 301"
    async with ModelServer([answer("", ("c1", "run_command", {"command": command}))]) as model:
        argv = [sys.executable, "-m", "process.editing", str(folder), model.url, "go"]
        env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        editor = await anyio.open_process(argv, stderr=None, env=env)
        async with editor:
            assert editor.stdin is not None
            assert editor.stdout is not None
            with anyio.fail_after(LIMIT):
                pid = int(await editor.stdout.receive())
                await held.ready("up")
            keeper = held_open(editor.pid, pid) if "held open" in how else None
            try:
                if how == "leaves":
                    await editor.stdin.send(b"leave\n")
                else:
                    os.kill(editor.pid, signal.SIGKILL)
                with anyio.fail_after(ENDED):
                    await ended(pid)
                    await held.let_go()
            finally:
                if keeper is not None:
                    os.close(keeper)
            await require_none(folder / "work")
            assert not running(folder / "state")
            if editor.returncode is None:
                editor.kill()
    held.close()
    (log,) = (folder / "state").rglob("*.jsonl")
    assert verify_file(log).ok
    lines = [json.loads(line) for line in log.read_bytes().splitlines()]
    assert [line["seq"] for line in lines] == list(range(len(lines)))


def held_open(editor: int, server: int) -> int:
    """Hold the writing end of the server's input open, as another child of the editor may."""
    reads = {str(place.readlink()) for place in pipes(server)}
    for place in pipes(editor):
        if str(place.readlink()) in reads and writes(place):
            return os.open(place, os.O_WRONLY)
    raise AssertionError("the editor has no pipe to the server")


def pipes(pid: int) -> list[Path]:
    return [place for place in Path(f"/proc/{pid}/fd").iterdir() if is_pipe(place)]


def is_pipe(place: Path) -> bool:
    with suppress(FileNotFoundError):  # it was closed meanwhile
        return str(place.readlink()).startswith("pipe:")
    return False


def writes(place: Path) -> bool:
    info = (place.parent.parent / "fdinfo" / place.name).read_text("ascii")
    return int(info.partition("flags:")[2].split()[0], 8) & os.O_ACCMODE == os.O_WRONLY


RUN: dict[str, Run] = {
    "F01": nothing_between_frames,
    "F02": nothing_between_frames,
    "F03": length_in_bytes,
    "F04": editor_dies,
}
