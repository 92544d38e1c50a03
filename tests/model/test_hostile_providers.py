"""Whole turns with providers that do anything: each ends, its log holds, and nothing runs twice."""

import itertools
import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from agent.order import assert_pairs, check_log
from cases.streams_played import Played, play
from turnbuckle.session import codec
from turnbuckle.session.events import LlmStream, ToolStart, TurnEnd
from turnbuckle.session.loading import read_log
from turnbuckle.session.projection import project
from turnbuckle.session.rebuild import verify
from turnbuckle.session.store import read_lines
from turnbuckle.testing.completions import DONE, chunk, event, failure
from turnbuckle.testing.modelserver import End, Response
from turnbuckle.testing.strategies import soak

IDLE = 0.15
"""Seconds that a provider may be silent in these turns."""

ids = st.sampled_from(["", "a", "a", "b", "call-1", "ü\ud800"])
names = st.sampled_from(["run", "ls", "write_file", "no_such_tool", ""])
arguments = st.sampled_from(
    ["{}", '{"cmd":"x"}', '{"cmd":', "[1]", "", "null", '{"a":{"b":[1,2]}}', "\ud83d", "}" * 9]
)


def call(index: int, id_: str, name: str, text: str) -> bytes:
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
    return Response(chunks=chunks, end=end)


refusals = st.builds(
    failure,
    st.sampled_from([400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 529]),
    st.sampled_from(["no", {"message": "maximum context length is 9 tokens"}, None, ["x"], 7]),
    st.sampled_from([{}, {"retry-after": "0"}, {"retry-after": "soon"}, {"retry-after": "-1"}]),
)
others = st.sampled_from(
    [
        Response(headers={"content-type": "text/html"}, chunks=(b"<html>log in</html>",)),
        Response(headers={"content-type": "application/json"}, chunks=(b'{"status":"ok"}',)),
        Response(chunks=(), end="reset"),
        Response(status=204),
        Response(status=302, headers={"location": "http://127.0.0.1:9/"}),
    ]
)


def providers() -> SearchStrategy[list[Response]]:
    """What a provider answers, request by request; after that it answers as it should."""
    return st.lists(st.one_of(streams(), streams(), refusals, others), min_size=1, max_size=5)


def check(played: Played, folder: Path) -> None:
    """What holds of every session, whatever its provider did."""
    (path,) = folder.glob("state/sessions/**/*.jsonl")
    lines, torn = read_lines(path)
    assert torn == b""
    loaded = read_log(lines)
    assert loaded.damage is None
    entries = list(loaded.entries)
    check_log(entries, Counter())
    assert_pairs(list(project(entries).messages))
    requests = [entry.fact for entry in entries if isinstance(entry.fact, LlmStream)]
    assert [same for _, same in verify(iter(lines))] == [True] * len(requests)
    ends = [entry.fact.end for entry in entries if isinstance(entry.fact, TurnEnd)]
    assert len(ends) == 2
    for end in ends:
        assert end.kind in ("completed", "error", "max-tokens", "stopped")
        assert (end.failure is not None) == (end.kind == "error")
    started = [entry.fact for entry in entries if isinstance(entry.fact, ToolStart)]
    assert len(played.ran) == len(started) == len({fact.call_id for fact in started})
    codec.encode([entry.fact for entry in entries])


@settings(max_examples=soak(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(providers())
def test_every_turn_ends_and_its_log_holds(script: list[Response]) -> None:
    async def turns(folder: Path) -> Played:
        with anyio.fail_after(60):
            return await play(
                script, folder, idle=IDLE, attempts=3, base=0.001, prompts=("go", "and on")
            )

    with TemporaryDirectory() as folder:
        played = anyio.run(turns, Path(folder))
        check(played, Path(folder))


def test_the_same_piece_of_a_call_is_never_two_calls() -> None:
    bodies = itertools.permutations([call(0, "a", "run", '{"cmd":'), call(0, "a", "run", '"x"}')])
    for body in bodies:
        script = [Response(chunks=[*body, chunk(finish="tool_calls"), DONE])]

        async def turn(folder: Path, script: list[Response] = script) -> Played:
            return await play(script, folder)

        with TemporaryDirectory() as folder:
            played = anyio.run(turn, Path(folder))
        assert len(played.first.tool_calls) == 1
        assert len(played.ran) == (json.dumps(played.ran) != "[]")
