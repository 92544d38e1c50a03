"""A connection from its first message to its last, in any order that a client may choose."""

import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from random import Random

import anyio
from lsprotocol import types

from turnbuckle.app.server import Server
from turnbuckle.app.wiring import Outside, Wiring, wire
from turnbuckle.lsp import names
from turnbuckle.lsp.clientfacts import ClientFacts
from turnbuckle.lsp.rpc import (
    CANCELLED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    Connection,
)
from turnbuckle.lsp.rpc.framing import frame
from turnbuckle.lsp.rpc.streams import MemoryPipe
from turnbuckle.lsp.service import Service
from turnbuckle.testing.echo_app import EchoApp
from turnbuckle.testing.strategies import soak
from wire.raw import Json, RawPeer, reading
from wire.shapes import DEEP, ODD, Shapes, text_of

SEED = int(os.environ.get("TURNBUCKLE_FUZZ_SEED", "0")) or int.from_bytes(os.urandom(4))

LIVES = soak(150)
HANDSHAKES = soak(25)

LIMIT = soak(60)
"""Seconds that one of these may take, on a machine that does much else."""

QUICK, SLOW, UNKNOWN = "test/echo", "test/slow", "test/none"


class Life:
    """What one client says, and what each of its requests has to be answered with.

    Requests before `initialize`, after `shutdown` and of no method are refused; what is slow is
    answered when it is cancelled, at `shutdown` at the latest.
    """

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.due: dict[int, int | None] = {}
        self.slow: list[int] = []
        self.initialized = False
        self.shut = False

    def say(self) -> Json:
        """Something, which may be the next step of the life."""
        match self.rng.randrange(12):
            case 0:
                return self._request("initialize")
            case 1 if self.rng.random() < 0.3:
                return self._request("shutdown")
            case 2 | 3:
                return self._notification()
            case 4 | 5:
                return self._cancel()
            case _:
                return self._request(self.rng.choice([QUICK, QUICK, SLOW, UNKNOWN]))

    def _request(self, method: str) -> Json:
        identity = len(self.due)
        self.due[identity] = self._outcome(method)
        if self.due[identity] is None and method == SLOW:
            self.due[identity] = CANCELLED
            self.slow.append(identity)
        elif self.due[identity] is None and method == "initialize":
            self.initialized = True
        elif self.due[identity] is None and method == "shutdown":
            self.shut = True
        return {"id": identity, "method": method, "params": {}}

    def _outcome(self, method: str) -> int | None:
        if self.shut:
            return INVALID_REQUEST
        if not self.initialized and method != "initialize":
            return NOT_INITIALIZED
        if self.initialized and method == "initialize":
            return INVALID_REQUEST
        return METHOD_NOT_FOUND if method == UNKNOWN else None

    def _notification(self) -> Json:
        method = self.rng.choice(["test/note", "initialized", QUICK, "$/setTrace", "test/none"])
        return {"method": method, "params": self.rng.choice([{}, None, [1]])}

    def _cancel(self) -> Json:
        known = [*self.slow, len(self.due), 10_000, *range(len(self.due))]
        return {"method": "$/cancelRequest", "params": {"id": self.rng.choice(known)}}


async def test_each_request_is_answered_once_in_any_order_of_a_life() -> None:
    print(f"TURNBUCKLE_FUZZ_SEED={SEED}")  # noqa: T201 - shown where it fails
    for number in range(LIVES):
        life = Life(Random(SEED + number))
        up, down = MemoryPipe(), MemoryPipe()
        service = Service(up, down, EchoApp)
        async with anyio.create_task_group() as group, reading(down, up) as peer:
            group.start_soon(service.run)
            said = [life.say() for _ in range(life.rng.choice([3, 10, 40]))]
            end = life.rng.choice([[{"method": "exit"}], []])
            peer.send(*said)
            await until_answered(peer, life)
            peer.send(*end)
            peer.end()
            await peer.until_over()
        codes = {one["id"]: one.get("error", {}).get("code") for one in peer.messages}
        assert len(peer.messages) == len(codes) == len(life.due), f"seed {SEED + number}"
        assert codes == life.due, f"seed {SEED + number}"
        assert service.code == (0 if life.shut else 1)


async def until_answered(peer: RawPeer, life: Life) -> None:
    """Wait for all that is answered without an end of the connection."""
    waits = set() if life.shut else set(life.slow)
    for identity in set(life.due) - waits:
        await peer.answer(identity)


async def test_a_handshake_of_any_shape_is_answered_and_what_is_said_wrong_is_absent(
    tmp_path: Path,
) -> None:
    print(f"TURNBUCKLE_FUZZ_SEED={SEED}")  # noqa: T201 - shown where it fails
    for number in range(HANDSHAKES):
        rng = Random(SEED + number)
        shapes = Shapes(rng, {"processId": [None, 1, os.getpid()], "uri": ["file:///", "x:y"]})
        params = shapes.of(types.InitializeParams)
        params["initializationOptions"] = rng.choice([{"turnbuckle": rng.choice(ODD)}, *ODD[:9]])
        for _ in range(rng.choice([0, 1, 5])):
            params = shapes.damaged(params)
        begin = {"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": params}
        async with real(tmp_path / str(number)) as (peer, service):
            peer.write(frame(text_of(begin, 900, escaped=True)))
            error = (await peer.answer("init")).get("error")
            bad = not isinstance(params, dict) or DEEP in json.dumps(params)
            assert (error["code"] if error else None) == (INVALID_PARAMS if bad else None)
            if error is None:
                opened = await peer.ask(names.SESSION_OPEN, {})
                assert "result" in opened, f"seed {SEED + number}: {opened}"
                assert (await peer.ask("shutdown"))["result"] is None
            peer.send({"method": "exit"})
            await peer.until_over()
            assert service.code == (0 if error is None else 1)


@asynccontextmanager
async def real(folder: Path) -> AsyncIterator[tuple[RawPeer, Service]]:
    """A peer of the real app in this process."""
    settings = {
        "TURNBUCKLE_STATE_DIR": str(folder / "state"),
        "TURNBUCKLE_CONFIG": str(folder / "config.toml"),
    }

    async def put(connection: Connection, client: ClientFacts, env: Mapping[str, str]) -> Wiring:
        return await wire(connection, client, env, outside=Outside(local=()))

    up, down = MemoryPipe(), MemoryPipe()
    service = Service(up, down, partial(Server, env=settings, wire=put))
    with anyio.fail_after(LIMIT):
        async with anyio.create_task_group() as group, reading(down, up) as peer:
            group.start_soon(service.run)
            yield peer, service
