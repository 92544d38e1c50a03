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

    Right after the line of an `llm/stream`, `request` is its messages (JSON bytes, in order),
    `header` its `[config, system, tools]`, and `stated` the digest that the line itself claims.
    """

    def __init__(self) -> None:
        self.header = b""
        self.stated: str | None = None
        self.requests = 0
        self._patch: dict[str, Any] | None = None  # Any: JSON
        self._rows: list[tuple[int, bytes]] = []
        self._kept: list[tuple[int, bytes, bytes]] = []
        # The answer whose results are awaited: its seq, bytes, calls, and what has come.
        self._awaiting: tuple[int, bytes, list[str]] | None = None
        self._came: dict[str, tuple[int, bytes]] = {}

    def feed(self, line: bytes) -> None:
        """Take the next line of the log."""
        # {"seq":1,"time":2,"type":"tag","data":…} and a newline, cut at its quotation marks.
        parts = line.split(b'"', 9)
        if len(parts) < 10:
            raise ValueError("not a line of a session log")
        tag, rest = parts[7], parts[9]
        if tag not in _SHOWN:
            return
        if not (rest.startswith(b'data":') and rest.endswith(b"}\n")):
            raise ValueError("not a line of a session log")
        data, seq = rest[6:-2], int(parts[2][1:-1])
        if tag == b"llm/stream":
            self._stream(data)
        elif tag == b"request/header":
            x = orjson.loads(data)
            self.header = orjson.dumps([x["config"], x["system"], x["tools"]])
        else:
            self._take(seq, tag, data)
            self._kept.append((seq, tag, data))

    @property
    def request(self) -> list[bytes]:
        """The messages, made when they are wanted: most requests of a log are not looked at."""
        messages = [data for _, data in self._rows]
        if patch := self._patch:
            replaced = [orjson.dumps(message) for message in patch["messages"]]
            messages[patch["start"] : patch["end"]] = replaced
        return messages

    def digest(self) -> str:
        """The digest of the current request: SHA-256 over the SHA-256s of header and messages."""
        whole = hashlib.sha256(hashlib.sha256(self.header).digest())
        for message in self.request:
            whole.update(hashlib.sha256(message).digest())
        return whole.hexdigest()

    def _stream(self, data: bytes) -> None:
        self.requests += 1
        x = orjson.loads(data)
        self.stated, self._patch = x.get("digest"), x.get("patch")

    def _take(self, seq: int, tag: bytes, data: bytes) -> None:
        if tag == b"tool/result":
            self._result(seq, _call_id(data), data)
        elif tag == b"user/message":
            self._close()
            self._rows.append((seq, data))
        elif tag == b"context/pruned":
            for pruned in orjson.loads(data)["results"]:
                self._prune(pruned["seq"], pruned["content"])
        elif tag == b"context/rewound":
            self._rewind(min(orjson.loads(data)["to"], seq - 1))
        else:
            self._close()
            self._message(seq, tag, orjson.loads(data), data)

    def _message(self, seq: int, tag: bytes, x: dict[str, Any], data: bytes) -> None:
        if tag == b"assistant/message" and x["toolCalls"]:
            self._awaiting = (seq, data, [call["callId"] for call in x["toolCalls"]])
        elif tag == b"context/summary":
            first, last = x["covers"]
            inside = [i for i, (s, _) in enumerate(self._rows) if first <= s <= last]
            if inside:
                self._sum_up(inside[0], inside[-1] + 1, (last, data))
        elif x["content"]:
            self._rows.append((seq, data))

    def _sum_up(self, start: int, end: int, row: tuple[int, bytes]) -> None:
        while start > 0 and "callId" in orjson.loads(self._rows[start][1]):
            start -= 1
        while end < len(self._rows) and "callId" in orjson.loads(self._rows[end][1]):
            end += 1
        self._rows[start:end] = [row]

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
        self._rows.append((seq, data))
        for call_id in calls:
            self._rows.append(came.get(call_id) or (seq, _unknown(data, call_id)))

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


def _call_id(data: bytes) -> str:
    """The call that a result answers; the results are most of a log's bytes, so it is looked for.

    In JSON, a quotation mark inside a text has a backslash before it.
    """
    at = data.index(b'"callId":"') + 10
    raw = data[at : data.index(b'"', at)]
    return str(orjson.loads(data)["callId"]) if b"\\" in raw else raw.decode()


def _unknown(answer: bytes, call_id: str) -> bytes:
    x = orjson.loads(answer)
    return orjson.dumps(
        {
            "turn": x["turn"], "step": x["step"], "callId": call_id, "content": _UNKNOWN,
            "isError": True, "code": "TOOL_OUTCOME_UNKNOWN",
        }
    )  # fmt: skip


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
