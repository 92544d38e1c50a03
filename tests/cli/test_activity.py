"""The status line."""

from collections.abc import Iterable

from inline_snapshot import snapshot

from turnbuckle.cli.activity import Activity
from turnbuckle.cli.lines import plain, seconds
from turnbuckle.cli.values import Event, Note
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    AssistantChunk,
    AssistantMessage,
    LlmFailed,
    LlmStream,
    StepEnd,
    StepStart,
    ToolCall,
    ToolResult,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from turnbuckle.session.parts import CallDelta, End, Failure


def statuses(events: Iterable[Event]) -> str:
    """The status line 1.5 seconds after each event; 10 seconds pass between two of them."""
    now = 0.0
    activity = Activity(lambda: now)
    lines: list[str] = []
    for event in events:
        activity.feed(event)
        now += 1.5
        lines += [row[2:] for row in plain(activity.lines()).splitlines()] or ["-"]
        now += 8.5
    return "\n".join(lines) + "\n"


def stream(attempt: int = 1, why: str | None = None) -> LlmStream:
    return LlmStream(turn=1, step=1, attempt=attempt, model="gpt", digest="d", why=why)


def call(call_id: str, command: str) -> ToolCall:
    arguments = f'{{"command":"{command}"}}'
    return ToolCall(turn=1, step=1, call_id=call_id, name="run_command", arguments=arguments)


def result(call_id: str) -> ToolResult:
    return ToolResult(turn=1, step=1, call_id=call_id, content="", is_error=False)


ASKED = ApprovalAsked(approval_id="a", call_id="c", subject={}, digest="d", choices=())
TURN_END = TurnEnd(turn=1, end=End(kind="completed"))


def test_a_turn_says_at_every_moment_what_goes_on_and_for_how_long() -> None:
    events: list[Event] = [
        TurnStart(turn=1),
        StepStart(turn=1, step=1),
        stream(),
        AssistantChunk(turn=1, step=1, reasoning="hm"),
        AssistantChunk(turn=1, step=1, reasoning="hm"),
        AssistantChunk(turn=1, step=1, text="I"),
        AssistantChunk(turn=1, step=1, tool_calls=(CallDelta(index=0, name="run_command"),)),
        AssistantChunk(turn=1, step=1, tool_calls=(CallDelta(index=0, arguments="{"),)),
        AssistantMessage(turn=1, step=1, content="I", finish="stop"),
        call("c", "make"),
        ASKED,
        ApprovalDecided(approval_id="a", outcome="allowed", by="person"),
        ToolStart(call_id="c", attempt=1),
        Note("tool/output", {"callId": "c", "text": "cc -c a.c\ncc -c b.c\n"}),
        result("c"),
        StepEnd(turn=1, step=1, tool_calls=1),
        TURN_END,
    ]
    assert statuses(events) == snapshot("""\
starting  1.5 s
starting  11 s
asking gpt  1.5 s
thinking  1.5 s
thinking  11 s
writing  1.5 s
writing a call of run_command  1.5 s
writing a call of run_command  11 s
working  1.5 s
preparing run_command make  1.5 s
waiting for you  1.5 s
preparing run_command make  21 s
running run_command make  1.5 s
running run_command make  11 s
cc -c b.c
working  1.5 s
working  1.5 s
-
""")


def test_calls_that_run_at_once_are_counted() -> None:
    starts = [ToolStart(call_id=c, attempt=1) for c in "ab"]
    events: list[Event] = [call("a", "one"), call("b", "two"), *starts, result("a"), result("b")]
    assert statuses(events) == snapshot("""\
preparing run_command one  1.5 s
preparing run_command one  11 s
running run_command one  1.5 s
running run_command one and 1 more  11 s
running run_command two  11 s
working  1.5 s
""")


def test_a_retry_says_so() -> None:
    failed = LlmFailed(attempt=1, failure=Failure(kind="server", message="x"), retry_at=9)
    waiting = Note("status", {"text": "retrying in 4 s"})
    events: list[Event] = [stream(), failed, waiting, stream(2), stream(1, "context")]
    assert statuses(events) == snapshot("""\
asking gpt  1.5 s
waiting before the model is asked again  1.5 s
retrying in 4 s  1.5 s
asking gpt again, attempt 2  1.5 s
summing up the older part of the conversation  1.5 s
""")


def test_whoever_waits_longest_is_named_first() -> None:
    second = ApprovalAsked(approval_id="b", call_id="d", subject={}, digest="d", choices=())
    assert statuses([ASKED, second]).splitlines()[-1] == "waiting for you  11 s"


def test_the_status_is_one_line_that_cannot_steer_the_terminal() -> None:
    evil = ToolCall(
        turn=1, step=1, call_id="c", name="x\n\x1b[2J", arguments='{"command":"a\\nb\\u001b[1m"}'
    )
    text = statuses([evil, ToolStart(call_id="c", attempt=1)])
    assert text.count("\n") == 2
    assert "\x1b" not in text


def test_the_output_of_a_call_that_is_over_is_not_shown() -> None:
    late = Note("tool/output", {"callId": "c", "text": "late"})
    assert "late" not in statuses([call("c", "x"), result("c"), late])


def test_durations() -> None:
    assert [seconds(s) for s in (-1, 0.04, 9.94, 10, 59.9, 60, 3725)] == snapshot(
        ["0.0 s", "0.0 s", "9.9 s", "10 s", "59 s", "1 min 00 s", "62 min 05 s"]
    )
