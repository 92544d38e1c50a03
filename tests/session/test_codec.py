"""Facts to bytes and back."""

import pytest
from hypothesis import given

from turnbuckle.session import codec
from turnbuckle.session.events import (
    FACTS,
    AssistantChunk,
    AssistantMessage,
    Fact,
    ForeignFact,
    PluginFact,
    ToolResult,
    TurnEnd,
)
from turnbuckle.session.parts import Call, End
from turnbuckle.testing.strategies import facts


def line_of(fact: Fact, seq: int = 0, time: int = 1) -> bytes:
    return codec.line(seq, time, fact, codec.encode_fact(fact))


def test_a_line_is_compact_camel_case_and_without_absent_fields() -> None:
    fact = AssistantMessage(
        turn=1,
        step=2,
        content="é",
        tool_calls=(Call(call_id="c", name="f", arguments="{}"),),
        finish="stop",
    )
    assert line_of(fact, 3, 99).decode() == (
        '{"seq":3,"time":99,"type":"assistant/message","data":{"turn":1,"step":2,"content":"é",'
        '"toolCalls":[{"callId":"c","name":"f","arguments":"{}"}],"finish":"stop"}}\n'
    )


def test_a_plugins_fact_has_its_own_type_and_may_be_skipped() -> None:
    raw = line_of(PluginFact(name="cost", data={"a_b": 1}))
    assert raw == b'{"seq":0,"time":1,"type":"plugin/cost","ignorable":true,"data":{"a_b":1}}\n'


@given(facts())
def test_what_was_written_is_read_back(fact: Fact) -> None:
    entry = codec.parse(line_of(fact, 5, 7))
    assert entry is not None
    assert (entry.seq, entry.time, entry.fact) == (5, 7, fact)
    assert codec.encode_fact(entry.fact) == codec.encode_fact(fact)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"bytes", {1: 2}, 2**70, "\ud800"])
def test_what_is_not_json_is_refused(value: object) -> None:
    with pytest.raises(codec.NotJson):
        codec.encode_fact(PluginFact(name="x", data={"deep": [value]}))
    with pytest.raises(codec.NotJson):
        codec.encode_fact(
            ToolResult(
                turn=1, step=1, call_id="a", content="", is_error=False, meta={"deep": value}
            )
        )


def test_a_lone_surrogate_is_refused_in_any_text() -> None:
    with pytest.raises(codec.NotJson):
        codec.encode_fact(AssistantChunk(turn=1, step=1, text="\ud800"))


@pytest.mark.parametrize(
    ("text", "clean"),
    [("a\ud800b", "a�b"), ("\ud83d\ude00", "😀"), ("plain é", "plain é"), ("\udc00", "�")],
)
def test_scrubbing_replaces_lone_surrogates_and_joins_pairs(text: str, clean: str) -> None:
    assert codec.scrub(text) == clean


def test_an_unknown_type_is_refused_unless_it_may_be_skipped() -> None:
    with pytest.raises(codec.UnknownFact):
        codec.parse(b'{"seq":0,"time":1,"type":"future/thing","data":{}}\n')
    entry = codec.parse(b'{"seq":0,"time":1,"type":"x/y","ignorable":true,"data":[1]}\n')
    assert entry.fact == ForeignFact(tag="x/y", data=[1])
    assert line_of(entry.fact).endswith(b'"type":"x/y","ignorable":true,"data":[1]}\n')


def test_unknown_fields_are_skipped() -> None:
    data = b'{"turn":1,"new":1,"end":{"kind":"completed","more":[]}}'
    raw = b'{"seq":0,"time":1,"type":"turn/end","data":%s}\n' % data
    entry = codec.parse(raw)
    assert entry is not None
    assert entry.fact == TurnEnd(turn=1, end=End(kind="completed"))


@pytest.mark.parametrize(
    "raw", [b"[]\n", b"{}\n", b'{"seq":0,"time":1,"type":"turn/start"}\n', b"x"]
)
def test_a_damaged_line_is_a_value_error(raw: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 — any kind of it
        codec.parse(raw)


def test_every_type_of_the_catalogue_has_its_class() -> None:
    assert {
        tag for tag in FACTS if tag.partition("/")[0] in ("tool", "edit", "approval", "grant")
    } == {
        "tool/call", "tool/start", "tool/result", "edit/applying", "edit/applied", "edit/undone",
        "approval/asked", "approval/hunk", "approval/decided", "grant/added", "grant/revoked",
    }  # fmt: skip
    assert len(FACTS) == 31
