"""What a broken-off log is closed with."""

from inline_snapshot import snapshot

from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    ApprovalAsked,
    AssistantChunk,
    AssistantMessage,
    EditApplied,
    Fact,
    LlmStream,
    StepEnd,
    StepStart,
    ToolCall,
    ToolResult,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from turnbuckle.session.parts import Call, End
from turnbuckle.session.recovery import closing

BEGUN: tuple[Fact, ...] = (TurnStart(turn=3), StepStart(turn=3, step=2))


def call(call_id: str) -> Call:
    return Call(call_id=call_id, name="f", arguments="{}")


def answer(*ids: str) -> AssistantMessage:
    return AssistantMessage(
        turn=3, step=2, content="", tool_calls=tuple(map(call, ids)), finish="tool_calls"
    )


def called(call_id: str) -> ToolCall:
    return ToolCall(turn=3, step=2, call_id=call_id, name="f", arguments="{}")


def closed_with(*history: Fact) -> list[str]:
    entries = [Entry(seq, 1, fact) for seq, fact in enumerate(history)]
    facts = closing(entries)
    again = [*entries, *(Entry(len(entries) + n, 1, fact) for n, fact in enumerate(facts))]
    assert closing(again) == []
    return [
        f"{fact.type} {fact.call_id} {fact.code}" if isinstance(fact, ToolResult)
        else f"{fact.type} {fact.content!r}" if isinstance(fact, AssistantMessage)
        else fact.type
        for fact in facts
    ]  # fmt: skip


def test_a_closed_log_gets_nothing() -> None:
    step_end = StepEnd(turn=3, step=2, tool_calls=0)
    turn_end = TurnEnd(turn=3, end=End(kind="completed"))
    assert closed_with() == []
    assert closed_with(*BEGUN, step_end, turn_end) == []


def test_a_turn_between_steps_gets_its_end() -> None:
    assert closed_with(TurnStart(turn=3)) == ["turn/end"]
    assert closed_with(*BEGUN, StepEnd(turn=3, step=2, tool_calls=0)) == ["turn/end"]


def test_what_was_said_last_stays_as_an_interrupted_message() -> None:
    stream = LlmStream(turn=3, step=2, attempt=1, model="m", digest="")
    lost = AssistantChunk(turn=3, step=2, text="lost ")
    kept = AssistantChunk(turn=3, step=2, text="kept ")
    more = AssistantChunk(turn=3, step=2, text="too")
    assert closed_with(*BEGUN, stream, lost, stream, kept, more) == [
        "assistant/message 'kept too'", "step/end", "turn/end",
    ]  # fmt: skip


def test_every_call_gets_the_result_that_fits_how_far_it_came() -> None:
    asked = ApprovalAsked(
        approval_id="q", call_id="c", subject={}, digest="", choices=("allow", "reject")
    )
    stale = EditApplied(call_id="f", uri="file:///x", hunks=("h",), outcome="stale")
    history = (
        *BEGUN, answer("a", "b", "c", "d", "e", "f"),
        called("a"), ToolResult(turn=3, step=2, call_id="a", content="", is_error=False),
        called("b"), ToolStart(call_id="b", attempt=1),
        called("c"), asked,
        called("d"), ToolStart(call_id="d", attempt=1),
        EditApplied(call_id="d", uri="file:///x", hunks=("h",), outcome="applied"),
        called("f"), ToolStart(call_id="f", attempt=1), stale,
    )  # fmt: skip
    assert closed_with(*history) == snapshot(
        [
            "approval/decided",
            "tool/result b TOOL_OUTCOME_UNKNOWN",
            "tool/result c TOOL_NOT_STARTED",
            "tool/result d PARTLY",
            "tool/call",
            "tool/result e TOOL_NOT_STARTED",
            "tool/result f TOOL_OUTCOME_UNKNOWN",
            "step/end",
            "turn/end",
        ]
    )


def test_what_was_said_comes_before_what_was_asked_and_that_before_results() -> None:
    stream = LlmStream(turn=3, step=2, attempt=1, model="m", digest="")
    chunk = AssistantChunk(turn=3, step=2, text="half")
    asked = ApprovalAsked(
        approval_id="q", call_id="x", subject={}, digest="", choices=("allow", "reject")
    )
    assert closed_with(*BEGUN, asked, stream, chunk) == [
        "assistant/message 'half'", "approval/decided", "step/end", "turn/end",
    ]  # fmt: skip


def test_a_question_between_two_steps_is_withdrawn_too() -> None:
    asked = ApprovalAsked(
        approval_id="q", call_id="plugin/x", subject={}, digest="", choices=("yes", "no")
    )
    step_end = StepEnd(turn=3, step=2, tool_calls=0)
    assert closed_with(*BEGUN, step_end, asked) == ["approval/decided", "turn/end"]


def test_only_the_last_turn_is_looked_at() -> None:
    old = (*BEGUN, answer("a"), StepEnd(turn=3, step=2, tool_calls=1))
    ended = TurnEnd(turn=3, end=End(kind="completed"))
    assert closed_with(*old, ended, TurnStart(turn=4)) == ["turn/end"]
