"""Streams that were damaged on their way give an answer or a clear failure, and nothing else."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from model.test_answer import RECORDED, load, replay
from turnbuckle.session.parts import JsonObject
from turnbuckle.testing.completions import chunk
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
    holds(events, case)


def holds(events: list[bytes], case: JsonObject) -> None:
    """There is an answer or a failure, and nothing is called by half an answer."""
    outcome = replay(*events, case=case).outcome
    assert len(outcome) == 1
    if (reply := outcome.get("reply")) is None:
        assert outcome["failure"]["message"]
        return
    json.dumps(reply).encode()  # nothing is in it that cannot be written down
    if reply["finish"] in ("truncated", "length"):
        assert reply["calls"] == []


OTHERS: tuple[object, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    10**40,
    "",
    "x",
    [],
    {},
    [[[]]],
    [{}],
    {"": {}},
    [None, "x", 7],
)
"""Values of every type, one of which may stand wherever another should."""

Place: TypeAlias = tuple[str | int, ...]


def places_in(value: object, place: Place = ()) -> Iterator[Place]:
    """Where in a JSON value there is a value."""
    yield place
    inner: Iterable[tuple[str | int, object]] = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for key, one in inner:
        yield from places_in(one, (*place, key))


def with_other(value: Any, place: Place, other: object) -> Any:  # Any: JSON
    """The value with another one in a place."""
    if not place:
        return other
    copy = value.copy()
    copy[place[0]] = with_other(value[place[0]], place[1:], other)
    return copy


def decoded(event: bytes) -> object:
    """The JSON of an event of one line, if it is that."""
    try:
        return json.loads(event.strip().removeprefix(b"data:"))
    except ValueError:
        return None


def test_a_wrong_type_in_any_place_of_any_stream_gives_an_answer_or_a_failure() -> None:
    tried = set()
    for path in RECORDED:
        body, _, case = load(path)
        events = events_of(body)
        for number, value in enumerate(map(decoded, events)):
            for place in places_in(value) if isinstance(value, dict) else ():
                # What stands in the same place of the same kind of event tells nothing new.
                shape = (case.get("provider"), place, number == 0, len(events) - number)
                if shape in tried:
                    continue
                tried.add(shape)
                for other in OTHERS:
                    wrong = b"data: " + json.dumps(with_other(value, place, other)).encode()
                    damaged = [*events[:number], wrong + b"\n\n", *events[number + 1 :]]
                    holds(damaged, case)
    assert len(tried) > 300


def test_an_index_out_of_all_bounds_costs_no_memory() -> None:
    function = {"name": "run", "arguments": "{}"}
    for index in (10**12, -1, 2**63):
        call = {"index": index, "id": "a", "function": function}
        outcome = replay(chunk({"tool_calls": [call]}), chunk(finish="tool_calls")).outcome
        assert outcome["reply"]["calls"] == [["a", "run", "{}"]]
