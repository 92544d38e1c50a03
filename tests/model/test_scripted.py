"""The model that tests are written with."""

import anyio
import pytest

from turnbuckle.model.port import (
    CallConfig,
    Delta,
    Emit,
    Model,
    ModelRefused,
    ModelUnavailable,
    Reply,
    Request,
)
from turnbuckle.session.parts import Call, CallDelta, Usage
from turnbuckle.testing.scripted import Scripted, say

REQUEST = Request(config=CallConfig(model="m"), system="", tools=(), messages=())


async def play(model: Model) -> tuple[Reply, list[Delta]]:
    deltas: list[Delta] = []
    return await model(REQUEST, deltas.append), deltas


async def test_replies_are_given_in_order_and_requests_are_kept() -> None:
    first, second = say("one"), say("two")
    model = Scripted([first, second])
    assert [(await play(model))[0], (await play(model))[0]] == [first, second]
    assert model.requests == [REQUEST, REQUEST]


async def test_a_reply_is_streamed_in_small_pieces() -> None:
    reply = say("Let me\n look.", ("1", "read", {"path": "é"}), reasoning="Hm, well.")
    _, deltas = await play(Scripted([reply]))
    assert deltas == [
        Delta(reasoning="Hm, "),
        Delta(reasoning="well."),
        Delta(text="Let "),
        Delta(text="me\n "),
        Delta(text="look."),
        Delta(tool_calls=(CallDelta(index=0, name="read"),)),
        Delta(tool_calls=(CallDelta(index=0, arguments='{"path": "é"}'),)),
    ]


def test_say_makes_a_reply_that_fits() -> None:
    usage = Usage(input=1, output=2, total=3)
    assert say("hi", usage=usage) == Reply(content="hi", finish="stop", usage=usage)
    assert say("", ("a", "f", "not json")) == Reply(
        content="",
        finish="tool_calls",
        tool_calls=(Call(call_id="a", name="f", arguments="not json"),),
    )
    assert say("cut", finish="length").finish == "length"


async def test_an_error_is_raised_instead_of_a_reply() -> None:
    error = ModelUnavailable("server", "down")
    with pytest.raises(ModelUnavailable) as caught:
        await play(Scripted([error]))
    assert caught.value is error


async def test_a_function_does_as_it_likes() -> None:
    async def reply(request: Request, emit: Emit) -> Reply:
        emit(Delta(text=request.config.model))
        return say("done")

    assert await play(Scripted([reply])) == (say("done"), [Delta(text="m")])


async def test_asked_once_too_often_it_refuses_and_says_so() -> None:
    model = Scripted([say("one")])
    await play(model)
    with pytest.raises(ModelRefused, match="asked 2 times, but it has only 1 replies"):
        await play(model)


async def test_a_cancel_acts_between_two_words() -> None:
    seen: list[Delta] = []
    with anyio.CancelScope() as scope:

        def emit(delta: Delta) -> None:
            seen.append(delta)
            scope.cancel()

        await Scripted([say("one two three")])(REQUEST, emit)
    assert [delta.text for delta in seen] == ["one "]
