"""What a session came to."""

from turnbuckle.cli.demo import fixed
from turnbuckle.cli.tally import Tally
from turnbuckle.cli.values import Event
from turnbuckle.session.events import (
    ApprovalAsked,
    AssistantMessage,
    EditApplied,
    StepEnd,
    ToolResult,
    TurnEnd,
)
from turnbuckle.session.parts import End, EndKind, JsonObject, Usage

A = "file:///work/a.py"


def tally(*events: Event) -> Tally:
    whole = Tally()
    for event in events:
        whole.feed(event)
    return whole


def asked(*hunks: JsonObject) -> ApprovalAsked:
    files = [{"uri": A, "kind": "edit", "digest": "d", "hunks": list(hunks)}]
    subject = {"kind": "change", "files": files}
    return ApprovalAsked(approval_id="a", call_id="c", subject=subject, digest="d", choices=())


def applied(*hunks: str, outcome: str = "applied") -> EditApplied:
    return EditApplied(call_id="c", uri=A, hunks=hunks, outcome=outcome)


def ran(code: int) -> ToolResult:
    meta = {"exitCode": code}
    return ToolResult(turn=1, step=1, call_id="c", content="", is_error=False, meta=meta)


def ended(kind: EndKind = "completed") -> TurnEnd:
    return TurnEnd(turn=1, end=End(kind=kind))


ONE = {"hunkId": "1", "line": 0, "oldText": "a\n", "newText": "b\nc\n"}
TWO = {"hunkId": "2", "line": 5, "oldText": "", "newText": "d\n"}


def test_turns_steps_and_tokens_are_counted() -> None:
    usage = Usage(input=10, output=2, total=12)
    said = AssistantMessage(turn=1, step=1, content="", finish="stop", usage=usage)
    step = StepEnd(turn=1, step=1, tool_calls=0)
    whole = tally(said, step, said, step, ended(), said, step, ended())
    assert (whole.turns, whole.steps) == (2, 3)
    assert whole.usage == Usage(input=30, output=6, total=36)


def test_only_hunks_that_were_applied_count() -> None:
    assert tally(asked(ONE, TWO), applied("1")).edits == {A: (2, 1)}
    assert tally(asked(ONE, TWO), applied("1"), applied("2")).edits == {A: (3, 1)}
    assert tally(asked(ONE), applied("1", outcome="misplaced")).edits == {}


def test_a_hunk_that_nobody_was_asked_about_changes_its_file_all_the_same() -> None:
    assert tally(applied("9")).edits == {A: (0, 0)}


def test_the_test_is_fixed_when_it_passed_after_the_last_change() -> None:
    assert fixed(tally(ran(1), asked(ONE), applied("1"), ran(0), ended()))


def test_the_test_is_not_fixed_by_anything_less() -> None:
    change = (asked(ONE), applied("1"))
    assert not fixed(tally())
    assert not fixed(tally(ran(0), ended()))
    assert not fixed(tally(ran(0), *change, ended()))
    assert not fixed(tally(*change, ran(1), ended()))
    assert not fixed(tally(*change, ran(0), *change, ended()))
    assert not fixed(tally(*change, ran(0), ended("error")))
