"""Streams that were damaged on their way give an answer or a clear failure, and nothing else."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from model.test_answer import RECORDED, load, replay
from turnbuckle.testing.completions import DONE, chunk
from turnbuckle.testing.strategies import soak

Damage = Callable[[list[bytes], st.DataObject], list[bytes]]

JUNK = [
    b"\0", b"\xff\xfe", b"\n", b"\r", b"data:", b"data: {}\n\n", b"event: error\n", b": ping\n\n",
    b"data: [DONE]\n\n", b"data: null\n\n", b'data: {"choices":[{}]}\n\n', b"<html>", b"}" * 40,
    b"id: 7\nretry: 1\n\n", b"data: " + b"[" * 2_000 + b"\n\n", b"x" * 70_000,
]  # fmt: skip


def events_of(body: bytes) -> list[bytes]:
    """The events of a stream, each with what ends it."""
    return [piece for piece in re.split(rb"(?<=\n\n)", body) if piece]


def dropped(events: list[bytes], data: st.DataObject) -> list[bytes]:
    gone = data.draw(st.sets(st.integers(0, len(events) - 1)))
    return [event for number, event in enumerate(events) if number not in gone]


def doubled(events: list[bytes], data: st.DataObject) -> list[bytes]:
    twice = data.draw(st.sets(st.integers(0, len(events) - 1)))
    return [event for n, event in enumerate(events) for event in [event] * (1 + (n in twice))]


def reordered(events: list[bytes], data: st.DataObject) -> list[bytes]:
    return data.draw(st.permutations(events))


def truncated(events: list[bytes], data: st.DataObject) -> list[bytes]:
    body = b"".join(events)
    return [body[: data.draw(st.integers(0, len(body)))]]


def strewn(events: list[bytes], data: st.DataObject) -> list[bytes]:
    body = bytearray(b"".join(events))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(body)))
        body[at:at] = data.draw(st.sampled_from(JUNK) | st.binary(max_size=6))
    return [bytes(body)]


def flipped(events: list[bytes], data: st.DataObject) -> list[bytes]:
    body = bytearray(b"".join(events))
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    return [bytes(body)]


def mistyped(events: list[bytes], data: st.DataObject) -> list[bytes]:
    """A value somewhere in an event becomes one of another type."""
    number = data.draw(st.integers(0, len(events) - 1))
    other = data.draw(
        st.sampled_from(["null", "true", "[]", "{}", '"x"', "-1", "1e999", "[[[]]]", "9" * 40])
    )
    places = [m.span() for m in re.finditer(rb'(?<=:)("[^"]*"|\d+|null|\[|\{)', events[number])]
    if places:
        start, end = data.draw(st.sampled_from(places))
        events[number] = events[number][:start] + other.encode() + events[number][end:]
    return events


KINDS: tuple[Damage, ...] = (
    dropped, doubled, reordered, truncated, strewn, flipped, mistyped,
)  # fmt: skip


@settings(max_examples=soak(1_000), deadline=None)
@given(
    st.sampled_from(RECORDED), st.lists(st.sampled_from(KINDS), min_size=1, max_size=3), st.data()
)
def test_a_damaged_stream_gives_an_answer_or_a_failure(
    path: Path, kinds: list[Damage], data: st.DataObject
) -> None:
    body, _, case = load(path)
    events = events_of(body)
    for kind in kinds:
        if any(events):
            events = kind(events, data)
    outcome = replay(*events, case=case).outcome
    assert len(outcome) == 1
    if (reply := outcome.get("reply")) is None:
        assert outcome["failure"]["message"]
        return
    json.dumps(reply).encode()  # nothing is in it that cannot be written down
    # Nothing is called by half an answer.
    if reply["finish"] in ("truncated", "length"):
        assert reply["calls"] == []


def test_very_many_calls_are_as_many_as_were_made() -> None:
    def call(number: int) -> bytes:
        function = {"name": "run", "arguments": "{}"}
        return chunk({"tool_calls": [{"index": number, "id": f"c{number}", "function": function}]})

    outcome = replay(*map(call, range(5_000)), chunk(finish="tool_calls"), DONE).outcome
    assert [call_id for call_id, *_ in outcome["reply"]["calls"]] == [f"c{n}" for n in range(5_000)]


def test_an_index_out_of_all_bounds_costs_no_memory() -> None:
    function = {"name": "run", "arguments": "{}"}
    for index in (10**12, -1, 2**63):
        call = {"index": index, "id": "a", "function": function}
        outcome = replay(chunk({"tool_calls": [call]}), chunk(finish="tool_calls")).outcome
        assert len(outcome.get("reply", {"calls": ["refused"]})["calls"]) == 1
