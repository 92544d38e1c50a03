"""What the model is shown, folded in three ways that must agree."""

from hypothesis import given
from hypothesis import strategies as st

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
from turnbuckle.session.projection import OUTCOME_UNKNOWN, Projection, project
from turnbuckle.session.rebuild import Rebuild
from turnbuckle.testing.strategies import facts


def entries_of(facts: list[Fact]) -> list[Entry]:
    return [Entry(seq, 1, fact) for seq, fact in enumerate(facts)]


def rebuilt(facts: list[Fact]) -> list[bytes]:
    """The messages that the independent rebuild finds, asked at the end of a history."""
    rebuild = Rebuild()
    ask = LlmStream(turn=1, step=1, attempt=1, model="m", digest="")
    for seq, fact in enumerate([*facts, ask]):
        rebuild.feed(codec.line(seq, 1, fact, codec.encode_fact(fact)))
    return rebuild.request


def assert_pairs(messages: list[Message]) -> None:
    """Each call has exactly one result, right behind it and in order; no result stands alone."""
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


@given(st.lists(facts(), max_size=14))
def test_the_kept_state_equals_a_fold_from_scratch_after_every_append(history: list[Fact]) -> None:
    kept = Projection()
    entries: list[Entry] = []
    for entry in entries_of(history):
        entries.append(entry)
        kept.feed(entry, entries)
        assert kept.messages == project(entries).messages


@given(st.lists(facts(), max_size=14))
def test_the_independent_rebuild_agrees_to_the_byte(history: list[Fact]) -> None:
    messages = project(entries_of(history)).messages
    assert rebuilt(history) == [codec.encode(message) for message in messages]


@given(st.lists(facts().filter(lambda f: not isinstance(f, ContextSummary)), max_size=14))
def test_pairs_hold_in_every_projection(history: list[Fact]) -> None:
    assert_pairs(project(entries_of(history)).messages)


def user(text: str) -> UserMessage:
    return UserMessage(turn=1, step=1, content=text)


def answer(text: str, *ids: str) -> AssistantMessage:
    calls = tuple(Call(call_id=i, name="f", arguments="{}") for i in ids)
    return AssistantMessage(turn=1, step=1, content=text, tool_calls=calls, finish="stop")


def result(call_id: str, text: str = "ok") -> ToolResult:
    return ToolResult(turn=1, step=1, call_id=call_id, content=text, is_error=False)


def shown(*history: Fact) -> list[str]:
    messages = project(entries_of(list(history))).messages
    return [m.text if isinstance(m, ContextSummary) else m.content for m in messages]


def test_an_answer_is_held_back_until_its_results_are_complete() -> None:
    assert shown(user("q"), answer("a", "1", "2"), result("2")) == ["q"]
    assert shown(user("q"), answer("a", "1", "2"), result("2", "two"), result("1", "one")) == [
        "q", "a", "one", "two",
    ]  # fmt: skip


def test_missing_results_are_told_as_unknown() -> None:
    assert shown(user("q"), answer("a", "1"), user("again")) == [
        "q", "a", OUTCOME_UNKNOWN, "again",
    ]  # fmt: skip


def test_an_empty_answer_is_not_shown() -> None:
    assert shown(user("q"), answer("")) == ["q"]


def test_a_result_that_nobody_asked_for_is_not_shown() -> None:
    assert shown(user("q"), result("9")) == ["q"]


def test_a_pruned_result_is_shown_shortened() -> None:
    prune = ContextPruned(results=(Pruned(seq=2, content="short"),))
    assert shown(user("q"), answer("a", "1"), result("1", "long"), prune) == ["q", "a", "short"]


def test_a_summary_stands_for_what_it_covers() -> None:
    summary = ContextSummary(covers=(0, 1), text="sum")
    assert shown(user("q"), answer("a"), user("next"), summary) == ["sum", "next"]


def test_a_rewind_shows_what_was_shown_then_and_can_be_undone() -> None:
    history: list[Fact] = [user("q"), answer("a"), user("no"), ContextRewound(to=1), user("yes")]
    assert shown(*history) == ["q", "a", "yes"]
    assert shown(*history, ContextRewound(to=2)) == ["q", "a", "no"]
