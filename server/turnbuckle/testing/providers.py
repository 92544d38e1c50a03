"""Providers that do anything, for property tests of whole turns (needs hypothesis)."""

import gzip
import json
from collections.abc import Iterator
from itertools import chain, repeat

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from turnbuckle.testing.completions import DONE, chunk, event, failure
from turnbuckle.testing.modelserver import End, Response

ids = st.sampled_from(["", "a", "a", "b", "call-1", "ü\ud800", "x" * 300])
names = st.sampled_from(["run", "ls", "write_file", "no_such_tool", "", "a b/c", "n" * 300])
arguments = st.sampled_from(
    ["{}", '{"cmd":"x"}', '{"cmd":', "[1]", "", "null", '{"a":{"b":[1,2]}}', "\ud83d", "}" * 9]
)


def call(index: int, id_: str, name: str, text: str) -> bytes:
    """A fragment of a call."""
    function = {"name": name, "arguments": text}
    return chunk({"tool_calls": [{"index": index, "id": id_, "function": function}]})


pieces = st.one_of(
    st.builds(lambda text: chunk({"content": text}), st.text(max_size=8)),
    st.builds(lambda text: chunk({"reasoning_content": text}), st.text(max_size=8)),
    st.builds(call, st.integers(0, 2), ids, names, arguments),
    st.sampled_from([b": keep-alive\n\n", b"data: {}\n\n", b"data: {\n\n", b"\r\n", b"event: x\n"]),
    st.builds(
        lambda n: event({"choices": [], "usage": {"prompt_tokens": n, "completion_tokens": 1}}),
        st.sampled_from([-1, 0, 5, 2**70]),
    ),
    st.builds(lambda text: event({"error": {"message": text, "code": 529}}), st.text(max_size=9)),
)
finishes = st.sampled_from([None, "stop", "tool_calls", "length", "content_filter", "odd", ""])


class KeptWarm:
    """What came, and then comments for ever; read again, it begins anew."""

    def __init__(self, chunks: list[bytes]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        return chain(self._chunks, repeat(b": keep-alive\n\n"))

    def __repr__(self) -> str:
        return f"KeptWarm({self._chunks!r})"


@st.composite
def streams(draw: st.DrawFn) -> Response:
    """A stream that begins as it should, and then anything."""
    chunks = draw(st.lists(pieces, max_size=6))
    finish = draw(finishes)
    if finish is not None:
        chunks.append(chunk(finish=finish))
    if draw(st.booleans()):
        chunks.append(DONE)
    chunks += draw(st.lists(pieces, max_size=1))
    ends: list[End] = ["close", "close", "close", "cut", "reset", "hang"]
    end = draw(st.sampled_from(ends))
    match draw(st.sampled_from(["as it is"] * 6 + ["packed", "warm"])):
        case "packed":
            headers = {"content-type": "text/event-stream", "content-encoding": "gzip"}
            body = gzip.compress(b"".join(chunks), mtime=0)
            return Response(headers=headers, chunks=[body[:-4], body[-4:]], end=end)
        case "warm":
            return Response(chunks=KeptWarm(chunks))
        case _:
            return Response(chunks=chunks, end=end)


@st.composite
def wholes(draw: st.DrawFn) -> Response:
    """An answer in one piece, though a stream was asked for."""
    function = {"name": draw(names), "arguments": draw(arguments)}
    calls = draw(st.lists(st.just({"id": draw(ids), "function": function}), max_size=2))
    message = {"content": draw(st.text(max_size=8)), "tool_calls": calls}
    body = json.dumps({"choices": [{"message": message, "finish_reason": draw(finishes)}]})
    cut = draw(st.sampled_from([len(body), len(body), len(body) // 2]))
    headers = {"content-type": "application/json"}
    return Response(headers=headers, chunks=(body[:cut].encode(),))


refusals = st.builds(
    failure,
    st.sampled_from([400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 529]),
    st.sampled_from(["no", {"message": "maximum context length is 9 tokens"}, None, ["x"], 7]),
    st.sampled_from(
        [{}, *({"retry-after": wait} for wait in ("0", "soon", "-1", "99999", "1e999"))]
    ),
)
others = st.sampled_from(
    [
        Response(headers={"content-type": "text/html"}, chunks=(b"<html>log in</html>",)),
        Response(headers={"content-type": "application/json"}, chunks=(b'{"status":"ok"}',)),
        Response(
            headers={"content-type": "text/event-stream", "content-encoding": "gzip"},
            chunks=(b"data: not packed\n\n",),
        ),
        Response(chunks=(), end="reset"),
        Response(chunks=(), end="hang"),
        Response(status=204),
        Response(status=302, headers={"location": "http://127.0.0.1:9/"}),
    ]
)


def providers() -> SearchStrategy[list[Response]]:
    """What a provider answers, request by request; after that it should answer as one does."""
    one = st.one_of(streams(), streams(), streams(), wholes(), refusals, others)
    return st.lists(one, min_size=1, max_size=5)
