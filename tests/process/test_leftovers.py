"""Whatever a command leaves behind, and however its call ends, nothing of it goes on."""

import os
import random
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import orjson
import pytest
from anyio.abc import Process

from process.leftovers import Held, ended, require_none, running
from process.memory import within
from process.mischief import ALL, BEHIND, CROWD, Mischief
from turnbuckle.session.blobs import Blobs
from turnbuckle.testing.completions import answer
from turnbuckle.testing.modelserver import ModelServer, Received, Response
from turnbuckle.testing.served import Served, served
from turnbuckle.testing.strategies import soak
from turnbuckle.workspace.process import Finished, Output, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

LIMIT = 60.0
"""Seconds that all of them may take together, on a machine that does much else."""

STOPPED = 10.0
"""Seconds in which the cancels of all of them at once must be through, on such a machine."""

FLOOD, MEMORY = 2**30, 64 * 2**20
"""Bytes of a flood, and those by which it may make us grow."""


@pytest.fixture
def mischief(tmp_path: Path) -> Iterator[Mischief]:
    (tmp_path / "work").mkdir()
    made = Mischief(tmp_path / "work")
    yield made
    made.stop()


@pytest.fixture
def held(mischief: Mischief) -> Iterator[Held]:
    pipe = Held(mischief.folder)
    yield pipe
    pipe.close()


@pytest.fixture
def chance() -> random.Random:
    seed = int(os.environ.get("TURNBUCKLE_SEED", "0")) or random.randrange(2**32)
    print(f"TURNBUCKLE_SEED={seed}")  # noqa: T201 - it is shown where the test fails
    return random.Random(seed)


async def play(command: str, mischief: Mischief, timeout: float = LIMIT) -> Finished:
    with anyio.fail_after(LIMIT):
        return await run(command, cwd=mischief.folder, timeout=timeout, output=Output())


async def nothing_left(mischief: Mischief, held: Held) -> None:
    """Pass if nothing of it runs, seen in the list of processes and by what they held open."""
    assert not running(mischief.folder, mischief.mark)
    await held.let_go()


@pytest.mark.parametrize("name", BEHIND)
async def test_nothing_is_left_of_a_command_that_ended(
    mischief: Mischief, held: Held, name: str
) -> None:
    finished = await play(mischief.ending(name), mischief)
    assert finished.exit_code == 0, finished
    assert finished.left or name.startswith("hops")
    await nothing_left(mischief, held)


@pytest.mark.parametrize("timeout", [0.8])
async def test_nothing_is_left_of_commands_over_their_time(
    mischief: Mischief, held: Held, timeout: float
) -> None:
    finished = dict[str, Finished]()

    async def one(name: str) -> None:
        finished[name] = await play(mischief.staying(name), mischief, timeout)

    async with anyio.create_task_group() as tasks:
        for name in ALL:
            tasks.start_soon(one, name)
    assert {name for name in ALL if finished[name].timed_out} == set(ALL)
    await nothing_left(mischief, held)


async def test_nothing_is_left_of_cancelled_commands(mischief: Mischief, held: Held) -> None:
    async with anyio.create_task_group() as tasks:
        for name in ALL:
            tasks.start_soon(play, mischief.staying(name), mischief)
        await held.ready(*ALL)
        assert len(running(mischief.folder, mischief.mark)) > CROWD
        tasks.cancel_scope.cancel()
    await nothing_left(mischief, held)


@pytest.mark.timeout(LIMIT * soak(2))
async def test_nothing_is_left_of_commands_cancelled_at_any_moment(
    mischief: Mischief, held: Held, chance: random.Random
) -> None:
    for _ in range(soak(2)):
        with anyio.move_on_after(chance.random()):
            async with anyio.create_task_group() as tasks:
                for name in ALL:
                    tasks.start_soon(play, mischief.staying(name), mischief)
        await nothing_left(mischief, held)
        mischief.forget()


SERVER = """
import anyio, sys
from pathlib import Path
from turnbuckle.workspace.process import Output, run

async def one(command):
    await run(command, cwd=Path(sys.argv[1]), timeout=600, output=Output())

async def main():
    async with anyio.create_task_group() as tasks:
        for command in sys.argv[2:]:
            tasks.start_soon(one, command)
        print("begun", flush=True)

anyio.run(main)
"""


@pytest.mark.timeout(LIMIT * soak(2))
async def test_nothing_is_left_of_a_server_killed_at_any_moment(
    mischief: Mischief, held: Held, chance: random.Random
) -> None:
    commands = [mischief.staying(name) for name in ALL]
    for _ in range(soak(2)):
        argv = [sys.executable, "-c", SERVER, str(mischief.folder), *commands]
        async with await anyio.open_process(argv, stdin=None) as server:
            assert server.stdout is not None
            await server.stdout.receive()
            with anyio.move_on_after(chance.random()):
                await server.wait()
            server.kill()
        await require_none(mischief.folder, mischief.mark)
        await held.let_go()
        mischief.forget()


async def test_a_keeper_that_is_killed_takes_the_command_with_it(
    mischief: Mischief, held: Held
) -> None:
    finished = await play(f"{mischief.staying('own-session')} & kill -9 $PPID; sleep 300", mischief)
    assert finished.exit_code == 128 + signal.SIGKILL
    await nothing_left(mischief, held)


async def test_a_keeper_does_not_hear_what_a_command_sends_to_all(
    mischief: Mischief, held: Held
) -> None:
    signals = " ".join(f"kill -{name} $PPID;" for name in ("TERM", "INT", "HUP", "QUIT"))
    finished = await play(f"{signals} {mischief.ending('daemon')}", mischief)
    assert finished.exit_code == 0
    await nothing_left(mischief, held)


async def test_a_command_hears_what_its_keeper_does_not(mischief: Mischief) -> None:
    for name in ("TERM", "INT", "HUP", "PIPE", "XFSZ"):  # bash itself is deaf to QUIT
        finished = await play(f"bash -c 'kill -{name} $$'", mischief)
        assert finished.exit_code == 128 + signal.Signals[f"SIG{name}"]


# -- in turns ----------------------------------------------------------------------------------------


def scripted(mischief: Mischief, received: Received) -> Response:
    """The model runs the command whose name it is told, and is done after that."""
    messages = received.json["messages"]
    prompt = [m["content"] for m in messages if m["role"] == "user"][-1]
    if messages[-1]["role"] == "tool" or prompt not in ALL:
        return answer("done")
    return answer("", ("c1", "run_command", {"command": mischief.staying(prompt)}))


@asynccontextmanager
async def model(mischief: Mischief) -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        server.script = [lambda received: scripted(mischief, received)] * 500
        yield server


async def test_a_cancel_of_any_of_them_is_through_in_time_and_the_session_goes_on(
    mischief: Mischief, held: Held, tmp_path: Path
) -> None:
    async def one(server: Served, name: str) -> None:
        session = await server.open()
        await server.watch(session, name)
        turn = server.send(session, name)
        asked = await server.fact("approval/asked", 1, name)
        await server.approve(asked["approvalId"], decision="allow")
        await up.wait()
        server.client.ask("turnbuckle/cancel", {"sessionId": session})
        with anyio.fail_after(STOPPED):
            assert (await server.answer(turn)).end == {"kind": "aborted", "cause": "user"}
        (result,) = server.facts("tool/result", name)
        assert result["code"] == "ABORTED"
        assert (await server.turn(session, "go on")).end == {"kind": "completed"}
        assert len(server.facts("tool/result", name)) == 1

    up = anyio.Event()
    async with model(mischief) as asked:
        env = {"TURNBUCKLE_BASE_URL": asked.url, "TURNBUCKLE_MODEL": "scripted"}
        async with (
            served(None, tmp_path, env=env, events=True) as server,
            anyio.create_task_group() as tasks,
        ):
            for name in ALL:
                tasks.start_soon(one, server, name)
            await held.ready(*ALL)
            up.set()
    await nothing_left(mischief, held)


# -- with the server, and with the editor ------------------------------------------------------------


ENDINGS = ["exit", "leave", "server terminated", "server killed", "editor killed"]


@pytest.mark.parametrize("ending", ENDINGS)
async def test_nothing_is_left_when_server_or_editor_ends(
    mischief: Mischief, held: Held, tmp_path: Path, ending: str
) -> None:
    async with model(mischief) as asked:
        argv = [sys.executable, "-m", "process.editing", str(tmp_path), asked.url, *ALL]
        env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        async with await anyio.open_process(argv, stderr=None, env=env) as editor:
            try:
                with anyio.fail_after(LIMIT):
                    await bring_to_an_end(editor, held, ending)
                if ending in ("exit", "leave"):
                    # The server did not end before its commands had.
                    assert not running(mischief.folder, mischief.mark)
                await require_none(mischief.folder, mischief.mark)
                await held.let_go()
            finally:
                if editor.returncode is None:
                    editor.kill()


async def bring_to_an_end(editor: Process, held: Held, ending: str) -> None:
    """Once all is there, end editor or server, and wait until the server is gone."""
    assert editor.stdin is not None
    assert editor.stdout is not None
    server = int(await editor.stdout.receive())
    await held.ready(*ALL)
    match ending:
        case "server killed":
            os.kill(server, signal.SIGKILL)
        case "server terminated":
            os.kill(server, signal.SIGTERM)
        case "editor killed":
            editor.kill()
        case how:
            await editor.stdin.send(f"{how}\n".encode())
    await ended(server)


# -- floods ------------------------------------------------------------------------------------------


async def test_a_flood_of_a_gigabyte_is_read_to_its_end_in_little_memory(tmp_path: Path) -> None:
    output = Output(Blobs(tmp_path / "blobs"))
    with within(MEMORY):
        finished = await run(
            f"yes | head -c {FLOOD}; echo; echo the end", cwd=tmp_path, timeout=100, output=output
        )
    assert finished.exit_code == 0
    assert finished.output.total == FLOOD + len("\nthe end\n")
    assert finished.output.text.endswith("\nthe end\n")
    assert finished.output.missing is not None
    assert len(finished.output.text.encode()) < 66_000


@pytest.mark.parametrize("source", ["/dev/urandom", "/dev/zero"])
async def test_what_is_no_text_is_text_in_the_end(tmp_path: Path, source: str) -> None:
    finished = await run(f"head -c 10M {source}", cwd=tmp_path, timeout=100, output=Output())
    assert finished.exit_code == 0
    assert finished.output.total == 10 * 2**20
    assert len(finished.output.text.encode()) < 66_000
    assert orjson.loads(orjson.dumps(finished.output.text)) == finished.output.text
