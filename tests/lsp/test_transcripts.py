"""The transcript while it grows: what is said now stands in it, and it stays within bounds."""

from collections.abc import Iterable

from turnbuckle.lsp.asking.pointing import diagnostics_text
from turnbuckle.lsp.asking.transcripts import LIMIT, Transcript, markdown
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    AssistantChunk,
    AssistantMessage,
    ContextRewound,
    Fact,
    LlmStream,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.parts import End


def entries(facts: Iterable[Fact]) -> list[Entry]:
    return [Entry(seq, 0, fact) for seq, fact in enumerate(facts)]


def grown(*facts: Fact, limit: int | None = None) -> str:
    transcript = Transcript(limit)
    for entry in entries(facts):
        transcript.feed(entry)
    return transcript.text("T")


def user(text: str) -> UserMessage:
    return UserMessage(turn=1, step=1, content=text, source="user")


def chunk(text: str) -> AssistantChunk:
    return AssistantChunk(turn=1, step=1, text=text)


def answer(text: str) -> AssistantMessage:
    return AssistantMessage(turn=1, step=1, content=text, tool_calls=(), finish="stop")


START = TurnStart(turn=1)
STREAM = LlmStream(turn=1, step=1, attempt=1, model="m", digest="d")
END = TurnEnd(turn=1, end=End(kind="completed"))


def test_what_is_said_now_stands_at_the_end() -> None:
    said: list[Fact] = [START, user("Hi"), STREAM]
    assert grown(*said) == "# T\n\n> Hi\n\n*…*\n"
    said += [chunk("One "), chunk("two")]
    assert grown(*said) == "# T\n\n> Hi\n\nOne two\n"
    said += [answer("One two."), END]
    assert grown(*said) == "# T\n\n> Hi\n\nOne two.\n"


def test_another_attempt_begins_anew_and_an_end_leaves_nothing_behind() -> None:
    assert grown(START, STREAM, chunk("lost"), STREAM, chunk("new")) == "# T\n\nnew\n"
    cut = TurnEnd(turn=1, end=End(kind="aborted", cause="user"))
    assert grown(START, STREAM, chunk("lost"), cut) == "# T\n\n*aborted: user*\n"


def test_an_open_block_of_code_does_not_swallow_what_comes_next() -> None:
    assert grown(START, STREAM, chunk("```python\nx = 1")) == "# T\n\n```python\nx = 1\n```\n"


def test_nothing_in_what_is_said_now_is_fetched() -> None:
    assert "![" not in grown(START, STREAM, chunk("![x](https://example.org/a.png)"))


def test_it_says_that_the_conversation_went_back() -> None:
    assert "went back to an earlier point" in grown(ContextRewound(to=1))


def test_of_a_long_one_the_end_is_shown() -> None:
    facts = [fact for n in range(100) for fact in (user(f"question {n}"), answer("x" * 10_000))]
    text = grown(*facts, limit=LIMIT)
    assert len(text) < LIMIT + 1_000
    assert "*What was said before is left out here.*" in text
    assert "question 99" in text
    assert "question 1\n" not in text
    assert "question 1\n" in markdown("T", entries(facts))


def test_a_single_long_answer_is_cut() -> None:
    assert len(grown(START, STREAM, chunk("x" * 3 * LIMIT), limit=LIMIT)) < LIMIT + 1_000
    assert len(grown(answer("x" * 3 * LIMIT), limit=LIMIT)) < LIMIT + 1_000


def test_diagnostics_are_told_with_all_that_can_be_read_of_them() -> None:
    start, end = {"line": 2, "character": 0}, {"line": 4, "character": 0}
    place = {"uri": "file:///b.py", "range": {"start": start, "end": start}}
    related: list[object] = [
        {"location": place, "message": "here"},
        {"location": {"uri": "file:///c.py"}},
        {"location": "?"},
        7,
    ]
    found = {"range": {"start": start, "end": end}, "message": "m", "relatedInformation": related}
    assert diagnostics_text([found, {"relatedInformation": "?"}]).splitlines() == [
        "lines 3 to 5: error: m",
        "  see file:///b.py, line 3: here",
        "  see file:///c.py: (no message)",
        "error: (no message)",
    ]
    many = {"message": "m", "relatedInformation": related[:1] * 50}
    assert len(diagnostics_text([many]).splitlines()) == 11
