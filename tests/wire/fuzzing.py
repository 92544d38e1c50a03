"""Random messages of a client that keeps to nothing, and what has to come of each."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from lsprotocol import types

from turnbuckle.lsp.invocations import COMMANDS
from turnbuckle.lsp.protocol import REQUESTS
from turnbuckle.lsp.rpc import (
    CANCELLED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    PARSE_ERROR,
    REQUEST_FAILED,
)
from turnbuckle.lsp.rpc.framing import frame
from wire.shapes import ODD, Shapes, text_of

# Any: JSON.
Json = Any

CODES = {
    PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, NOT_INITIALIZED,
    REQUEST_FAILED, CANCELLED,
}  # fmt: skip
"""The codes that bad input may get; an internal error is a fault of ours."""

ENDING = ("initialize", "shutdown", "exit")
"""What begins or ends a connection; sent on purpose only."""


@dataclass
class Expected:
    """How many answers each id gets; `nobody` counts those that bear none."""

    by_id: Counter[str] = field(default_factory=Counter)
    nobody: int = 0

    def request(self, identity: int | str) -> None:
        """One more answer with this id."""
        self.by_id[json.dumps(identity)] += 1


class Fuzz:
    """Makes frames, and remembers in `expected` what each of them has to be answered with.

    `requests` and `notifications` are the methods that are served.
    """

    def __init__(
        self,
        rng: Random,
        requests: Sequence[str],
        notifications: Sequence[str],
        uris: Sequence[str],
    ) -> None:
        self.rng = rng
        self.expected = Expected()
        self.sent = 0
        self.ids: list[Json] = ["nobody"]
        self.sessions: list[str] = ["no-such-session"]
        self.approvals: list[str] = ["no-such-approval"]
        self.hunks: list[str] = ["no-such-hunk"]
        self._requests = [method for method in requests if method not in ENDING]
        self._notifications = [method for method in notifications if method not in ENDING]
        places = [*uris, "untitled:1", "turnbuckle-session:/x/y.md", "http://example.org/", "c:\\x"]
        self._shapes = Shapes(
            rng,
            {
                "sessionId": self.sessions,
                "approvalId": self.approvals,
                "hunkId": self.hunks,
                "hunks": [{}, {"no-such-hunk": True}, None],
                "uri": places,
                "cwd": places,
                "token": ["t1", "t2", 3],
                "partialResultToken": ["t1", "p", None],
                "workDoneToken": ["w", None, 5],
                "key": ["k1", "k2", "k3"],
                "command": list(COMMANDS),
                "whenBusy": ["queue", "steer", "reject"],
            },
        )

    def frame(self) -> bytes:
        """One message, of any kind."""
        self.sent += 1
        kind = self.rng.random()
        if kind < 0.55:
            return self._request()
        if kind < 0.75:
            return self._notification()
        if kind < 0.83:
            return self._cancel()
        if kind < 0.9:
            return self._response()
        return self._nonsense()

    def _identity(self) -> int | str:
        if self.rng.random() < 0.1 and len(self.ids) > 1:
            return self.rng.choice(self.ids[1:])  # type: ignore[no-any-return] # it was one
        kinds: list[int | str] = [self.sent, f"i{self.sent}", -self.sent, f"é{self.sent}"]
        new = self.rng.choice(kinds)
        self.ids.append(new)
        return new

    def _request(self) -> bytes:
        identity = self._identity()
        method = self.rng.choice(self._requests)
        if self.rng.random() < 0.05:
            method = self.rng.choice(
                ["", "x" * 5000, "turnbuckle/none", "$/none", "\ud800", *ENDING[:1]]
            )
        self.expected.request(identity)
        return self._message(id=identity, method=method, **self._with_params(method))

    def _notification(self) -> bytes:
        # Also one that should have been a request: it does nothing then.
        method = self.rng.choice(self._notifications * 3 + self._requests)
        return self._message(method=method, **self._with_params(method))

    def _cancel(self) -> bytes:
        known = [*self.ids[-20:], self.sent + 3, "later"]
        identity = self.rng.choice(known) if self.rng.random() < 0.8 else self.rng.choice(ODD)
        return self._message(method="$/cancelRequest", params={"id": identity})

    def _response(self) -> bytes:
        identity = self.rng.choice(["s:1", "s:2", "s:999", 5, self.ids[-1]])
        parts = self.rng.choice([{"result": self.rng.choice(ODD)}, {"error": self.rng.choice(ODD)}])
        return self._message(id=identity, **parts)

    def _nonsense(self) -> bytes:
        self.expected.nobody += 1
        wrong: list[Json] = [
            [], [{"id": 1, "method": "x"}], None, 5, "text", {}, {"params": {}}, {"result": 1},
            {"id": None, "method": "x"}, {"id": True, "method": "x"}, {"id": 1.5, "method": "x"},
            {"id": [], "method": "x"}, {"id": 10**30, "method": "x"}, {"method": 5}, {"method": None},
            {"id": {}, "result": 1},
        ]  # fmt: skip
        if self.rng.random() < 0.5:
            return frame(json.dumps(self.rng.choice(wrong)).encode())
        bodies = [
            b"", b"{", b"[1", b"{]", b"\xff\xfe", b'"\xed\xa0\x80"', b"nul", b"{'a':1}", b"\0",
            b'{"id":1,"method":"x","params":NaN}', b'{"a":1}{"b":2}', b"[" * 100_000,
            b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 50_000, '{"é": "'.encode("utf-16"),
            b"\xef\xbb\xbf", b'{"id":1,}', b"-", b"1e", b'{"id":"\\u12"}',
        ]  # fmt: skip
        return frame(self.rng.choice(bodies))

    def _with_params(self, method: str) -> dict[str, Json]:
        if self.rng.random() < 0.05:
            return {}
        if method == "workspace/executeCommand":
            command = self.rng.choice(list(COMMANDS))
            argument = self._shapes.of(COMMANDS[command][0])
            params: Json = {"command": command, "arguments": [argument]}
        elif method in REQUESTS:
            params = self._shapes.of(REQUESTS[method][0])
        elif method in types.METHOD_TO_TYPES and types.METHOD_TO_TYPES[method][2] is not None:
            params = self._shapes.of(types.METHOD_TO_TYPES[method][2])
        else:
            params = self.rng.choice(ODD)
        for _ in range(self.rng.choice([0, 0, 0, 1, 2])):
            params = self._shapes.damaged(params)
        return {"params": params}

    def _message(self, **members: Json) -> bytes:
        if self.rng.random() < 0.9:
            members = {"jsonrpc": "2.0", **members}
        levels = self.rng.choice([3, 100, 900])
        return frame(text_of(members, levels, escaped=self.rng.random() < 0.5))
