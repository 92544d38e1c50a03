"""Bytes that are no frames, frames that are no messages: answered or ended, never worse."""

import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise, repeat
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest

from turnbuckle.lsp import names
from turnbuckle.lsp.rpc import INVALID_REQUEST, PARSE_ERROR
from turnbuckle.lsp.rpc.framing import MAX_BODY, MAX_HEADER, frame
from turnbuckle.lsp.rpc.streams import MemoryPipe
from turnbuckle.lsp.service import Service
from turnbuckle.testing.completions import answer, chunk
from turnbuckle.testing.echo_app import EchoApp
from turnbuckle.testing.modelserver import ModelServer, Response
from turnbuckle.testing.scripted import Scripted
from turnbuckle.testing.served import served
from turnbuckle.testing.strategies import soak
from wire.fuzzing import CODES, Fuzz
from wire.process import FAULTS, memory, raw_process
from wire.raw import INITIALIZE, RawPeer, message, reading

# Any: JSON.
Json = dict[str, Any]

SEED = int(os.environ.get("TURNBUCKLE_FUZZ_SEED", "0")) or int.from_bytes(os.urandom(4))

STREAMS = soak(150)
FRAMES = soak(1500)

LIMIT = soak(60)
"""Seconds that one of these may take, on a machine that does much else."""

ECHO = message({"id": "e", "method": "test/echo", "params": {"text": "é😀"}})
BODY = b'{"jsonrpc":"2.0","id":"e","method":"test/echo"}'
N = len(BODY)

GOOD_HEADERS = [
    b"Content-Length: %d\r\n\r\n" % N,
    b"content-length:%d\n\n" % N,
    b"CONTENT-LENGTH:   %d   \r\n\r\n" % N,
    b"Content-Length: %d\r\nContent-Length: %d\r\n\r\n" % (N, N),
    b"Content-Length: 00%d\r\n\r\n" % N,
    b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n" % N,
    b"Content-Length: %d\r\nContent-Type: text/plain; charset=latin-1\r\n\r\n" % N,
    b"X-Any: \xff\xfe\r\nContent-Length: %d\r\n\r\n" % N,
    b"\r\n\r\n\nContent-Length: %d\r\n\r\n" % N,
]

BAD_HEADERS = [
    b"\r\n\r\nno header at all\r\n\r\n",
    b"Content-Type: x\r\n\r\n",
    b"Content-Length: -5\r\n\r\n",
    b"Content-Length: +5\r\n\r\n",
    b"Content-Length: 5 5\r\n\r\n",
    b"Content-Length: 0x10\r\n\r\n",
    b"Content-Length: 5.0\r\n\r\n",
    b"Content-Length: 1_0\r\n\r\n",
    "Content-Length: \u0661\u0662\r\n\r\n".encode(),
    b"Content-Length: \r\n\r\n",
    b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
    b"Content-Length: 5, 5\r\n\r\n",
    b"Content-Length: " + b"9" * 40 + b"\r\n\r\n",
    b"Content-Length: %d\r\n\r\n" % (MAX_BODY + 1),
    b"Content-Length\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b'{"jsonrpc":"2.0","id":1,"method":"test/echo"}\r\n\r\n',
    b"X: " + b"y" * MAX_HEADER,
    b"\0" * (MAX_HEADER + 1),
    bytes(range(128, 256)) * 200,
]

BAD_BODIES = [b"", b"{", b"\xff", b"NaN", b"[" * 100_000, b'{"id":1}{', '"é"'.encode("utf-16")]


@asynccontextmanager
async def echoing() -> AsyncIterator[tuple[RawPeer, Service]]:
    """A peer of the echo app that has shaken hands."""
    up, down = MemoryPipe(), MemoryPipe()
    service = Service(up, down, EchoApp)
    async with anyio.create_task_group() as group, reading(down, up) as peer:
        group.start_soon(service.run)
        peer.send(INITIALIZE)
        await peer.answer("init")
        yield peer, service
        peer.close()


def in_pieces(rng: Random, data: bytes) -> Sequence[bytes]:
    """The same bytes, cut at random places, now and then at each."""
    if rng.random() < 0.1:
        return [data[i : i + 1] for i in range(len(data))]
    cuts = sorted(rng.sample(range(len(data) + 1), min(len(data), rng.choice([0, 1, 3, 20]))))
    ends = [0, *cuts, len(data)]
    return [data[start:end] for start, end in pairwise(ends)]


async def test_a_header_in_any_spelling_is_read_and_the_stream_stays_in_step() -> None:
    async with echoing() as (peer, _):
        for count, header in enumerate(GOOD_HEADERS, 1):
            peer.write(header + BODY)
            assert "result" in await peer.answer("e", count), header


async def test_a_body_that_is_no_message_is_answered_and_the_stream_stays_in_step() -> None:
    async with echoing() as (peer, _):
        for count, body in enumerate(BAD_BODIES, 1):
            peer.write(frame(body) + ECHO)
            assert "result" in await peer.answer("e", count), body[:20]
        assert list(peer.errors()) == [(None, PARSE_ERROR)] * len(BAD_BODIES)


async def test_a_stream_that_is_out_of_step_gets_a_last_word_and_ends() -> None:
    rng = Random(SEED)
    print(f"TURNBUCKLE_FUZZ_SEED={SEED}")  # noqa: T201 - shown where it fails
    for number in range(STREAMS):
        before = [
            rng.choice([ECHO, frame(rng.choice(BAD_BODIES))]) for _ in range(rng.randrange(4))
        ]
        header = BAD_HEADERS[number % len(BAD_HEADERS)]
        async with echoing() as (peer, service):
            for piece in in_pieces(rng, b"".join(before) + header + ECHO * 2):
                peer.write(piece)
            await peer.until_over()
        assert len(peer.answers("e")) == before.count(ECHO)
        *errors, (_, last) = peer.errors()
        assert [code for _, code in errors] == [PARSE_ERROR] * (len(before) - before.count(ECHO))
        assert last in (PARSE_ERROR, INVALID_REQUEST)
        assert service.code == 1


async def test_a_stream_that_ends_anywhere_is_an_end_and_nothing_else() -> None:
    for cut in range(len(ECHO) + 1):
        async with echoing() as (peer, service):
            peer.write(ECHO[:cut])
            peer.end()
            await peer.until_over()
        # A whole request may be cancelled by the end, but is answered once.
        assert len(peer.answers("e")) == (cut == len(ECHO))
        assert [one for one in peer.errors() if one[0] is None] == []
        assert service.code == 1


async def test_any_length_that_does_not_fit_its_body_is_survived_or_ends_the_stream() -> None:
    for length in range(N + 30):
        async with echoing() as (peer, _):
            peer.write(b"Content-Length: %d\r\n\r\n" % length + BODY)
            peer.end()
            await peer.until_over()
        assert len(peer.answers("e")) == (length == N)


# -- a real server -------------------------------------------------------------------------------


def endless(_: object) -> Response:
    """An answer that does not end by itself."""
    return Response(chunks=repeat(chunk({"content": "words " * 100})))


async def served_methods(folder: Path) -> tuple[list[str], list[str]]:
    """The requests and the notifications that a server handles."""
    async with served(Scripted([]), folder) as server:
        await server.open()
        incoming = server.connection.incoming
        return sorted(incoming.requests), sorted(incoming.notifications)


async def test_one_server_survives_them_all_and_answers_each_request_once(tmp_path: Path) -> None:
    print(f"TURNBUCKLE_FUZZ_SEED={SEED}")  # noqa: T201 - shown where it fails
    rng = Random(SEED)
    fuzz = Fuzz(rng, *await served_methods(tmp_path / "methods"), [])
    with anyio.fail_after(LIMIT):
        async with (
            ModelServer([lambda _: answer("words")] * 10 * FRAMES) as model,
            raw_process(tmp_path, model.url) as peer,
        ):
            assert peer.process is not None
            peer.send(INITIALIZE)
            await peer.answer("init")
            fuzz.sessions.append((await peer.ask(names.SESSION_OPEN, {}))["result"]["sessionId"])
            await play(peer, fuzz)
            await works(peer)
            assert (await peer.ask("shutdown"))["result"] is None
            peer.send({"method": "exit"})
            assert await peer.process.end() == 0
            await peer.until_over()
    ids = Counter(json.dumps(one["id"]) for one in peer.messages if "method" not in one)
    for own in ("init", *(one for one in ids if one.startswith('"ask-'))):
        ids.pop(own, None)
    assert ids.pop("null", 0) == fuzz.expected.nobody
    assert {code for _, code in peer.errors()} <= CODES
    assert Counter({id_: n for id_, n in ids.items() if id_ != '"init"'}) == fuzz.expected.by_id
    assert not [fault for fault in FAULTS if fault in peer.process.stderr], peer.process.stderr


async def play(peer: RawPeer, fuzz: Fuzz) -> None:
    """Write everything, cut at random places, and wait now and then until it is read."""
    while fuzz.sent < FRAMES:
        frames = [fuzz.frame() for _ in range(fuzz.rng.choice([1, 3, 30]))]
        for piece in in_pieces(fuzz.rng, b"".join(frames)):
            peer.write(piece)
            await peer.drained()
        if fuzz.rng.random() < 0.2:
            await peer.ask(names.MODELS, {})


async def works(peer: RawPeer) -> None:
    """A new session works as ever."""
    session = (await peer.ask(names.SESSION_OPEN, {}))["result"]["sessionId"]
    turn = {
        "sessionId": session,
        "key": "last",
        "input": [{"type": "text", "text": "still there?"}],
    }
    assert (await peer.ask(names.TURN, turn))["result"]["end"] == {"kind": "completed"}


async def test_a_whole_conversation_may_come_byte_by_byte(tmp_path: Path) -> None:
    with anyio.fail_after(LIMIT):
        async with (
            ModelServer([answer("words")]) as model,
            raw_process(tmp_path, model.url) as peer,
        ):
            for data in (message(INITIALIZE), message({"id": 1, "method": names.SESSION_OPEN})):
                for at in range(len(data)):
                    peer.write(data[at : at + 1])
                    await peer.drained()
            await peer.answer(1)
            await works(peer)


@pytest.mark.parametrize("header", [BAD_HEADERS[2], BAD_HEADERS[13], BAD_HEADERS[17], b""])
async def test_a_real_server_ends_with_a_clear_word(tmp_path: Path, header: bytes) -> None:
    with anyio.fail_after(LIMIT):
        async with raw_process(tmp_path) as peer:
            assert peer.process is not None
            peer.send(INITIALIZE)
            await peer.answer("init")
            peer.write(header)
            if not header:
                peer.end()
            await peer.until_over()
            assert await peer.process.end() == 1
    said = [one["error"]["message"] for one in peer.messages if "error" in one]
    assert len(said) == bool(header)
    assert not [fault for fault in FAULTS[:3] if fault in peer.process.stderr]


@pytest.mark.parametrize("how", ["it is gone", "it only reads on", "it only writes on"])
async def test_a_client_that_goes_in_the_middle_of_an_answer_leaves_a_whole_log(
    tmp_path: Path, how: str
) -> None:
    with anyio.fail_after(LIMIT):
        async with (
            ModelServer([endless]) as model,
            raw_process(tmp_path, model.url) as peer,
        ):
            assert peer.process is not None
            peer.send(INITIALIZE)
            await peer.answer("init")
            session = (await peer.ask(names.SESSION_OPEN, {}))["result"]["sessionId"]
            params: Json = {"sessionId": session, "key": "k", "partialResultToken": 1}
            params["input"] = [{"type": "text", "text": "go"}]
            peer.send({"id": "t", "method": names.TURN, "params": params})
            await peer.until(lambda: peer.of("$/progress") != [])
            if how == "it only reads on":
                peer.end()
                await peer.until_over()
                assert len(peer.answers("t")) == 1
            elif how == "it only writes on":
                peer.stop_reading()
            else:
                peer.close()
            assert await peer.process.end() == 1
    assert not [fault for fault in FAULTS if fault in peer.process.stderr], peer.process.stderr
    (log,) = (tmp_path / "state").rglob("*.jsonl")
    lines = [json.loads(line) for line in log.read_bytes().splitlines()]
    assert [line["seq"] for line in lines] == list(range(len(lines)))
    assert lines[-1]["type"] == "turn/end"


async def test_a_client_that_never_ends_costs_no_memory_and_stops_nothing(tmp_path: Path) -> None:
    note = message({"method": "$/nothing", "params": {"text": "x" * 1000}})
    with anyio.fail_after(LIMIT):
        async with (
            ModelServer([answer("words")] * 2) as model,
            raw_process(tmp_path, model.url) as peer,
        ):
            assert peer.process is not None
            peer.send(INITIALIZE)
            await peer.answer("init")
            await works(peer)
            before = memory(peer.process, "VmHWM")
            for _ in range(soak(20)):
                peer.write(note * 1000 + b"\r\n" * 100_000)
                await peer.drained()
                await peer.ask(names.MODELS, {})
            await works(peer)
            grown = memory(peer.process, "VmHWM") - before
    print(f"grown by {grown >> 20} MiB")  # noqa: T201 - figures
    assert grown < 32 * 1024 * 1024


async def test_a_large_message_is_taken_and_given_back_again(tmp_path: Path) -> None:
    nested = b"[" + b"[]," * (2 * 1024 * 1024) + b"0]"
    text = json.dumps("x" * (16 * 1024 * 1024)).encode()
    head = b'{"jsonrpc":"2.0","id":"big","method":"textDocument/hover","params":{"textDocument":'
    head += b'{"uri":"a"},"position":{"line":0,"character":0},"x":'
    with anyio.fail_after(LIMIT):
        async with raw_process(tmp_path) as peer:
            assert peer.process is not None
            peer.send(INITIALIZE)
            await peer.answer("init")
            await peer.ask(names.MODELS, {})
            before = memory(peer.process)
            for count, value in enumerate([text, nested] * 2, 1):
                peer.write(frame(head + value + b"}}"))
                assert "result" in await peer.answer("big", count)
            after, worst = memory(peer.process), memory(peer.process, "VmHWM")
    print(f"grown by {after - before >> 20}, at worst {worst - before >> 20} MiB")  # noqa: T201 - figures
    assert after - before < 128 * 1024 * 1024
    assert worst - before < 64 * len(nested)
