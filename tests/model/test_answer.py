"""Every recorded stream gives the same answer at every cut, and never more than was said."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

import pytest
from _pytest.mark import ParameterSet
from hypothesis import given
from hypothesis import strategies as st

from cases.streams_played import pieces
from turnbuckle.model.answer import Answer
from turnbuckle.model.failures import Failures
from turnbuckle.model.port import Delta, ModelFailed, ModelRefused, Reply
from turnbuckle.model.providers import COMPATIBLE, PROVIDERS
from turnbuckle.session.codec import encode
from turnbuckle.session.parts import JsonObject
from turnbuckle.testing.completions import DONE, chunk, event

ROWS = {row.name: row for row in PROVIDERS} | {None: COMPATIBLE}
ADVICE = "Make it larger."
RECORDED = sorted((Path(__file__).parents[1] / "data" / "model").glob("*.json"))
recorded = pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)


@dataclass
class Replay:
    """What came of a stream: its deltas, and a reply or a failure in a form to compare."""

    deltas: list[Delta]
    outcome: JsonObject


def replay(*pieces: bytes, case: JsonObject | None = None) -> Replay:
    """What comes of these bytes, from the provider of a case and for a request of its size."""
    case = case or {}
    deltas: list[Delta] = []
    answer = Answer(
        ROWS[case.get("provider")],
        Failures("the provider", overflow=ADVICE),
        deltas.append,
        asked=case.get("asked", 0),
        allowed=case.get("allowed"),
    )
    try:
        for piece in pieces:
            answer.take(piece)
        answer.end()
        reply = answer.reply()
        encode([reply, deltas])  # what is said must fit into a log
        return Replay(deltas, {"reply": shown(reply)})
    except ModelFailed as error:
        encode(error.failure)
        failure = {"kind": error.failure.kind, "message": error.failure.message}
        return Replay(deltas, {"failure": failure})


def shown(reply: Reply) -> JsonObject:
    usage = asdict(reply.usage) if reply.usage else {}
    return {
        "content": reply.content,
        "reasoning": reply.reasoning,
        "finish": reply.finish,
        "calls": [[call.call_id, call.name, call.arguments] for call in reply.tool_calls],
        "usage": {name: count for name, count in usage.items() if count is not None} or None,
    }


def load(path: Path) -> tuple[bytes, JsonObject, JsonObject]:
    """The body of a recorded stream, what must come of it, and the whole case."""
    case = cast("JsonObject", json.loads(path.read_bytes()))
    expected = {k: v for k, v in case.items() if k in ("reply", "failure")}
    return case["body"].encode(), expected, case


def reported() -> list[ParameterSet]:
    """The whole bodies of the streams in reports about other agents, by the report."""
    found = []
    for path in sorted((Path(__file__).parents[1] / "data" / "cases").glob("A*.json")):
        data = json.loads(path.read_text("utf-8"))
        for number, one in enumerate([data, *data.get("cases", ()), *data.get("attempts", ())]):
            if one.get("chunks"):
                body = b"".join(pieces(one))
                found.append(pytest.param(body, id=f"{path.stem}-{number}"))
    return found


@recorded
def test_a_recorded_stream_gives_its_answer(path: Path) -> None:
    body, expected, case = load(path)
    assert replay(body, case=case).outcome == expected


@dataclass
class Told:
    """What all deltas of an answer say together, however they were cut."""

    text: str
    reasoning: str
    calls: dict[int, tuple[str, str]]


def told(replay: Replay) -> Told:
    """The deltas joined; a call's name and arguments by its index."""
    calls: dict[int, tuple[str, str]] = {}
    for call in (call for delta in replay.deltas for call in delta.tool_calls):
        name, arguments = calls.get(call.index, ("", ""))
        calls[call.index] = (name + (call.name or ""), arguments + (call.arguments or ""))
    return Told(
        "".join(delta.text or "" for delta in replay.deltas),
        "".join(delta.reasoning or "" for delta in replay.deltas),
        calls,
    )


def same_at_every_cut(body: bytes, case: JsonObject | None = None) -> None:
    """Two pieces, cut at each byte, and a piece for each byte say what the whole says."""
    whole = replay(body, case=case)
    outcome, said = whole.outcome, told(whole)
    cuts = [(body[:cut], body[cut:]) for cut in range(1, len(body))]
    for cut in [tuple(bytes([byte]) for byte in body), *cuts]:
        again = replay(*cut, case=case)
        assert again.outcome == outcome
        assert told(again) == said


@recorded
def test_it_gives_the_same_answer_byte_by_byte_and_at_every_single_cut(path: Path) -> None:
    body, _, case = load(path)
    same_at_every_cut(body, case)


@pytest.mark.parametrize("body", reported())
def test_what_others_were_sent_is_the_same_at_every_cut_too(body: bytes) -> None:
    same_at_every_cut(body)


@recorded
def test_what_was_streamed_is_what_was_said(path: Path) -> None:
    body, expected, case = load(path)
    deltas = replay(body, case=case).deltas
    reply = expected.get("reply")
    if reply is None:
        return
    assert "".join(delta.text or "" for delta in deltas) == reply["content"]
    assert "".join(delta.reasoning or "" for delta in deltas) == (reply["reasoning"] or "")
    if reply["calls"]:
        pieces = [call for delta in deltas for call in delta.tool_calls]
        for index, (_, name, arguments) in enumerate(reply["calls"]):
            mine = [call for call in pieces if call.index == index]
            assert [call.name for call in mine if call.name is not None] == [name]
            assert "".join(call.arguments or "" for call in mine) == arguments


@recorded
def test_a_stream_that_stops_anywhere_runs_no_call_before_its_finish(path: Path) -> None:
    body, expected, case = load(path)
    whole = expected.get("reply", {})
    # A report of an error that is itself cut off tells only that there was one.
    failure = expected.get("failure")
    kinds = {"empty", "server", failure["kind"]} if failure else {"empty"}
    for cut in range(len(body)):
        outcome = replay(body[:cut], case=case).outcome
        reply = outcome.get("reply")
        if reply is None:
            assert outcome["failure"]["kind"] in kinds
        elif reply["finish"] == "truncated":
            assert reply["calls"] == []
            assert reply["content"] or reply["reasoning"] or b"tool_calls" in body
        elif "finish" in whole:
            assert {**reply, "usage": whole["usage"]} == whole


@given(st.sampled_from(RECORDED), st.data())
def test_any_split_of_the_bytes_gives_the_same_answer(path: Path, data: st.DataObject) -> None:
    body, expected, case = load(path)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=20)))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert replay(*pieces, case=case).outcome == expected


@given(st.binary(max_size=400))
def test_no_bytes_at_all_do_worse_than_a_failure(body: bytes) -> None:
    assert set(replay(body).outcome) <= {"reply", "failure"}


texts = st.text(st.characters() | st.sampled_from("\ud83d\ude00"), max_size=5)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "delta", "message", "content", "tool_calls", "function", "arguments",
             "index", "id", "name", "usage", "prompt_tokens", "finish_reason", "error", "type",
             "code", "text", "thinking", "reasoning", "object"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=25,
)  # fmt: skip


@given(st.lists(json_values, max_size=3))
def test_no_json_at_all_does_worse_than_a_failure(values: list[object]) -> None:
    body = b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values)
    assert set(replay(body).outcome) <= {"reply", "failure"}


def test_very_large_arguments_in_very_many_fragments_come_out_whole() -> None:
    piece = "0123456789abcdef" * 13

    def fragment(text: str) -> bytes:
        function = {"name": "write_file", "arguments": text}
        return chunk({"tool_calls": [{"index": 0, "id": "w", "function": function}]})

    pieces = [fragment('{"content":"'), *[fragment(piece)] * 20_000, fragment('"}')]
    outcome = replay(*pieces, chunk(finish="tool_calls"), DONE).outcome
    assert outcome["reply"]["calls"] == [
        ["w", "write_file", '{"content":"' + piece * 20_000 + '"}']
    ]


@pytest.mark.parametrize("depth", [100, 300, 1010, 100_000])
def test_json_that_is_nested_deep_does_no_worse_either(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    call = f'{{"index":0,"id":"a","function":{{"name":"run","arguments":{{"x":{deep}}}}}}}'
    body = f'data: {{"choices":[{{"delta":{{"tool_calls":[{call}]}}}}]}}\n\n'
    assert set(replay(body.encode()).outcome) <= {"reply", "failure"}
    body = f'data: {{"error":{deep}}}\n\n'
    assert replay(body.encode()).outcome["failure"]["kind"] in {"server", "protocol"}


def test_half_a_pair_before_a_line_end_takes_nothing_with_it() -> None:
    outcome = replay(
        chunk({"content": "a\ud83d\n"}), chunk({"content": "b"}, finish="stop")
    ).outcome
    assert outcome["reply"]["content"] == "a\ufffd\nb"


def test_a_count_that_is_none_is_left_out() -> None:
    usage = {"prompt_tokens": -1, "completion_tokens": 7, "total_tokens": 2**70}
    body = event({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": usage})
    assert replay(body).outcome["reply"]["usage"] == {"input": 0, "output": 7, "total": 7}


def test_half_a_pair_in_a_name_does_not_reach_the_log() -> None:
    function = {"name": "r\ud83dn", "arguments": {"x": "\ude00"}}
    call = chunk({"tool_calls": [{"index": 0, "id": "\ud83d", "function": function}]})
    assert replay(call, chunk(finish="tool_calls")).outcome["reply"]["calls"] == [
        ["\ufffd", "r\ufffdn", '{"x":"\ufffd"}']
    ]


def test_what_a_strict_reader_refuses_is_read_and_told() -> None:
    body = 'data: {"error":{"message":"half \\ud83d","code":%s,"n":NaN}}\n\n' % ("9" * 30)
    message = replay(body.encode()).outcome["failure"]["message"]
    assert message == f"the provider reported an error: half \ufffd ({'9' * 30})"


def take_often(piece: bytes, times: int) -> None:
    answer = Answer(COMPATIBLE, Failures("P"), lambda _: None)
    for _ in range(times):
        answer.take(piece)


def test_an_event_that_never_ends_is_refused() -> None:
    with pytest.raises(ModelRefused, match="P sent too much: an event is larger than"):
        take_often(b"x" * 1024 * 1024, 17)


def test_an_answer_that_never_ends_is_refused() -> None:
    with pytest.raises(ModelRefused, match="P sent too much: the answer is larger than"):
        take_often((b": " + b"x" * 1022 + b"\n") * 16 * 1024, 17)


class TestWhole:
    """A JSON body where a stream was asked for."""

    def take(self, body: bytes) -> Replay:
        deltas: list[Delta] = []
        answer = Answer(COMPATIBLE, Failures("the provider"), deltas.append)
        try:
            answer.take_whole(body)
            return Replay(deltas, {"reply": shown(answer.reply())})
        except ModelFailed as error:
            return Replay(deltas, {"failure": [error.failure.kind, error.failure.message]})

    def test_a_whole_completion_is_an_answer(self) -> None:
        function = {"name": "run", "arguments": '{"cmd":"ls"}'}
        message = {
            "role": "assistant",
            "content": "Looking.",
            "reasoning_content": "Hm.",
            "tool_calls": [{"id": "a", "type": "function", "function": function}],
        }
        body = {
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
        }
        taken = self.take(json.dumps(body).encode())
        assert taken.outcome["reply"] == {
            "content": "Looking.",
            "reasoning": "Hm.",
            "finish": "tool_calls",
            "calls": [["a", "run", '{"cmd":"ls"}']],
            "usage": {"input": 3, "output": 4, "total": 7},
        }
        assert [delta.text for delta in taken.deltas] == ["Looking."]

    def test_an_error_object_is_an_error(self) -> None:
        body = b'{"error":{"message":"maximum context length is 4096 tokens","code":400}}'
        assert self.take(body).outcome["failure"][0] == "overflow"

    def test_other_json_is_no_answer(self) -> None:
        assert self.take(b'{"status": "ok"}').outcome["failure"] == [
            "protocol",
            'the provider sent JSON that is no answer: {"status": "ok"}',
        ]

    def test_what_is_no_json_is_no_answer(self) -> None:
        kind, message = self.take(b"<html>hello</html>").outcome["failure"]
        assert (kind, message) == (
            "protocol",
            "the provider sent what is not JSON: <html>hello</html>",
        )
