"""A session told in lines."""

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from turnbuckle.cli.lines import Said
from turnbuckle.cli.narration import Narration
from turnbuckle.cli.values import Event, Note, event_of
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    AssistantChunk,
    AssistantMessage,
    ContextSummary,
    EditUndone,
    InboxDropped,
    LlmFailed,
    LlmStream,
    StepEnd,
    StepStart,
    TodoWrite,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.parts import Call, End, Failure, TodoItem


def told(events: Iterable[Event], *, echo: bool = True, subjects: bool = True) -> str:
    """What is printed, as plain text."""
    narration = Narration(echo=echo, subjects=subjects, cwd="file:///work")
    parts: list[str] = []
    for event in events:
        for shown in narration.feed(event):
            if isinstance(shown, Said):
                parts.append(shown.text)
            else:
                parts.append("".join(text for text, _ in shown) + "\n")
    return "".join(parts)


def chunk(text: str) -> AssistantChunk:
    return AssistantChunk(turn=1, step=1, text=text)


def message(content: str, *calls: Call) -> AssistantMessage:
    return AssistantMessage(turn=1, step=1, content=content, tool_calls=calls, finish="stop")


def stream(attempt: int = 1) -> LlmStream:
    return LlmStream(turn=1, step=1, attempt=attempt, model="m", digest="d")


def end(end: End) -> str:
    return told([TurnEnd(turn=1, end=end)])


CALL = ToolCall(turn=1, step=1, call_id="c", name="run_command", arguments='{"command":"make"}')
COMMAND = {"kind": "command", "command": "make", "cwd": "file:///work", "timeout": 9}
ASKED = ApprovalAsked(approval_id="a", call_id="c", subject=COMMAND, digest="d", choices=())


def test_a_turn() -> None:
    events: list[Event] = [
        TurnStart(turn=1),
        StepStart(turn=1, step=1),
        UserMessage(turn=1, step=1, content="build it\nplease"),
        stream(),
        chunk("I bui"),
        chunk("ld it."),
        message("I build it.", Call(call_id="c", name="run_command", arguments="{}")),
        CALL,
        ASKED,
        ApprovalDecided(approval_id="a", outcome="allowed", by="person"),
        ToolResult(
            turn=1, step=1, call_id="c", content="done", is_error=False, meta={"exitCode": 0}
        ),
        StepEnd(turn=1, step=1, tool_calls=1),
        stream(),
        message("It is built."),
        TurnEnd(turn=1, end=End(kind="completed")),
    ]
    assert told(events) == snapshot("""\
› build it
  please

I build it.
$ make
  at most 9 s
  allowed once
✓ run_command make · exit code 0
  done

It is built.
""")


def test_the_persons_own_words_are_not_told_where_they_stand_above() -> None:
    prompt = UserMessage(turn=1, step=1, content="build it")
    assert told([prompt], echo=False) == ""


def test_what_a_plugin_sends_to_the_model_is_not_the_persons() -> None:
    assert told([UserMessage(turn=1, step=1, content="x", source="plugin")]) == ""


def test_text_that_came_as_chunks_is_told_once() -> None:
    assert told([stream(), chunk("Hel"), chunk("lo"), message("Hello")]) == "Hello\n"


def test_text_whose_chunks_were_skipped_is_told_whole() -> None:
    assert told([stream(), chunk("Hel"), message("Hello")]) == "Hello\n"
    assert told([stream(), message("Hello\n")]) == "Hello\n"


def test_after_a_failed_attempt_the_answer_is_told_from_its_start() -> None:
    failure = Failure(kind="transport", message="connection lost")
    events: list[Event] = [
        stream(),
        chunk("Hel"),
        LlmFailed(attempt=1, failure=failure, retry_at=5),
        stream(2),
        message("Hello"),
    ]
    assert told(events) == snapshot("""\
Hel  the model did not answer: connection lost (transport); it is asked again

Hello
""")


@given(st.lists(st.text(max_size=6), max_size=6), st.integers(0, 6))
def test_however_an_answer_is_cut_it_is_told_whole(parts: list[str], kept: int) -> None:
    whole = "".join(parts)
    events: list[Event] = [stream(), *map(chunk, parts[:kept]), message(whole)]
    expected = told([stream(), message(whole)])
    assert told(events).replace("\r", "") == expected.replace("\r", "")


def test_an_answer_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in told([stream(), chunk("\x1b[2J"), message("\x1b[2J")])


def test_rejections_say_why() -> None:
    events: list[Event] = [
        ASKED,
        ApprovalDecided(approval_id="a", outcome="rejected", by="p", note="no\nway"),
    ]
    assert told(events, subjects=False) == "  rejected: no way\n"


def test_ends_say_what_happened_and_what_to_do() -> None:
    refused = Failure(kind="auth", message="invalid key", status=401)
    assert end(End(kind="completed")) == ""
    assert end(End(kind="error", failure=refused)) == snapshot("""\
failed: invalid key (auth 401)
  check the key; `turnbuckle doctor` says where it came from
""")
    assert end(End(kind="aborted", cause="user")) == "cancelled\n"
    assert end(End(kind="aborted", cause="shutdown")) == "cancelled (shutdown)\n"
    assert end(End(kind="stopped", reason="max-steps")) == "stopped: max-steps\n"
    assert end(End(kind="blocked", reason="no")) == "blocked: no\n"
    assert "limit of tokens" in end(End(kind="max-tokens"))
    assert "interrupted" in end(End(kind="interrupted"))


def test_a_list_is_told_whole_and_then_where_in_it_the_agent_is() -> None:
    first, second = TodoItem(text="one", state="active"), TodoItem(text="two", state="open")
    call = ToolCall(turn=1, step=1, call_id="t", name="todo_write", arguments="{}")
    result = ToolResult(turn=1, step=1, call_id="t", content="2 items", is_error=False)
    events: list[Event] = [
        call,
        result,
        TodoWrite(items=(first, second)),
        TodoWrite(items=(replace(first, state="done"), replace(second, state="active"))),
        TodoWrite(items=(replace(first, state="done"), replace(second, state="done"))),
        TodoWrite(items=tuple(TodoItem(text=str(n), state="open") for n in range(22))),
    ]
    assert told(events).splitlines()[:5] == [
        "▸ one",
        "☐ two",
        "▸ two  1 of 2 done",
        "☑ the list  2 of 2 done",
        "☐ 0",
    ]
    assert told(events).splitlines()[-1] == "… 2 more"


def test_what_happens_to_the_conversation_is_told() -> None:
    events: list[Event] = [
        InboxDropped(keys=("k",), why="cancelled"),
        ContextSummary(covers=(1, 2), text="all of it"),
        EditUndone(call_id="c", uri="file:///work/a.py", hunks=("h",), by="person"),
    ]
    assert told(events) == snapshot("""\
  1 message dropped: cancelled
  the older part of the conversation is summed up for the model
  1 change of a.py undone by person
""")


def test_a_result_without_its_call_is_told_all_the_same() -> None:
    result = ToolResult(turn=1, step=1, call_id="x", content="ok", is_error=False)
    assert told([result]) == "✓ a tool\n  ok\n"


def test_values_that_are_not_known_are_skipped() -> None:
    assert event_of({"seq": 1, "time": 1, "type": "turn/teleported", "data": {}}) is None
    assert (
        event_of({"seq": 1, "type": "turn/end", "data": {"turn": 1, "end": {"kind": "x"}}}) is None
    )
    assert event_of({"seq": 1, "type": "request/header", "data": {"digest": "d"}}) is None
    assert event_of({"seq": 1, "type": "plugin/x", "data": {}}) is None
    assert event_of(None) is None
    assert event_of({"type": "live", "data": {"seq": 4}}) == Note("live", {"seq": 4})
    assert told([Note("weather", {"sunny": True})]) == ""


def test_fields_that_are_not_known_are_skipped() -> None:
    value = {"seq": 1, "type": "turn/start", "data": {"turn": 1, "moon": "full"}}
    assert event_of(value) == TurnStart(turn=1)
