"""What is folded beside the projection: reads, usage, title."""

from dataclasses import replace
from pathlib import Path

from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    AssistantMessage,
    ContextRewound,
    EditApplied,
    Fact,
    ToolResult,
    TurnStart,
)
from turnbuckle.session.parts import Usage
from turnbuckle.session.reads import Reads
from turnbuckle.session.usage import UsageFold
from turnbuckle.testing.agents import driven
from turnbuckle.testing.scripted import Scripted, say


def read(digest: str) -> ToolResult:
    meta = {"read": {"uri": "file:///a", "digest": digest}}
    return ToolResult(turn=1, step=1, call_id="1", content="", is_error=False, meta=meta)


def applied(after: str | None, outcome: str) -> EditApplied:
    return EditApplied(call_id="1", uri="file:///a", after=after, hunks=("h",), outcome=outcome)


def digest_after(*facts: Fact) -> str | None:
    reads = Reads()
    history = [Entry(seq, 1, fact) for seq, fact in enumerate(facts)]
    for entry in history:
        reads.feed(entry, history[: entry.seq + 1])
    return reads.digest("file:///a")


def test_a_file_is_known_as_it_was_read_or_left_last() -> None:
    assert digest_after() is None
    assert digest_after(read("one"), read("two")) == "two"
    assert digest_after(read("one"), applied("two", "applied")) == "two"
    assert digest_after(read("one"), applied("two", "misplaced")) == "one"
    assert digest_after(read("one"), applied(None, "unverified")) == "one"


def test_the_file_that_was_read_or_written_last_stands_last() -> None:
    def read_at(uri: str) -> ToolResult:
        return replace(read("d"), meta={"read": {"uri": uri, "digest": "d"}})

    reads = Reads()
    for fact in (read_at("file:///b"), applied("e", "applied"), read_at("file:///b")):
        reads.feed(Entry(0, 1, fact), [])
    assert reads.uris == ("file:///a", "file:///b")
    reads.feed(Entry(0, 1, applied("f", "applied")), [])
    assert reads.uris == ("file:///b", "file:///a")


def test_what_was_read_in_turns_that_were_taken_back_is_not_known() -> None:
    assert digest_after(TurnStart(turn=1), read("one"), ContextRewound(to=0)) is None
    assert digest_after(read("one"), applied("two", "applied"), ContextRewound(to=0)) == "one"
    undone = (read("one"), read("two"), ContextRewound(to=0), ContextRewound(to=1))
    assert digest_after(*undone) == "two"


def test_usage_is_summed_over_turn_and_session() -> None:
    def answer(total: int, cached: int | None = None) -> AssistantMessage:
        usage = Usage(input=total - 1, output=1, total=total, cached=cached)
        return AssistantMessage(turn=1, step=1, content="", finish="stop", usage=usage)

    fold = UsageFold()
    for fact in (TurnStart(turn=1), answer(10), answer(20, 5), TurnStart(turn=2), answer(30)):
        fold.feed(Entry(0, 1, fact))
    assert fold.turn == Usage(input=29, output=1, total=30)
    assert fold.session == Usage(input=57, output=3, total=60, cached=5)
    assert fold.context == 30


async def test_a_title_is_the_first_line_of_the_first_prompt(tmp_path: Path) -> None:
    async with driven(Scripted([say("a"), say("b")]), tmp_path) as session:
        assert session.opened.session.title is None
        await session.say("\n  Mend the parser\nplease")
        await session.say("another")
        assert session.opened.session.title == "Mend the parser"
