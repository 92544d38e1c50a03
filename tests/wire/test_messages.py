"""Whatever a client sends, each request is answered once and the server goes on."""

import json
import os
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest

from turnbuckle.lsp.client import ServerRefused
from turnbuckle.model.port import Emit, Reply, Request
from turnbuckle.session.events import UserMessage
from turnbuckle.testing.editor import HANG
from turnbuckle.testing.scripted import say, stream
from turnbuckle.testing.served import Served, served
from turnbuckle.testing.strategies import soak
from turnbuckle.workspace.paths import uri_of
from wire.fuzzing import CODES, Fuzz

# Any: JSON.
Json = Any

SEED = int(os.environ.get("TURNBUCKLE_FUZZ_SEED", "0")) or int.from_bytes(os.urandom(4))
ROUNDS, MESSAGES = soak(6), 400

LIMIT = 90.0
"""Seconds that a round may take, on a machine that does much else."""


class Whimsical:
    """A model that says something or wants to do something, but is plain to a plain question."""

    window = None

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    async def __call__(self, request: Request, emit: Emit) -> Reply:
        last = [m.content for m in request.messages if isinstance(m, UserMessage)][-1:]
        weights = [1, 0, 0, 0] if last == [PLAIN] else [5, 3, 2, 1]
        (reply,) = self._rng.choices(REPLIES, weights)
        await stream(reply, emit)
        return reply


PLAIN = "still there?"
REPLIES = [
    say("words"),
    say("", ("", "write_file", {"path": "a.txt", "content": "new\n"})),
    say("", ("", "read_file", {"path": "a.txt"})),
    say("", ("", "run_command", {"command": "make"})),
]


def learn(server: Served, fuzz: Fuzz) -> None:
    """Take up the ids that mean something by now."""
    opened = server.wirings[0].sessions.open_sessions
    fuzz.sessions[1:] = [one.session.id for one in opened][-5:]
    pending = [p for one in opened for p in one.agent.approvals.pending][-5:]
    fuzz.approvals[1:] = [one.approval_id for one in pending]
    fuzz.hunks[1:] = [hunk for one in pending for hunk in one.hunks]


def counted(messages: list[Json]) -> tuple[Counter[str], Counter[int]]:
    """Answers by id, and errors by code; requests of the server and answers to ours left out."""
    ids: Counter[str] = Counter()
    codes: Counter[int] = Counter()
    for one in messages:
        if "method" in one or str(one["id"]).startswith("c:"):
            continue
        assert ("result" in one) is not ("error" in one), one
        ids[json.dumps(one["id"])] += 1
        if "error" in one:
            assert isinstance(one["error"]["message"], str)
            codes[one["error"]["code"]] += 1
    return ids, codes


@pytest.mark.parametrize("number", range(ROUNDS))
async def test_each_request_is_answered_once_whatever_is_sent(
    tmp_path: Path, number: int, caplog: pytest.LogCaptureFixture
) -> None:
    seed = SEED + number
    print(f"TURNBUCKLE_FUZZ_SEED={seed}")  # noqa: T201 - shown where it fails
    rng = Random(seed)
    with anyio.fail_after(LIMIT):
        async with served(
            Whimsical(rng),
            tmp_path,
            answer=lambda _, titles: rng.choice([HANG, None, *titles]),
            events=rng.random() < 0.5,
        ) as server:
            (server.work / "a.txt").write_text("one\n", "utf-8")
            await server.open()
            incoming = server.connection.incoming
            fuzz = Fuzz(
                rng,
                sorted(incoming.requests),
                sorted(incoming.notifications),
                [uri_of(server.work / "a.txt"), uri_of(server.work)],
            )
            await play(server, fuzz)
            await still_there(server)
            await server.client.request("shutdown")
            ids, codes = counted(server.held.seen)
    assert ids.pop("null", 0) == fuzz.expected.nobody
    assert ids == fuzz.expected.by_id
    assert set(codes) <= CODES, codes
    assert [r.getMessage() for r in caplog.records if r.levelname == "ERROR"] == []


async def play(server: Served, fuzz: Fuzz) -> None:
    """Send everything, many at once now and then, and read what comes."""
    sent = 0
    while sent < MESSAGES:
        burst = fuzz.rng.choice([1, 1, 2, 5, 40])
        for _ in range(burst):
            server.client.connection.writer.post(fuzz.frame())
        sent += burst
        await server.client.request("turnbuckle/models", {})
        learn(server, fuzz)


async def still_there(server: Served) -> None:
    """A new session works as ever."""
    session_id = await server.open()
    await server.watch(session_id, "at last")
    try:
        end = (await server.turn(session_id, PLAIN, key="at last")).end["kind"]
    except ServerRefused as refused:
        raise AssertionError(refused.message) from refused
    assert end == "completed"
