"""Requests that did not fit are noticed where a server says nothing, and only there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.model.overflow import estimated, overflow_in
from turnbuckle.model.port import Cut, Reply, cut
from turnbuckle.model.providers import COMPATIBLE, LM_STUDIO, OLLAMA, OPENAI, PROVIDERS, Provider
from turnbuckle.session.parts import Usage


def noticed(
    provider: Provider,
    *,
    said: bool = True,
    asked: int = 20_000,
    read: int | None = None,
    made: int = 5,
    finish: str = "stop",
    allowed: int | None = None,
) -> bool:
    usage = None if read is None else Usage(input=read, output=made, total=read + made)
    reply = Reply(content="x" if said else "", finish=finish, usage=usage)
    return overflow_in(provider, reply, said=said, asked=asked, allowed=allowed) is not None


def test_far_fewer_tokens_than_were_sent_are_noticed_where_a_server_cuts() -> None:
    assert noticed(OLLAMA, read=4096)
    assert not noticed(OPENAI, read=4096)
    assert not noticed(COMPATIBLE, read=4096)


@pytest.mark.parametrize(
    ("asked", "read", "cut_off"),
    [
        (20_000, 9_999, True),
        (20_000, 10_000, False),  # the estimate may be twice too high
        (20_000, 999, False),  # a count of what was not cached
        (1_900, 1_000, False),  # no server's context is so small
        (2_100, 1_000, True),
        (20_000, None, False),
    ],
)
def test_how_far_is_far(asked: int, read: int | None, cut_off: bool) -> None:
    assert noticed(OLLAMA, asked=asked, read=read) == cut_off


def test_silence_is_noticed_where_a_server_is_known_for_it() -> None:
    assert noticed(LM_STUDIO, said=False, asked=2_001)
    assert not noticed(LM_STUDIO, said=False, asked=2_000)
    assert not noticed(LM_STUDIO, said=True)
    assert not noticed(OLLAMA, said=False)


@pytest.mark.parametrize("provider", [*PROVIDERS, COMPATIBLE], ids=lambda row: row.name)
def test_an_answer_without_room_is_noticed_everywhere(provider: Provider) -> None:
    def room(
        read: int | None, made: int, finish: str = "length", allowed: int | None = None
    ) -> bool:
        return noticed(
            provider,
            said=False,
            asked=1_000,
            read=read,
            made=made,
            finish=finish,
            allowed=allowed,
        )

    assert room(4096, 1)
    assert room(4096, 0)
    assert room(4096, 1, allowed=2)
    assert not room(4096, 1, allowed=1)
    assert not room(4096, 2)  # it thought, and did not say what
    assert not room(None, 0)
    assert not room(4096, 1, finish="stop")


@given(st.text())
def test_the_estimate_is_rather_too_low(text: str) -> None:
    assert estimated(len(text.encode())) <= len(text)


@pytest.mark.parametrize(
    ("finish", "why"),
    [
        ("stop", None),
        ("tool_calls", None),
        ("", None),
        ("end_turn", None),
        ("length", "limit"),
        ("MAX_TOKENS", "limit"),
        ("model_length", "limit"),
        ("content_filter", "filter"),
        ("content_filter: PROHIBITED_CONTENT", "filter"),
        ("truncated", "break"),
    ],
)
def test_what_cut_an_answer_is_told_by_its_finish(finish: str, why: Cut | None) -> None:
    assert cut(finish) == why
