"""A cursor takes each fact once and in order, in pieces that hold nobody up."""

import orjson
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.kernel.scope import Scope
from turnbuckle.lsp.cursor import PIECE, Cursor
from turnbuckle.session import codec
from turnbuckle.session.events import (
    AssistantChunk,
    AssistantMessage,
    Fact,
    InboxAdded,
    SessionCreated,
    TurnEnd,
    TurnStart,
)
from turnbuckle.session.log import Log
from turnbuckle.session.parts import End
from turnbuckle.session.session import Session


def session_of(*facts: Fact) -> Session:
    session = Session(Log(lambda: 7), None, Scope("s"), SessionCreated(version=1, id="s1"))
    for fact in facts:
        session.append(fact)
    return session


def added(size: int) -> InboxAdded:
    return InboxAdded(key=str(size), target="turn", input="x" * size)


def seqs(values: list[bytes]) -> list[int]:
    return [orjson.loads(value)["seq"] for value in values]


@given(st.lists(st.integers(0, 20_000), max_size=12))
def test_pieces_hold_everything_in_order_and_stay_small(sizes: list[int]) -> None:
    session = session_of(TurnStart(turn=1), *map(added, sizes))
    cursor = Cursor(session, 0, None)
    taken: list[int] = []
    while cursor.behind:
        piece = cursor.take()
        assert sum(map(len, piece[:-1])) < PIECE
        taken += seqs(piece)
        assert cursor.passed == taken[-1]
    assert taken == list(range(len(sizes) + 2))


@given(st.lists(st.integers(0, 20_000), max_size=12))
def test_pieces_of_text_that_waits_hold_all_of_it_and_stay_small(sizes: list[int]) -> None:
    chunks = [AssistantChunk(turn=1, step=1, text="x" * size) for size in sizes]
    cursor = Cursor(session_of(TurnStart(turn=1), *chunks), 2, None)
    said = 0
    while cursor.behind:
        piece = cursor.take()
        assert sum(map(len, piece)) < PIECE + max(sizes) + 1_000
        said += sum(len(orjson.loads(value)["data"].get("text", "")) for value in piece)
    assert said == sum(sizes)


def test_nothing_is_taken_after_the_end_of_the_turn_that_is_asked_for() -> None:
    end = TurnEnd(turn=1, end=End(kind="completed"))
    cursor = Cursor(session_of(TurnStart(turn=1), end, TurnStart(turn=2)), 0, 1)
    assert seqs(cursor.take()) == [0, 1, 2]
    assert cursor.ended
    assert not cursor.behind


def test_a_chunk_that_alone_waits_is_taken_as_it_is_stored() -> None:
    session = session_of(TurnStart(turn=1))
    cursor = Cursor(session, 2, None)
    entry = session.append(AssistantChunk(turn=1, step=1, text="a"))
    cursor.seen(entry)
    line = codec.line(entry.seq, entry.time, entry.fact, codec.encode_fact(entry.fact))
    assert orjson.loads(cursor.take_chunk(line)) == orjson.loads(line)
    assert cursor.passed == 2
    # Some of this answer was told, so what waits of it when it is over is left out.
    for fact in (
        AssistantChunk(turn=1, step=1, text="b"),
        AssistantMessage(turn=1, step=1, content="ab", finish="stop"),
    ):
        cursor.seen(session.append(fact))
    assert seqs(cursor.take()) == [4]
