"""The fast way from JSON to facts takes what fits, gives what the patient way gives, no more."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from turnbuckle.session import codec
from turnbuckle.session.decoding import Unfit, reader
from turnbuckle.session.events import (
    FACTS,
    ApprovalHunk,
    ContextSummary,
    EditUndone,
    Fact,
    LlmFailed,
    LlmStream,
    TurnEnd,
    TurnStart,
)
from turnbuckle.session.parts import End, Failure, Patch
from turnbuckle.testing.strategies import facts, json_values

KNOWN = {type_: cls for type_, cls in FACTS.items() if type_ != "plugin/*"}


def patient(cls: type, data: object) -> object:
    """What pydantic makes of it, or None."""
    try:
        made: object = TypeAdapter(cls).validate_python(data)
    except ValidationError:
        return None
    return made


@given(facts())
def test_what_a_fact_is_written_as_is_read_fast(fact: Fact) -> None:
    cls = KNOWN.get(codec.tag(fact))
    if cls is not None:
        data = orjson.loads(codec.encode_fact(fact))
        assert reader(cls)(data) == fact == patient(cls, data)


@pytest.mark.parametrize(
    "fact",
    [
        LlmFailed(attempt=1, failure=Failure(kind="server", message="no", status=500)),
        LlmFailed(attempt=1, failure=Failure(kind="server", message="no", retry_after=1.5)),
        LlmFailed(attempt=1, failure=Failure(kind="server", message="no", retry_after=2)),
        LlmStream(
            turn=1, step=1, attempt=1, model="m", digest="d",
            patch=Patch(start=0, end=1, messages=({"a": [1]},)),
        ),
        ContextSummary(covers=(1, 2), text="t"),
        ApprovalHunk(approval_id="a", hunk_id="h", decision="accepted"),
        EditUndone(call_id="c", uri="u", hunks=("h",), by="rewind", after="d"),
        TurnEnd(turn=1, end=End(kind="error", failure=Failure(kind="store", message="m"))),
    ],
)  # fmt: skip
def test_nested_parts_are_read_fast(fact: Fact) -> None:
    assert reader(type(fact))(orjson.loads(codec.encode_fact(fact))) == fact


@given(st.sampled_from(sorted(KNOWN)), st.dictionaries(st.text(max_size=4), json_values) | facts())
def test_it_never_gives_what_the_patient_way_would_not(type_: str, value: Any) -> None:
    """Any: JSON, or the data of another fact."""
    cls = KNOWN[type_]
    data = value if isinstance(value, dict) else orjson.loads(codec.encode_fact(value))
    try:
        made = reader(cls)(data)
    except Unfit:
        return
    assert made == patient(cls, data)


@pytest.mark.parametrize(
    ("cls", "data"),
    [
        (TurnStart, {}),
        (TurnStart, {"turn": "1"}),
        (TurnStart, {"turn": True}),
        (TurnStart, {"turn": None}),
        (TurnStart, []),
        (ApprovalHunk, {"approvalId": "a", "hunkId": "h", "decision": "perhaps"}),
        (ContextSummary, {"covers": [1, 2, 3], "text": ""}),
        (EditUndone, {"callId": "c", "uri": "u", "hunks": [1], "by": "x"}),
    ],
)
def test_what_does_not_fit_exactly_is_left_to_the_patient_way(cls: type, data: object) -> None:
    with pytest.raises(Unfit):
        reader(cls)(data)


def test_what_is_wrong_is_said_and_what_can_be_read_is() -> None:
    assert codec.decode("turn/start", {"turn": "1"}) == TurnStart(turn=1)
    with pytest.raises(ValueError, match="turn"):
        codec.decode("turn/start", {"turn": "one"})
