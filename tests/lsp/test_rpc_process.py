"""A server as a real process: streams, signals, exit codes, and the ways in which a client goes."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest

from turnbuckle.lsp.client import Client, ServerRefused, connect, connect_tcp
from turnbuckle.lsp.rpc import NoAnswer
from turnbuckle.lsp.rpc.framing import Frames, frame
from turnbuckle.lsp.service import MAX_STRANGER

APP = [sys.executable, "-m", "turnbuckle.testing.echo_app"]
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and descriptors of POSIX")


def environment(**more: str) -> dict[str, str]:
    source = Path(__file__).parents[2] / "server"
    return {**os.environ, "PYTHONPATH": str(source), **more}


@asynccontextmanager
async def running(**env: str) -> AsyncIterator[Client]:
    """A client of the app in a process, shaken hands with."""
    async with connect(APP, env=environment(**env)) as client:
        with anyio.fail_after(30):
            await client.initialize()
        yield client


def stderr(client: Client) -> str:
    assert client.process is not None
    return client.process.stderr


def messages(*sent: dict[str, object]) -> bytes:
    return b"".join(frame(orjson.dumps({"jsonrpc": "2.0", **message})) for message in sent)


INITIALIZE: dict[str, object] = {"id": 0, "method": "initialize", "params": {"capabilities": {}}}
GOODBYE: tuple[dict[str, object], ...] = (
    {"id": "end", "method": "shutdown"},
    {"method": "exit"},
)


@contextmanager
def popen(
    command: list[str] = APP,
    stdin: int = subprocess.PIPE,
    stdout: int = subprocess.PIPE,
    stderr: int | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose streams are really ours; for tests without an event loop."""
    process = subprocess.Popen(
        command, env=environment(), stdin=stdin, stdout=stdout, stderr=stderr, bufsize=0
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def read_bodies(data: bytes) -> Iterator[dict[str, Any]]:  # Any: JSON
    return map(orjson.loads, Frames().feed(data))


# The end.


async def test_shutdown_and_exit_give_exit_code_0() -> None:
    async with running() as client:
        assert await client.request("test/echo", {"text": "測試😀é"}) == {
            "params": {"text": "測試😀é"}
        }
        assert await client.shutdown() == 0
    assert stderr(client) == ""


async def test_exit_without_shutdown_gives_exit_code_1() -> None:
    async with running() as client:
        client.notify("exit")
    assert client.returncode == 1


async def test_an_end_of_input_gives_exit_code_1() -> None:
    async with running() as client:
        assert client.returncode is None
    assert client.returncode == 1


async def test_an_end_of_input_after_shutdown_gives_exit_code_0() -> None:
    async with running() as client:
        await client.request("shutdown")
    assert client.returncode == 0


async def test_an_end_of_input_ends_a_server_whose_turn_runs() -> None:
    async with running() as client:
        slow = client.ask("test/slow")
        await client.request("test/echo")
    with pytest.raises(NoAnswer):
        await slow.answer()
    assert client.returncode == 1


async def test_a_clean_up_that_never_ends_is_cut_off() -> None:
    async with running(ECHO_STUCK="1", ECHO_GRACE="0.1") as client:
        client.notify("exit")
    assert client.returncode == 1


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_and_what_runs_is_answered(number: signal.Signals) -> None:
    async with running() as client:
        slow = client.ask("test/slow")
        await client.request("test/echo")
        assert client.process is not None
        os.kill(client.process.pid, number)
        with pytest.raises(ServerRefused) as caught:
            await slow.answer()
        assert caught.value.code == -32800
        assert await client.process.end() == 128 + number
    assert stderr(client) == ""


@posix
def test_a_client_that_is_killed_takes_the_server_with_it() -> None:
    program = f"""
import subprocess, sys
server = subprocess.Popen({APP!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
server.stdin.write({messages(INITIALIZE, {"id": 1, "method": "test/slow"})!r})
server.stdin.flush()
server.stdout.readline()
print(flush=True)
sys.stdin.read()
"""
    heard, said = os.pipe()  # `said` is held open by the server only, in the end
    with open(heard, "rb") as rest:  # noqa: PTH123 - a descriptor
        with popen([sys.executable, "-c", program], stderr=said) as client:
            os.close(said)
            assert client.stdout is not None
            client.stdout.readline()
            client.kill()
        assert rest.read() == b""


@posix
def test_a_client_that_closes_only_its_reading_end_is_gone_too() -> None:
    with popen() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(messages(INITIALIZE))
        process.stdout.read(1)
        process.stdout.close()
        process.stdin.write(messages({"id": 1, "method": "test/echo"}))
        assert process.wait(timeout=20) == 1


# The streams.


async def test_prints_and_children_cannot_touch_the_protocol() -> None:
    async with running() as client:
        answers = [client.ask("test/print", {}), client.ask("test/echo", {"after": 1})]
        assert await answers[0].answer(timeout=30) == {"child": 0}
        assert await answers[1].answer(timeout=30) == {"params": {"after": 1}}
        assert await client.shutdown() == 0
    for stray in ("stray print", "stray write", "stray child"):
        assert stray in stderr(client)


def test_cancel_and_answers_pass_a_stream_that_nobody_reads() -> None:
    with popen() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        flood = {"token": "t", "count": 10**7, "size": 10**5}
        process.stdin.write(messages(INITIALIZE))
        answer = process.stdout.read(1000)
        process.stdin.write(messages({"id": 1, "method": "test/flood", "params": flood}))
        # No pipe holds a whole frame of the flood, so with its first byte the way out is full.
        data = bytearray(process.stdout.read(1))
        process.stdin.write(
            messages(
                {"id": 2, "method": "test/echo"},
                {"method": "$/cancelRequest", "params": {"id": 1}},
            )
        )
        while not {1, 2} <= set(answers := answers_in(bytes(data))):
            data += (piece := process.stdout.read(65536))
            assert piece
        process.stdin.write(messages(*GOODBYE))
        data += process.stdout.read()
        assert process.wait(timeout=20) == 0
    assert [body["id"] for body in read_bodies(answer)] == [0]
    assert answers[2]["result"] == {"params": None}
    assert answers[1]["error"]["code"] == -32800


def answers_in(data: bytes) -> dict[object, dict[str, Any]]:
    return {body["id"]: body for body in read_bodies(data) if "id" in body}


async def test_files_as_streams_are_served_too(tmp_path: Path) -> None:
    asked, answered = tmp_path / "in", tmp_path / "out"
    asked.write_bytes(messages(INITIALIZE, {"id": 1, "method": "test/echo"}, *GOODBYE))
    with asked.open("rb") as source, answered.open("wb") as sink:
        process = await anyio.run_process(
            APP, stdin=source, stdout=sink, env=environment(), check=False
        )
    assert (process.returncode, process.stderr) == (0, b"")
    assert [body["id"] for body in read_bodies(answered.read_bytes())] == [0, 1, "end"]


@posix
@pytest.mark.parametrize("one_for_both", [True, False])
def test_sockets_as_streams_are_served_too(one_for_both: bool) -> None:
    ours, its = socket.socketpair()
    other, its_output = (ours.dup(), its.dup()) if one_for_both else socket.socketpair()
    other.settimeout(20)
    with ours, other, popen(stdin=its.fileno(), stdout=its_output.fileno()) as process:
        its.close()
        its_output.close()
        ours.sendall(messages(INITIALIZE, {"id": 1, "method": "test/echo"}))
        data = b""
        while len(list(read_bodies(data))) < 2:
            data += (piece := other.recv(65536))
            assert piece
        ours.sendall(messages(*GOODBYE))
        while piece := other.recv(65536):
            data += piece
        assert process.wait(timeout=20) == 0
    assert [body["id"] for body in read_bodies(data)] == [0, 1, "end"]


@posix
@pytest.mark.parametrize("closed", ["<&-", ">&-"])
async def test_without_standard_streams_it_says_so_and_ends(closed: str) -> None:
    process = await anyio.run_process(
        ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *APP], env=environment(), check=False
    )
    assert process.returncode == 1
    assert b"standard input or output is not open" in process.stderr


@posix
async def test_without_standard_error_it_serves_all_the_same() -> None:
    command = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *APP]
    async with connect(command, env=environment()) as client:
        await client.initialize()
        await client.request("test/print", {})
        assert await client.shutdown() == 0


async def test_nothing_heavy_is_imported_before_initialize_is_answered() -> None:
    program = (
        "import sys, turnbuckle.lsp.serve;"
        "print([m for m in ('lsprotocol', 'pygls', 'pydantic', 'httpx') if m in sys.modules])"
    )
    process = await anyio.run_process([sys.executable, "-c", program], env=environment())
    assert process.stdout.split() == [b"[]"]


# The port.


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[int, str, anyio.abc.Process]]:
    process = await anyio.open_process([*APP, "--tcp"], env=environment())
    assert process.stdout is not None
    async with process:
        line = orjson.loads(await process.stdout.receive())
        yield line["port"], line["token"], process


def token(value: object) -> dict[str, object]:
    return {"turnbuckle": {"token": value}}


async def test_a_port_serves_one_client_that_has_the_token() -> None:
    async with listening() as (port, secret, process):
        async with connect_tcp(port) as client:
            await client.initialize(options=token(secret))
            assert await client.request("test/echo", {"a": 1}) == {"params": {"a": 1}}
            await client.shutdown()
        with anyio.fail_after(20):
            assert await process.wait() == 0


async def test_a_client_without_the_right_token_is_refused_and_hung_up_on() -> None:
    async with listening() as (port, secret, process):
        wrong = [None, {}, token(""), token(None), token(5), token(secret + "x"), token("\udcff")]
        for options in wrong:
            async with connect_tcp(port) as client:
                with pytest.raises(ServerRefused) as caught:
                    await client.initialize(options=options)
                assert caught.value.code == -32803
                assert caught.value.data == {"kind": "token", "retryable": False}
                with anyio.fail_after(20):
                    await client.stop.wait()
        assert process.returncode is None
        async with connect_tcp(port) as client:
            await client.initialize(options=token(secret))


async def test_a_client_that_was_let_in_and_refused_for_another_reason_may_try_again() -> None:
    async with listening() as (port, secret, _), connect_tcp(port) as client:
        with pytest.raises(ServerRefused, match="not here"):
            await client.initialize(options=token(secret), folders=["refuse:"])
        await client.initialize(options=token(secret))
        assert await client.request("test/echo") == {"params": None}


async def test_a_token_is_good_for_one_client_and_the_server_ends_with_it() -> None:
    async with (
        listening() as (port, secret, process),
        connect_tcp(port) as idle,
        connect_tcp(port) as first,
    ):
        await first.initialize(options=token(secret))
        async with connect_tcp(port) as second:
            with pytest.raises(ServerRefused):
                await second.initialize(options=token(secret))
        assert await first.request("test/echo") == {"params": None}
        first.stop.set()
        with anyio.fail_after(20):
            assert await process.wait() == 1
            await idle.stop.wait()


async def test_a_client_that_has_shown_no_token_may_send_nothing_large() -> None:
    async with listening() as (port, secret, process):
        large = {"text": "x" * 2 * MAX_STRANGER}
        async with connect_tcp(port) as client:
            refused = client.ask("initialize", large)
            with anyio.fail_after(20), pytest.raises(NoAnswer):
                await refused.answer()
        async with connect_tcp(port) as client:
            await client.initialize(options=token(secret))
            assert await client.request("test/echo", large) == {"params": large}
            await client.shutdown()
        with anyio.fail_after(20):
            assert await process.wait() == 0
