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
_TYPE, _DATA = b',"type":"', b'","data":'
_UNKNOWN = "<tool error: the outcome is unknown; look before you repeat it>"


class _Row:
    """A fact that is shown: its number and its data, or its line and where in it they begin."""

    __slots__ = ("begin", "data", "seq")

    def __init__(self, seq: int, data: bytes, begin: int = 0) -> None:
        self.seq = seq
        self.data = data
        self.begin = begin

    def cut(self) -> bytes:
        """The data, cut out of the line by now."""
        if self.begin:
            self.data, self.begin = self.data[self.begin : -2], 0
        return self.data


class Rebuild:
    """A fold over lines.

    Right after the line of an `llm/stream`, `request` is its messages (JSON bytes, in order),
    `header` its `[config, system, tools]`, and `stated` the digest that the line itself claims.
    """

    def __init__(self) -> None:
        self.header = b""
        self.requests = 0
        self._asked = b"{}"  # the data of the last `llm/stream`
        self._rows: list[_Row] = []
        self._kept: list[tuple[_Row, bytes]] = []
        # What is not cut out of its line: a log is opened more often than a request is looked at.
        self._uncut: list[_Row] = []
        # The answer whose results are awaited, its calls, and what has come.
        self._awaiting: tuple[_Row, list[str]] | None = None
        self._came: dict[str, _Row] = {}

    def feed(self, line: bytes) -> None:
        """Take the next line of the log."""
        # {"seq":1,"time":2,"type":"tag","data":…} and a newline.
        begin = line.find(_TYPE, 0, 96) + len(_TYPE)
        end = line.find(b'"', begin)
        if begin < len(_TYPE) or end < 0:
            raise ValueError("not a line of a session log")
        tag = line[begin:end]
        if tag not in _SHOWN:
            return
        if not (line.startswith(_DATA, end) and line.endswith(b"}\n")):
            raise ValueError("not a line of a session log")
        row = _Row(int(line[7 : line.index(b",")]), line, end + len(_DATA))
        if tag == b"tool/result":
            self._uncut.append(row)
        else:
            row.cut()
        if tag == b"llm/stream":
            self.requests, self._asked = self.requests + 1, row.data
        elif tag == b"request/header":
            x = orjson.loads(row.data)
            self.header = orjson.dumps([x["config"], x["system"], x["tools"]])
        else:
            self._take(row, tag)
            self._kept.append((row, tag))

    @property
    def stated(self) -> str | None:
        """The digest that the last `llm/stream` claims."""
        digest: str | None = orjson.loads(self._asked).get("digest")
        return digest

    @property
    def request(self) -> list[bytes]:
        """The messages, made when they are wanted: most requests of a log are not looked at."""
        for row in self._uncut:
            row.cut()
        self._uncut.clear()
        messages = [row.data for row in self._rows]
        if patch := orjson.loads(self._asked).get("patch"):
            replaced = [orjson.dumps(message) for message in patch["messages"]]
            messages[patch["start"] : patch["end"]] = replaced
        return messages

    def digest(self) -> str:
        """The digest of the current request: SHA-256 over the SHA-256s of header and messages."""
        whole = hashlib.sha256(hashlib.sha256(self.header).digest())
        for message in self.request:
            whole.update(hashlib.sha256(message).digest())
        return whole.hexdigest()

    def _take(self, row: _Row, tag: bytes) -> None:
        if tag == b"tool/result":
            self._result(row)
        elif tag == b"user/message":
            self._close()
            self._rows.append(row)
        elif tag == b"context/pruned":
            for pruned in orjson.loads(row.data)["results"]:
                self._prune(pruned["seq"], pruned["content"])
        elif tag == b"context/rewound":
            self._rewind(min(orjson.loads(row.data)["to"], row.seq - 1))
        else:
            self._close()
            self._message(row, tag, orjson.loads(row.data))

    def _message(self, row: _Row, tag: bytes, x: dict[str, Any]) -> None:  # Any: JSON
        if tag == b"assistant/message" and x["toolCalls"]:
            self._awaiting = (row, [call["callId"] for call in x["toolCalls"]])
        elif tag == b"context/summary":
            first, last = x["covers"]
            inside = [i for i, other in enumerate(self._rows) if first <= other.seq <= last]
            if inside:
                self._sum_up(inside[0], inside[-1] + 1, _Row(last, row.data))
        elif x["content"]:
            self._rows.append(row)

    def _sum_up(self, start: int, end: int, row: _Row) -> None:
        while start > 0 and _is_result(self._rows[start]):
            start -= 1
        while end < len(self._rows) and _is_result(self._rows[end]):
            end += 1
        self._rows[start:end] = [row]

    def _result(self, row: _Row) -> None:
        if self._awaiting is None:
            return
        call_id = _call_id(row)
        if call_id in self._awaiting[1] and call_id not in self._came:
            self._came[call_id] = row
            if len(self._came) == len(self._awaiting[1]):
                self._close()

    def _close(self) -> None:
        """Put the awaited answer into its place, with a made-up result for each that is missing."""
        if self._awaiting is None:
            return
        answer, calls = self._awaiting
        came, self._awaiting, self._came = self._came, None, {}
        self._rows.append(answer)
        for call_id in calls:
            row = came.get(call_id) or _Row(answer.seq, _unknown(answer.data, call_id))
            self._rows.append(row)

    def _prune(self, seq: int, content: str) -> None:
        for index, row in enumerate(self._rows):
            x = orjson.loads(row.cut()) if row.seq == seq else {}
            if "callId" in x:
                self._rows[index] = _Row(seq, orjson.dumps(x | {"content": content}))

    def _rewind(self, to: int) -> None:
        chain: list[tuple[_Row, bytes]] = []
        for row, tag in reversed(self._kept):
            if row.seq <= to and tag != b"context/rewound":
                chain.append((row, tag))
            elif row.seq <= to:
                to = min(orjson.loads(row.data)["to"], row.seq - 1)
        self._rows, self._awaiting, self._came = [], None, {}
        for row, tag in reversed(chain):
            self._take(row, tag)


def _is_result(row: _Row) -> bool:
    return "callId" in orjson.loads(row.cut())


def _call_id(result: _Row) -> str:
    """The call that a result answers; the results are most of a log's bytes, so it is looked for.

    In JSON, a quotation mark inside a text has a backslash before it.
    """
    at = result.data.index(b'"callId":"', result.begin) + 10
    raw = result.data[at : result.data.index(b'"', at)]
    return str(orjson.loads(result.cut())["callId"]) if b"\\" in raw else raw.decode()


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
