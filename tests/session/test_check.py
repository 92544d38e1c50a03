"""A request is sent only if the log holds exactly it; what was compared before costs little."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.session import codec
from turnbuckle.session.check import NotLogged, RequestCheck
from turnbuckle.session.events import (
    AssistantMessage,
    Fact,
    LlmStream,
    Message,
    RequestHeader,
    UserMessage,
)

CONFIG = {"model": "m"}
HEADER = orjson.dumps([CONFIG, "be brief", []])
POOL = [UserMessage(turn=1, step=1, content=f"message {number}") for number in range(6)]


def stated(header: bytes, messages: Sequence[Message]) -> str:
    """The digest as it is defined."""
    whole = hashlib.sha256(header).digest()
    for message in messages:
        whole += hashlib.sha256(codec.encode(message)).digest()
    return hashlib.sha256(whole).hexdigest()


def checked(*facts: Fact) -> RequestCheck:
    """A check that was fed these facts, as a log stores them."""
    check = RequestCheck()
    for seq, fact in enumerate(facts):
        check.feed(codec.line(seq, 7, fact, codec.encode_fact(fact)))
    return check


def asked(*messages: UserMessage | AssistantMessage, digest: str | None = None) -> RequestCheck:
    """A check of a log in which these messages are asked about."""
    header = RequestHeader(config=CONFIG, system="be brief", tools=(), why="initial")
    digest = digest or stated(HEADER, messages)
    stream = LlmStream(turn=1, step=1, attempt=1, model="m", digest=digest)
    return checked(header, *messages, stream)


@given(st.lists(st.tuples(st.sampled_from([b"[]", HEADER]), st.lists(st.sampled_from(POOL)))))
def test_the_digest_is_the_same_whatever_was_asked_before(
    requests: list[tuple[bytes, list[Message]]],
) -> None:
    check = RequestCheck()
    for header, messages in requests:
        assert check.digest(header, messages) == stated(header, messages)


def test_a_message_that_was_replaced_by_an_equal_one_is_looked_at_again() -> None:
    # Equal is not the same: 1 and 1.0 are equal, and are not the same JSON.
    check = RequestCheck()
    first = AssistantMessage(turn=1, step=1, content="a", finish="stop")
    check.digest(HEADER, [first])
    other = replace(first, turn=True)
    assert other == first
    assert check.digest(HEADER, [other]) == stated(HEADER, [other]) != stated(HEADER, [first])


def test_a_request_that_the_log_holds_passes() -> None:
    asked(*POOL).require(HEADER, POOL, stated(HEADER, POOL))


def test_a_message_that_differs_is_named_by_its_number() -> None:
    sent = [*POOL[:2], replace(POOL[2], content="another"), *POOL[3:]]
    with pytest.raises(NotLogged, match="message 3 "):
        asked(*POOL).require(HEADER, sent, stated(HEADER, sent))


def test_a_message_too_few_is_said() -> None:
    with pytest.raises(NotLogged, match="5 messages, 6 of them in the log"):
        asked(*POOL).require(HEADER, POOL[:5], stated(HEADER, POOL[:5]))


def test_another_header_than_the_logs_is_said() -> None:
    with pytest.raises(NotLogged, match="prompt, tools or options"):
        asked(*POOL).require(b"[]", POOL, stated(b"[]", POOL))


def test_a_log_that_states_another_digest_is_not_believed() -> None:
    with pytest.raises(NotLogged, match="another digest"):
        asked(*POOL, digest="0" * 64).require(HEADER, POOL, stated(HEADER, POOL))
