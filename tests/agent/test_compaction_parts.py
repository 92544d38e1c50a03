"""What compaction is made of: sizes, cuts, shortened results; and pairs, whatever is mixed."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.agent.cutting import (
    end_of_head,
    start_of_asking,
    start_of_pair,
    start_of_tail,
    worth_a_summary,
)
from turnbuckle.agent.pruning import ends_of, pruned
from turnbuckle.agent.sizing import tokens, tokens_of
from turnbuckle.session import codec
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    AssistantMessage,
    ContextPruned,
    ContextRewound,
    ContextSummary,
    Fact,
    LlmStream,
    Message,
    ToolResult,
    UserMessage,
)
from turnbuckle.session.parts import Call, Pruned
from turnbuckle.session.projection import Projection, project
from turnbuckle.session.rebuild import Rebuild
from turnbuckle.testing.strategies import facts


def user(text: str, *, turn: int = 1, step: int = 1) -> UserMessage:
    return UserMessage(turn=turn, step=step, content=text)


def answer(text: str, *ids: str) -> AssistantMessage:
    calls = tuple(Call(call_id=i, name="read_file", arguments="{}") for i in ids)
    return AssistantMessage(turn=1, step=1, content=text, tool_calls=calls, finish="stop")


def result(call_id: str, text: str = "ok") -> ToolResult:
    return ToolResult(turn=1, step=1, call_id=call_id, content=text, is_error=False)


def assert_pairs(messages: Sequence[Message]) -> None:
    owed: list[str] = []
    for message in messages:
        if isinstance(message, ToolResult):
            assert owed, "a result stands alone"
            assert owed.pop(0) == message.call_id
            continue
        assert not owed, "a call has no result"
        if isinstance(message, AssistantMessage):
            owed = [call.call_id for call in message.tool_calls]
    assert not owed


# -- any history, any cut ----------------------------------------------------------------------------


@st.composite
def conversations(draw: st.DrawFn) -> list[Fact]:
    """A sound conversation, in which compaction and rewinds of any extent are strewn."""
    history: list[Fact] = []
    for number in range(draw(st.integers(1, 6))):
        history.append(user(f"ask {number}"))
        for _ in range(draw(st.integers(0, 3))):
            ids = [f"c{len(history)}-{n}" for n in range(draw(st.integers(1, 3)))]
            history.append(answer("look", *ids))
            came = draw(st.permutations(ids))[: draw(st.integers(0, len(ids)))]
            history += [result(call_id, "long " * 20) for call_id in came]
            history += draw(st.lists(shorter(len(history)), max_size=2))
        history.append(answer("done"))
        history += draw(st.lists(shorter(len(history)), max_size=2))
    return history


def shorter(length: int) -> st.SearchStrategy[Fact]:
    seqs = st.integers(0, length)
    prune = st.lists(st.builds(Pruned, seq=seqs, content=st.just("short")), max_size=3)
    return st.one_of(
        st.builds(ContextPruned, results=prune.map(tuple)),
        st.builds(ContextSummary, covers=st.tuples(seqs, seqs), text=st.just("sum")),
        st.builds(ContextRewound, to=seqs),
    )


def entries_of(history: Sequence[Fact]) -> list[Entry]:
    return [Entry(seq, 1, fact) for seq, fact in enumerate(history)]


def assert_it_folds(history: Sequence[Fact]) -> None:
    """Pairs hold after each fact, the kept state is a fold, and the rebuild agrees to the byte."""
    kept, entries, rebuild = Projection(), list[Entry](), Rebuild()
    ask = LlmStream(turn=1, step=1, attempt=1, model="m", digest="")
    for entry in entries_of(history):
        entries.append(entry)
        kept.feed(entry, entries)
        assert_pairs(kept.messages)
        assert kept.messages == project(entries).messages
        assert len(kept.seqs) == len(kept.messages)
        rebuild.feed(codec.line(entry.seq, 1, entry.fact, codec.encode_fact(entry.fact)))
        rebuild.feed(codec.line(entry.seq, 1, ask, codec.encode_fact(ask)))
        assert rebuild.request == [codec.encode(message) for message in kept.messages]


@given(conversations())
def test_pairs_hold_whatever_is_pruned_summed_up_and_rewound(history: list[Fact]) -> None:
    assert_it_folds(history)


@given(st.lists(facts(), max_size=14))
def test_pairs_hold_in_a_log_of_any_facts_in_any_order(history: list[Fact]) -> None:
    assert_it_folds(history)


@given(conversations(), st.integers(0, 400))
def test_no_cut_is_within_a_pair(history: list[Fact], limit: int) -> None:
    messages = project(entries_of(history)).messages
    tail, head = start_of_tail(messages, limit), end_of_head(messages, limit)
    for cut in (tail, head, start_of_asking(messages)):
        assert_pairs(messages[:cut])
        assert_pairs(messages[cut:])
    assert not messages or tail < len(messages), "the newest is kept"
    assert tokens_of(messages[:head]) <= limit
    newest = start_of_pair(messages, len(messages) - 1)
    assert tail == newest or tokens_of(messages[tail:]) <= limit


@given(conversations())
def test_more_room_keeps_more(history: list[Fact]) -> None:
    messages = project(entries_of(history)).messages
    tails = [start_of_tail(messages, limit) for limit in range(0, 300, 20)]
    assert all(later <= sooner for sooner, later in pairwise(tails))


# -- sizes, cuts, shortened results ------------------------------------------------------------------


def test_a_token_is_about_four_bytes() -> None:
    assert tokens("") == 0
    assert tokens("word" * 10) == 10
    assert tokens("字" * 8) == 6
    assert tokens("a\ud800" * 8) > 0
    assert tokens_of([answer("x" * 400, "1"), result("1", "x" * 400)]) >= 200


def test_what_was_asked_last_begins_with_what_was_pointed_at() -> None:
    pointed = UserMessage(turn=2, step=1, content="file", source="context")
    asked = user("do it", turn=2)
    injected = UserMessage(turn=2, step=2, content="by the way", source="plugin")
    history: list[Message] = [user("first"), answer("a"), pointed, asked, answer("b"), injected]
    assert start_of_asking(history) == 2
    assert start_of_asking([answer("a")]) == 0


def test_a_summary_alone_is_not_summed_up_again() -> None:
    summary = ContextSummary(covers=(0, 1), text="sum")
    assert not worth_a_summary([])
    assert not worth_a_summary([summary])
    assert worth_a_summary([summary, user("q")])


def test_a_long_result_keeps_its_first_and_last_lines_and_says_how_to_see_the_rest() -> None:
    text = "".join(f"line {number}\n" for number in range(1000))
    history: list[Message] = [user("q"), answer("", "1", "2"), result("1"), result("2", text)]
    fact = pruned(history, [3, 5, 7, 8], range(4), 500)
    assert fact is not None
    assert [one.seq for one in fact.results] == [8]
    short = fact.results[0].content
    assert len(short) < 700
    assert short.startswith("line 0\nline 1\n")
    assert short.endswith("line 998\nline 999\n")
    assert "lines of this older result are left out; to see them, call read_file again]" in short


@pytest.mark.parametrize("text", ["x" * 9000, "x" * 4000 + "\n" + "y" * 5000, "\n" * 9000])
def test_lines_of_any_length_can_be_shortened(text: str) -> None:
    short = ends_of(text, 400, "are left out")
    assert len(short) < 500
    assert "are left out" in short


@given(st.text(min_size=1), st.integers(1, 200))
def test_what_stays_of_a_text_stood_at_its_ends(text: str, limit: int) -> None:
    if len(text) <= limit:
        text = text * (limit // len(text) + 1)
    head, _, tail = ends_of(text, limit, "\0mark").partition("\0mark]\n")
    assert text.endswith(tail)
    assert text.startswith(head.rpartition("[")[0].removesuffix("\n"))


def test_short_results_and_what_was_shortened_before_stay_as_they_are() -> None:
    short = ends_of("word\n" * 5000, 500, "are left out")
    history: list[Message] = [answer("", "1"), result("1", short)]
    assert pruned(history, [0, 1], range(2), 500) is None
    assert pruned(history, [0, 1], range(2), 450) is None
