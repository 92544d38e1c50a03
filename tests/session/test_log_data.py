"""What may not enter the log leaves it as it was, and what entered cannot be changed or lost."""

import copy
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.kernel.scope import Scope
from turnbuckle.session import codec
from turnbuckle.session.codec import Entry, NotJson
from turnbuckle.session.events import (
    AssistantChunk,
    Fact,
    InboxAdded,
    LlmFailed,
    PluginFact,
    SessionTitle,
    StepStart,
    TodoWrite,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.log import Log
from turnbuckle.session.parts import CallDelta, Context, End, Failure, TodoItem
from turnbuckle.testing.strategies import facts


def knotted() -> dict[str, Any]:
    knot: dict[str, Any] = {}
    knot["self"] = [knot]
    return knot


def result(**more: Any) -> ToolResult:
    return ToolResult(turn=1, step=1, call_id="c", content="", is_error=False, **more)


FAILURE = Failure(kind="server", message="503", retry_after=float("nan"))

REFUSED: dict[str, Callable[[], Fact]] = {
    "NaN": lambda: PluginFact(name="x", data={"a": float("nan")}),
    "infinity": lambda: result(meta={"deep": [{"a": float("-inf")}]}),
    "NaN in a typed field": lambda: LlmFailed(attempt=1, failure=FAILURE),
    "NaN in the end of a turn": lambda: TurnEnd(turn=1, end=End(kind="error", failure=FAILURE)),
    "bytes": lambda: PluginFact(name="x", data={"a": b"bytes"}),
    "bytes in a typed field": lambda: AssistantChunk(turn=1, step=1, text=b"x"),  # type: ignore[arg-type]
    "a lone surrogate": lambda: AssistantChunk(turn=1, step=1, text="\udc00"),
    "a lone surrogate in a key": lambda: PluginFact(name="x", data={"\ud800": 1}),
    "a lone surrogate in the type": lambda: PluginFact(name="\ud800", data={}),
    "an object": lambda: PluginFact(name="x", data={"a": object()}),
    "a number that is too large": lambda: PluginFact(name="x", data={"a": 2**64}),
    "a key that is no text": lambda: PluginFact(name="x", data={"a": {1: 2}}),
    "a value that holds itself": lambda: PluginFact(name="x", data=knotted()),
}


@pytest.mark.parametrize("what", REFUSED)
def test_data_that_is_not_json_is_refused_and_the_log_stays_as_it_was(what: str) -> None:
    log, told = Log(lambda: 7), list[int]()
    log.observe(Scope("s"), lambda entry, _line: told.append(entry.seq))
    log.append(TurnStart(turn=1))
    with pytest.raises(NotJson):
        log.append(REFUSED[what]())
    assert [entry.fact for entry in log.entries] == [TurnStart(turn=1)]
    assert log.append(TurnStart(turn=2)).seq == 1
    assert told == [0, 1]


MISTYPED: dict[str, Callable[[], Any]] = {
    "no text": lambda: UserMessage(turn=1, step=1, content=5),  # type: ignore[arg-type]
    "nothing": lambda: UserMessage(turn=1, step=1, content=None),  # type: ignore[arg-type]
    "a text for a number": lambda: TurnStart(turn="1"),  # type: ignore[arg-type]
    "an unknown word": lambda: TurnEnd(turn=1, end=End(kind="over")),  # type: ignore[arg-type]
    "no object": lambda: result(meta=["x"]),
    "no list": lambda: TodoWrite(items="x"),  # type: ignore[arg-type]
    "another part": lambda: TurnEnd(turn=1, end=TodoItem(text="x", state="open")),  # type: ignore[arg-type]
    "a piece of a call": lambda: AssistantChunk(
        turn=1,
        step=1,
        tool_calls=(CallDelta(index="0"),),  # type: ignore[arg-type]
    ),
    "a name of all plugins": lambda: PluginFact(name="*", data={}),
    "a name that is none": lambda: PluginFact(name=5, data={}),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("what", MISTYPED)
def test_what_could_not_be_read_back_is_refused_and_the_log_stays_as_it_was(what: str) -> None:
    log = Log(lambda: 7)
    with pytest.raises(NotJson, match="type"):
        log.append(MISTYPED[what]())
    assert log.append(TurnStart(turn=1)).seq == 0


def test_a_type_of_a_plugin_is_quoted_like_any_text() -> None:
    log, lines = Log(lambda: 7), list[bytes]()
    log.observe(Scope("s"), lambda _entry, line: lines.append(line))
    log.append(PluginFact(name='a"\n', data={}))
    assert lines[0].count(b"\n") == 1
    assert orjson.loads(lines[0])["type"] == 'plugin/a"\n'


@given(st.lists(facts(), max_size=10))
def test_what_is_kept_is_what_the_line_says(history: list[Fact]) -> None:
    log, lines = Log(lambda: 7), list[bytes]()
    log.observe(Scope("s"), lambda _entry, line: lines.append(line))
    for fact in history:
        log.append(fact)
    assert [entry.seq for entry in log.entries] == list(range(len(history)))
    assert [codec.parse(line) for line in lines] == log.entries


DETACHED: list[Callable[[Any], Fact]] = [
    lambda data: PluginFact(name="x", data=data),
    lambda data: result(meta=data),
    lambda data: InboxAdded(
        key="k", target="turn", input="x", context=(Context(kind="text", range=data),)
    ),
]


@pytest.mark.parametrize("make", DETACHED)
def test_changing_an_object_after_it_was_appended_changes_nothing(
    make: Callable[[Any], Fact],
) -> None:
    data: dict[str, Any] = {"start": {"line": 1, "character": 2}, "list": [{"a": 1}]}
    before = copy.deepcopy(data)
    log = Log(lambda: 7)
    entry = log.append(make(data))
    data["start"]["line"] = 9
    data["list"][0].clear()
    data["more"] = 1
    assert entry.fact == make(before)
    assert log.entries == [entry]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.update(x=1),
        lambda data: data.pop("deep"),
        lambda data: data["deep"].clear(),
        lambda data: data["deep"].__setitem__("list", 0),
        lambda data: data["deep"]["list"].append(2),
        lambda data: data["deep"]["list"].sort(),
        lambda data: data["deep"]["list"].__delitem__(0),
        lambda data: data.__ior__({"x": 1}),
    ],
)
def test_what_a_fact_holds_cannot_be_changed_by_who_reads_it(change: Callable[[Any], Any]) -> None:
    fact = Log(lambda: 7).append(PluginFact(name="x", data={"deep": {"list": [1]}})).fact
    assert isinstance(fact, PluginFact)
    with pytest.raises(TypeError, match="copy"):
        change(fact.data)
    assert fact.data == {"deep": {"list": [1]}}


def test_a_copy_of_what_a_fact_holds_can_be_changed() -> None:
    fact = Log(lambda: 7).append(PluginFact(name="x", data={"deep": {"list": [1]}})).fact
    assert isinstance(fact, PluginFact)
    copied = copy.deepcopy(fact.data)
    copied["deep"]["list"].append(2)
    assert copied == {"deep": {"list": [1, 2]}}
    assert orjson.dumps(fact.data) == b'{"deep":{"list":[1]}}'


def test_an_observer_that_throws_after_it_appended_loses_and_reorders_nothing() -> None:
    log, scope, seen = Log(lambda: 7), Scope("s"), list[str]()

    def rude(entry: Entry, _line: bytes) -> None:
        if isinstance(entry.fact, TurnStart):
            log.append(StepStart(turn=1, step=1))
            log.append(StepStart(turn=1, step=2))
            with pytest.raises(NotJson):
                log.append(SessionTitle(title="\ud800"))
            [].pop()  # what an error of its own looks like

    log.observe(scope, rude)
    log.observe(scope, lambda entry, _line: seen.append(f"{entry.seq} {entry.fact.type}"))
    assert log.append(TurnStart(turn=1)).seq == 0
    assert log.append(TurnStart(turn=2)).seq == 3
    assert seen == [
        "0 turn/start", "1 step/start", "2 step/start", "3 turn/start", "4 step/start",
        "5 step/start",
    ]  # fmt: skip


def test_an_observer_that_is_added_while_others_are_told_hears_only_what_comes_later() -> None:
    log, scope, seen = Log(lambda: 7), Scope("s"), list[int]()

    def late(entry: Entry, _line: bytes) -> None:
        if entry.seq == 0:
            log.observe(scope, lambda entry, _line: seen.append(entry.seq))

    log.observe(scope, late)
    log.append(TurnStart(turn=1))
    log.append(TurnStart(turn=2))
    assert seen == [1]
