"""A client that stops reading costs no memory, stops no session, and gets everything afterwards."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from turnbuckle.lsp import names
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.editor import MOST
from turnbuckle.lsp.protocol import TurnResult
from turnbuckle.lsp.rpc import REQUEST_FAILED, Question
from turnbuckle.lsp.rpc.answering import MOST as MOST_REQUESTS
from turnbuckle.lsp.rpc.writer import FULL
from turnbuckle.testing.completions import DONE, answer, chunk
from turnbuckle.testing.modelserver import ModelServer, Received, Response
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import served
from turnbuckle.testing.strategies import soak
from wire.process import FAULTS, Talking, memory, raw_process, talking
from wire.raw import INITIALIZE, RawPeer

# Any: JSON.
Json = dict[str, Any]

SESSIONS, TURNS = soak(4), 3
WORDS, WORD = 512, "word " * 400
"""A turn is so many pieces of such a text: 1 MB."""

LIMIT = soak(60)
"""Seconds that one of these may take, on a machine that does much else."""

UNREAD = 16 * 1024 * 1024
"""Bytes that a client which reads nothing may cost, beside what the sessions take anyway."""

FLOOD = soak(3000)
"""Requests that a client sends without reading an answer; each answer is some 30 kB."""

STALL = 0.5
"""Seconds without progress after which a server takes nothing more."""


def words(_: Received) -> Response:
    """An answer of a megabyte."""

    def chunks() -> Iterator[bytes]:
        piece = chunk({"content": WORD})
        for _ in range(WORDS):
            yield piece
        yield chunk(finish="stop")
        yield DONE

    return Response(chunks=chunks())


async def stream(folder: Path, *, unread: bool) -> int:
    """Run turns in several sessions at once; by how many bytes the server grew meanwhile."""
    async with (
        ModelServer([words] * SESSIONS * TURNS) as model,
        talking(folder, model.url) as there,
    ):
        sessions = [await opened(there, f"t{n}") for n in range(SESSIONS)]
        before = memory(there.process)
        if unread:
            there.held.hold()
        turns = [send(there, session, f"k{n}") for n in range(TURNS) for session in sessions]
        # The last turn of each has begun, so those before it have ended, whoever reads.
        await model.received(SESSIONS * TURNS)
        grown = memory(there.process) - before
        there.held.let_go()
        ends = [TurnResult.model_validate(await turn.answer()) for turn in turns]
        assert {end.end["kind"] for end in ends} == {"completed"}
        for number in range(SESSIONS):
            whole_and_in_order(there.held.seen, f"t{number}", turns[number::SESSIONS])
    assert not [fault for fault in FAULTS if fault in there.process.stderr]
    return grown


async def opened(there: Talking, token: str) -> str:
    session_id = str((await there.client.request(names.SESSION_OPEN, {})).session_id)
    await there.client.request(names.SESSION_EVENTS, {"sessionId": session_id, "token": token})
    return session_id


def send(there: Talking, session_id: str, key: str) -> Question:
    message = [{"type": "text", "text": "go"}]
    return there.client.ask(names.TURN, {"sessionId": session_id, "key": key, "input": message})


def whole_and_in_order(seen: list[Json], token: str, turns: list[Question]) -> None:
    """Each fact came once and in order, all of the text, and each answer after its turn's end."""
    answers = {turn.id: number for number, turn in enumerate(turns, 1)}
    seqs: list[int] = []
    ended: list[int] = []
    said: list[str] = []
    for message in seen:
        match message:
            case {"method": "$/progress", "params": {"token": t, "value": value}} if t == token:
                if "seq" in value:
                    seqs.append(value["seq"])
                if value["type"] == "assistant/message":
                    said.append(value["data"]["content"])
                if value["type"] == "turn/end":
                    ended.append(value["data"]["turn"])
            case {"id": str(id_)} if id_ in answers:
                assert ended[-1] >= answers[id_]
    assert seqs == sorted(set(seqs))
    assert ended == list(range(1, len(turns) + 1))
    assert said == [WORD * WORDS] * len(turns)


async def test_turns_run_on_and_all_is_told_when_the_client_reads_again(tmp_path: Path) -> None:
    with anyio.fail_after(2 * LIMIT):
        grown = await stream(tmp_path / "unread", unread=True)
        usual = await stream(tmp_path / "read", unread=False)
    print(f"grown by {grown >> 20} MiB unread, by {usual >> 20} MiB read")  # noqa: T201 - figures
    assert grown < usual + UNREAD


async def test_requests_whose_answers_nobody_reads_are_taken_no_more(tmp_path: Path) -> None:
    long = answer("word " * 6000)
    with anyio.fail_after(2 * LIMIT):
        async with (
            ModelServer([long, answer("again")]) as model,
            raw_process(tmp_path, model.url) as peer,
        ):
            await flood(peer)
    assert peer.process is not None
    assert not [fault for fault in FAULTS if fault in peer.process.stderr]


async def flood(peer: RawPeer) -> None:
    assert peer.process is not None
    peer.send(INITIALIZE)
    await peer.answer("init")
    session = (await peer.ask(names.SESSION_OPEN, {}))["result"]["sessionId"]
    message = [{"type": "text", "text": "go"}]
    turn = {"sessionId": session, "key": "k", "input": message}
    assert (await peer.ask(names.TURN, turn))["result"]["end"]["kind"] == "completed"
    before = memory(peer.process)
    peer.hold()
    page = {"sessionId": session, "from": 0, "to": 10_000}
    for number in range(FLOOD):
        peer.send({"id": number, "method": names.SESSION_READ, "params": page})
    assert await peer.stalled(STALL), "all of it was taken"
    grown = memory(peer.process, "VmHWM") - before
    peer.let_go()
    for number in range(FLOOD):
        await peer.answer(number)
    came = [one["id"] for one in peer.messages if type(one.get("id")) is int]
    assert came == list(range(FLOOD))
    print(f"{len(peer.data) >> 20} MiB of answers, grown by {grown >> 20} MiB")  # noqa: T201 - figures
    assert len(peer.data) > 4 * FULL
    assert grown < 4 * FULL
    again = await peer.ask(names.TURN, turn | {"key": "again"})
    assert again["result"]["end"]["kind"] == "completed"
    assert (await peer.ask("shutdown"))["result"] is None
    peer.send({"method": "exit"})
    assert await peer.process.end() == 0


async def test_open_requests_of_one_method_are_bounded_and_another_ends_them(
    tmp_path: Path,
) -> None:
    async def hang(_: object, __: object) -> Any:
        await anyio.sleep_forever()

    async with served(Scripted([hang, say("again")]), tmp_path) as server:
        session_id = await server.open()
        turns = [server.send(session_id, f"message {n}") for n in range(MOST_REQUESTS)]
        refused = await refusal(server.send(session_id, "one too many"))
        assert refused == (REQUEST_FAILED, "overloaded")
        await server.client.request(names.CANCEL, {"sessionId": session_id})
        first = TurnResult.model_validate(await turns[0].answer())
        assert first.end == {"kind": "aborted", "cause": "user"}
        for turn in turns[1:]:
            await refusal(turn)
        assert (await server.turn(session_id, "now")).end == {"kind": "completed"}


async def test_subscriptions_of_one_client_are_bounded_until_some_end(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        session_id = await server.open()
        for number in range(MOST):
            await server.watch(session_id, number)
        params = {"sessionId": session_id, "token": "one too many"}
        assert await refusal(server.client.ask(names.SESSION_EVENTS, params)) == (
            REQUEST_FAILED,
            "overloaded",
        )
        await server.client.request(names.SESSION_EVENTS_STOP, {"token": 7})
        await server.client.request(names.SESSION_EVENTS, params)


async def refusal(question: Question) -> tuple[int, str]:
    """The code and the kind with which a request is refused."""
    with pytest.raises(ServerRefused) as refused:
        await question.answer(timeout=LIMIT)
    data: Any = refused.value.data
    return refused.value.code, data["kind"]
