"""The requests of a session, from its stored lines alone: the independent half of the check.

It reads JSON, not facts, and shares no code with what builds the requests; so when both agree, a
request is really in the log. The same code is the check before every request and `sessions verify`.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import orjson

_SHOWN = frozenset(
    (b"request/header", b"llm/stream", b"user/message", b"assistant/message", b"tool/result",
     b"context/pruned", b"context/summary", b"context/rewound")
)  # fmt: skip
_UNKNOWN = "<tool error: the outcome is unknown; look before you repeat it>"


class Rebuild:
    """A fold over lines.

    After the line of an `llm/stream`, `request` is its messages (JSON bytes, in order), `header`
    its `[config, system, tools]`, and `stated` the digest that the line itself claims.
    """

    def __init__(self) -> None:
        self.header = b""
        self.request: list[bytes] = []
        self.stated: str | None = None
        self.requests = 0
        self._rows: list[tuple[int, bytes]] = []
        self._kept: list[tuple[int, bytes, bytes]] = []
        # The answer whose results are awaited: its seq, bytes, calls, and what has come.
        self._awaiting: tuple[int, bytes, list[str]] | None = None
        self._came: dict[str, tuple[int, bytes]] = {}

    def feed(self, line: bytes) -> None:
        """Take the next line of the log."""
        at = line.index(b'"type":"') + 8
        tag = line[at : line.index(b'"', at)]
        if tag not in _SHOWN:
            return
        data = line[line.index(b'"data":') + 7 : line.rindex(b"}")]
        seq = int(line[7 : line.index(b",")])
        if tag == b"request/header":
            x = orjson.loads(data)
            self.header = orjson.dumps([x["config"], x["system"], x["tools"]])
        elif tag == b"llm/stream":
            self._stream(orjson.loads(data))
        else:
            self._take(seq, tag, data)
            self._kept.append((seq, tag, data))

    def digest(self) -> str:
        """The digest of the current request: SHA-256 over the SHA-256s of header and messages."""
        whole = hashlib.sha256(hashlib.sha256(self.header).digest())
        for message in self.request:
            whole.update(hashlib.sha256(message).digest())
        return whole.hexdigest()

    def _stream(self, x: dict[str, Any]) -> None:
        self.request = [data for _, data in self._rows]
        self.requests += 1
        self.stated = x.get("digest")
        if patch := x.get("patch"):
            replaced = [orjson.dumps(message) for message in patch["messages"]]
            self.request[patch["start"] : patch["end"]] = replaced

    def _take(self, seq: int, tag: bytes, data: bytes) -> None:
        x = orjson.loads(data)
        if tag == b"tool/result":
            self._result(seq, x["callId"], data)
        elif tag == b"context/pruned":
            for pruned in x["results"]:
                self._prune(pruned["seq"], pruned["content"])
        elif tag == b"context/rewound":
            self._rewind(min(x["to"], seq - 1))
        else:
            self._close()
            self._message(seq, tag, x, data)

    def _message(self, seq: int, tag: bytes, x: dict[str, Any], data: bytes) -> None:
        if tag == b"assistant/message" and x["toolCalls"]:
            self._awaiting = (seq, data, [call["callId"] for call in x["toolCalls"]])
        elif tag == b"context/summary":
            first, last = x["covers"]
            inside = [i for i, (s, _) in enumerate(self._rows) if first <= s <= last]
            if inside:
                self._rows[inside[0] : inside[-1] + 1] = [(last, data)]
        elif x["content"] or tag == b"user/message":
            self._rows.append((seq, data))

    def _result(self, seq: int, call_id: str, data: bytes) -> None:
        if self._awaiting is None or call_id in self._came:
            return
        if call_id in self._awaiting[2]:
            self._came[call_id] = (seq, data)
            if len(self._came) == len(self._awaiting[2]):
                self._close()

    def _close(self) -> None:
        """Put the awaited answer into its place, with a made-up result for each that is missing."""
        if self._awaiting is None:
            return
        seq, data, calls = self._awaiting
        came, self._awaiting, self._came = self._came, None, {}
        x = orjson.loads(data)
        self._rows.append((seq, data))
        for call_id in calls:
            unknown = {
                "turn": x["turn"], "step": x["step"], "callId": call_id, "content": _UNKNOWN,
                "isError": True, "code": "TOOL_OUTCOME_UNKNOWN",
            }  # fmt: skip
            self._rows.append(came.get(call_id) or (seq, orjson.dumps(unknown)))

    def _prune(self, seq: int, content: str) -> None:
        for index, (at, data) in enumerate(self._rows):
            x = orjson.loads(data) if at == seq else {}
            if "callId" in x:
                self._rows[index] = (at, orjson.dumps(x | {"content": content}))

    def _rewind(self, to: int) -> None:
        chain: list[tuple[int, bytes, bytes]] = []
        for row in reversed(self._kept):
            if row[0] <= to and row[1] != b"context/rewound":
                chain.append(row)
            elif row[0] <= to:
                to = min(orjson.loads(row[2])["to"], row[0] - 1)
        self._rows, self._awaiting, self._came = [], None, {}
        for row in reversed(chain):
            self._take(*row)


def verify(lines: Iterator[bytes]) -> Iterator[tuple[int, bool]]:
    """For each request of a log: its number from 1, and whether it could be rebuilt exactly.

    Raises:
        ValueError: a line is damaged.
    """
    rebuild = Rebuild()
    for line in lines:
        before = rebuild.requests
        rebuild.feed(line)
        if rebuild.requests > before:
            yield rebuild.requests, rebuild.digest() == rebuild.stated
