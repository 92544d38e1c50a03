"""The model behind an HTTP endpoint, against a server that plays what real ones were seen to do."""

import asyncio
import gzip
import itertools
import json
import logging
import re
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import httpx
import pytest

from turnbuckle.model.endpoint import endpoint_of, new_client
from turnbuckle.model.openai_chat import OpenAIChat
from turnbuckle.model.port import (
    CallConfig,
    Delta,
    Model,
    ModelFailed,
    ModelRefused,
    ModelUnavailable,
    Reply,
    Request,
)
from turnbuckle.model.providers import COMPATIBLE, MISTRAL, OLLAMA, PROVIDERS
from turnbuckle.model.reading import Timeouts
from turnbuckle.session.events import AssistantMessage, ToolResult, UserMessage
from turnbuckle.session.parts import Call, Failure, Usage
from turnbuckle.testing.completions import DONE, answer, chunk, failure
from turnbuckle.testing.modelserver import ModelServer, Response

KEY = "sk-this-is-a-secret-0123456789"
ASKED = UserMessage(turn=1, step=1, content="hello")
REQUEST = Request(config=CallConfig(model="m-1"), system="", tools=(), messages=(ASKED,))
HELLO = chunk({"content": "Hello"})
STOP = chunk(finish="stop")


async def ask(model: Model, request: Request = REQUEST) -> tuple[Reply, list[Delta]]:
    deltas: list[Delta] = []
    return await model(request, deltas.append), deltas


async def failed(model: Model) -> Failure:
    with pytest.raises(ModelFailed) as caught:
        await ask(model)
    assert KEY not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value.failure}"
    return caught.value.failure


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with new_client() as client:
        yield client


def served(
    server: ModelServer, client: httpx.AsyncClient, *, idle: float = 30.0, grace: float = 30.0
) -> OpenAIChat:
    return OpenAIChat(server.url, key=KEY, client=client, timeouts=Timeouts(idle=idle, grace=grace))


# -- answers -------------------------------------------------------------------------------------


async def test_an_answer_streams_in_and_comes_back_whole(client: httpx.AsyncClient) -> None:
    async with ModelServer([answer("Hello there, you.", usage=(12, 5))]) as server:
        reply, deltas = await ask(served(server, client))
    assert reply == Reply(
        content="Hello there, you.", finish="stop", usage=Usage(input=12, output=5, total=17)
    )
    assert [delta.text for delta in deltas] == ["Hello ", "there, ", "you."]


async def test_the_request_is_a_streaming_post_with_the_key(client: httpx.AsyncClient) -> None:
    async with ModelServer([answer("ok")]) as server:
        await ask(served(server, client))
    received = server.requests[0]
    assert (received.method, received.path) == ("POST", "/v1/chat/completions")
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.headers["content-type"] == "application/json"
    assert received.headers["accept-encoding"] == "identity"
    assert received.json == {
        "model": "m-1",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": "hello"}],
    }


async def test_without_a_key_none_is_sent(client: httpx.AsyncClient) -> None:
    async with ModelServer([answer("ok")]) as server:
        await ask(OpenAIChat(server.url, client=client))
    assert "authorization" not in server.requests[0].headers


async def test_text_is_told_before_the_answer_is_complete(client: httpx.AsyncClient) -> None:
    go_on = asyncio.Event()
    seen: list[str | None] = []

    def emit(delta: Delta) -> None:
        seen.append(delta.text)
        go_on.set()  # the server waits for this before it says more

    stream = Response(chunks=(HELLO, go_on, chunk({"content": " you"}), STOP, DONE))
    async with ModelServer([stream]) as server:
        await served(server, client)(REQUEST, emit)
    assert seen == ["Hello", " you"]


async def test_steps_share_one_connection(client: httpx.AsyncClient) -> None:
    async with ModelServer([answer("one"), answer("two"), answer("three")]) as server:
        model = served(server, client)
        for _ in range(3):
            await ask(model)
        assert {received.connection for received in server.requests} == {1}


async def test_calls_and_their_results_go_out_again(client: httpx.AsyncClient) -> None:
    async with ModelServer([answer("", ("a", "run", {"cmd": "ls"})), answer("done")]) as server:
        model = served(server, client)
        reply, _ = await ask(model)
        said = AssistantMessage(
            turn=1, step=1, content="", tool_calls=reply.tool_calls, finish=reply.finish
        )
        result = ToolResult(turn=1, step=1, call_id="a", content="x", is_error=False)
        config = CallConfig(model="m-1")
        await ask(
            model, Request(config=config, system="", tools=(), messages=(ASKED, said, result))
        )
    function = {"name": "run", "arguments": '{"cmd": "ls"}'}
    assert server.requests[1].json["messages"][1:] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "a", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "x"},
    ]


async def test_thoughts_go_back_under_the_name_that_they_came_by(client: httpx.AsyncClient) -> None:
    thinking = Response(chunks=(chunk({"reasoning": "Hm."}), chunk({"content": "x"}), STOP, DONE))
    async with ModelServer([thinking, answer("ok")]) as server:
        model = served(server, client)
        reply, _ = await ask(model)
        called = answer("", ("a", "run", {}))
        assert reply.reasoning == "Hm."
        said = AssistantMessage(
            turn=1,
            step=1,
            content="x",
            reasoning=reply.reasoning,
            tool_calls=(await ask_once(called)).tool_calls,
            finish="tool_calls",
        )
        await ask(
            model, Request(config=CallConfig(model="m"), system="", tools=(), messages=(said,))
        )
    assert server.requests[1].json["messages"][0]["reasoning"] == "Hm."


async def ask_once(response: Response) -> Reply:
    async with ModelServer([response]) as server:
        model = OpenAIChat(server.url)
        try:
            return (await ask(model))[0]
        finally:
            await model.aclose()


async def test_a_client_of_its_own_is_made_and_closed() -> None:
    async with ModelServer([answer("one"), answer("two")]) as server:
        model = OpenAIChat(server.url)
        await ask(model)
        await model.aclose()
        await server.requests[0].closed.wait()
        await ask(model)  # a new one is made where it is asked again
        await model.aclose()
        await model.aclose()


ROWS = {row.name: row for row in PROVIDERS} | {None: COMPATIBLE}


async def test_every_recorded_stream_is_the_same_over_a_socket(client: httpx.AsyncClient) -> None:
    for path in sorted((Path(__file__).parents[1] / "data" / "model").glob("*.json")):
        case = json.loads(path.read_bytes())
        body = case["body"].encode()
        third = len(body) // 3
        pieces = (body[:third], body[third : 2 * third + 1], body[2 * third + 1 :])
        request = Request(
            config=CallConfig(model="m", max_tokens=case.get("allowed")),
            system="x" * 4 * case.get("asked", 0),
            tools=(),
            messages=(ASKED,),
        )
        async with ModelServer([Response(chunks=pieces)]) as server:
            model = OpenAIChat(server.url, client=client, provider=ROWS[case.get("provider")])
            if "reply" in case:
                reply, _ = await ask(model, request)
                assert (reply.content, reply.finish) == (
                    case["reply"]["content"],
                    case["reply"]["finish"],
                )
            else:
                with pytest.raises(ModelFailed) as caught:
                    await ask(model, request)
                assert caught.value.failure.kind == case["failure"]["kind"]


async def test_a_compressed_stream_is_understood(client: httpx.AsyncClient) -> None:
    packed = gzip.compress(HELLO + STOP + DONE)
    headers = {"content-type": "text/event-stream", "content-encoding": "gzip"}
    async with ModelServer([Response(headers=headers, chunks=(packed,))]) as server:
        reply, _ = await ask(served(server, client))
    assert reply.content == "Hello"


@pytest.mark.parametrize("content_type", ["TEXT/EVENT-STREAM; charset=utf-8", "text/plain", ""])
async def test_a_stream_is_known_under_other_names(
    client: httpx.AsyncClient, content_type: str
) -> None:
    stream = Response(headers={"content-type": content_type}, chunks=(HELLO, STOP, DONE))
    async with ModelServer([stream]) as server:
        reply, _ = await ask(served(server, client))
    assert reply.content == "Hello"


async def test_a_json_body_is_an_answer_too(client: httpx.AsyncClient) -> None:
    body = {"choices": [{"message": {"content": "Whole"}, "finish_reason": "stop"}]}
    whole = Response(
        headers={"content-type": "application/json"}, chunks=(json.dumps(body).encode(),)
    )
    async with ModelServer([whole]) as server:
        reply, deltas = await ask(served(server, client))
    assert (reply.content, [delta.text for delta in deltas]) == ("Whole", ["Whole"])


# -- ends ----------------------------------------------------------------------------------------


async def test_a_finished_answer_does_not_wait_for_the_connection_to_close(
    client: httpx.AsyncClient,
) -> None:
    async with ModelServer([Response(chunks=(HELLO, STOP, DONE), end="hang")]) as server:
        reply, _ = await ask(served(server, client))
        await server.requests[0].closed.wait()
    assert reply.finish == "stop"


async def test_after_the_finish_usage_may_come_within_the_grace(client: httpx.AsyncClient) -> None:
    told = asyncio.Event()

    def emit(_: Delta) -> None:
        told.set()

    usage = b'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n'
    stream = Response(chunks=(HELLO, STOP, told, usage), end="hang")
    async with ModelServer([stream]) as server:
        reply = await served(server, client)(REQUEST, emit)
    assert reply.usage == Usage(input=1, output=2, total=3)


async def test_after_the_grace_the_answer_stands_without_usage(client: httpx.AsyncClient) -> None:
    async with ModelServer([Response(chunks=(HELLO, STOP), end="hang")]) as server:
        reply, _ = await ask(served(server, client, grace=0.01))
    assert (reply.content, reply.finish, reply.usage) == ("Hello", "stop", None)


async def test_a_connection_that_is_cut_after_the_finish_breaks_nothing(
    client: httpx.AsyncClient,
) -> None:
    # Not even the line end after the last event came.
    async with ModelServer([Response(chunks=(HELLO, STOP[:-2]), end="cut")]) as server:
        reply, _ = await ask(served(server, client))
    assert (reply.content, reply.finish) == ("Hello", "stop")


async def test_a_connection_that_is_reset_after_the_finish_breaks_nothing(
    client: httpx.AsyncClient,
) -> None:
    told = asyncio.Event()
    last = chunk({"content": "Hello"}, finish="stop")
    async with ModelServer([Response(chunks=(last, told), end="reset")]) as server:
        reply = await served(server, client)(REQUEST, lambda _: told.set())
    assert (reply.content, reply.finish) == ("Hello", "stop")


async def test_a_body_that_ends_without_a_finish_is_truncated(client: httpx.AsyncClient) -> None:
    async with ModelServer([Response(chunks=(HELLO,), keep_alive=False)]) as server:
        reply, _ = await ask(served(server, client))
    assert (reply.content, reply.finish) == ("Hello", "truncated")


async def test_a_body_in_which_nothing_came_is_empty(client: httpx.AsyncClient) -> None:
    async with ModelServer([Response()]) as server:
        assert (await failed(served(server, client))).kind == "empty"


@pytest.mark.parametrize("end", ["cut", "reset"])
async def test_a_connection_that_breaks_in_the_middle_is_a_transport_failure(
    client: httpx.AsyncClient, end: str
) -> None:
    told = asyncio.Event()
    stream = Response(chunks=(HELLO, told), end="cut" if end == "cut" else "reset")
    async with ModelServer([stream]) as server:
        with pytest.raises(ModelUnavailable) as caught:
            await served(server, client)(REQUEST, lambda _: told.set())
        port = server.url.split(":")[2].split("/")[0]
    assert caught.value.failure.kind == "transport"
    assert f"The connection to 127.0.0.1:{port} broke" in str(caught.value)


async def test_a_server_that_hangs_up_without_a_word_is_a_transport_failure(
    client: httpx.AsyncClient,
) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        said = await failed(OpenAIChat(f"http://127.0.0.1:{port}/v1", client=client))
    assert said.kind == "transport"


# -- time ----------------------------------------------------------------------------------------


async def test_a_silent_server_is_given_up_after_the_idle_time(client: httpx.AsyncClient) -> None:
    async with ModelServer([Response(chunks=(HELLO,), end="hang")]) as server:
        said = await failed(served(server, client, idle=0.2))
        await server.requests[0].closed.wait()
    assert said.kind == "timeout"
    assert "sent no data for 0.2 s" in said.message


async def test_a_server_that_does_not_even_send_headers_is_given_up(
    client: httpx.AsyncClient,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        model = OpenAIChat(url, client=client, timeouts=Timeouts(idle=0.2))
        assert (await failed(model)).kind == "timeout"


async def test_comments_keep_no_stalled_answer_alive(client: httpx.AsyncClient) -> None:
    comments = itertools.chain([HELLO], itertools.repeat(b": keep-alive\n\n"))
    async with ModelServer([Response(chunks=comments)]) as server:
        said = await failed(served(server, client, idle=0.2))
        await server.requests[0].closed.wait()
    assert said.kind == "timeout"
    assert "sent no data for 0.2 s" in said.message


async def test_an_answer_that_takes_too_long_in_all_is_given_up(client: httpx.AsyncClient) -> None:
    async with ModelServer([Response(chunks=itertools.repeat(HELLO))]) as server:
        model = OpenAIChat(server.url, client=client, timeouts=Timeouts(idle=30.0, total=0.2))
        said = await failed(model)
    assert said.kind == "timeout"
    assert "did not finish its answer within 0.2 s" in said.message


@pytest.mark.parametrize("size", [10, 1_000_000])
async def test_an_error_whose_body_never_ends_is_still_told(
    client: httpx.AsyncClient, size: int
) -> None:
    endless = Response(status=500, chunks=(b"x" * size,), end="hang")
    async with ModelServer([endless]) as server:
        said = await failed(served(server, client, grace=0.2))
    assert (said.kind, said.status) == ("server", 500)


async def test_cancelling_closes_the_connection(client: httpx.AsyncClient) -> None:
    async with ModelServer([Response(chunks=(HELLO,), end="hang")]) as server:
        model = served(server, client)
        with anyio.CancelScope() as scope:
            await model(REQUEST, lambda _: scope.cancel())
        assert scope.cancelled_caught
        await server.requests[0].closed.wait()


async def test_cancelling_before_the_answer_begins_closes_the_connection(
    client: httpx.AsyncClient,
) -> None:
    waits = asyncio.Event()
    async with ModelServer([Response(chunks=(waits,))]) as server:
        model = served(server, client)
        async with anyio.create_task_group() as group:
            group.start_soon(ask, model)
            received = await server.received(1)
            group.cancel_scope.cancel()
        await received.closed.wait()


# -- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "error", "kind", "raised"),
    [
        (401, {"message": f"Incorrect API key provided: {KEY}"}, "auth", ModelRefused),
        (402, {"message": "Insufficient Balance"}, "quota", ModelRefused),
        (400, {"message": "too long", "code": "context_length_exceeded"}, "overflow", ModelRefused),
        (400, {"message": "bad tool schema"}, "protocol", ModelRefused),
        (429, {"message": "slow down"}, "rate-limit", ModelUnavailable),
        (429, {"message": "pay", "code": "insufficient_quota"}, "quota", ModelRefused),
        (500, {"message": "oops"}, "server", ModelUnavailable),
        (503, {"message": "oops"}, "server", ModelUnavailable),
        (504, {"message": "oops"}, "timeout", ModelUnavailable),
    ],
)
async def test_a_status_is_a_failure_of_its_kind(
    client: httpx.AsyncClient,
    status: int,
    error: dict[str, str],
    kind: str,
    raised: type[ModelFailed],
) -> None:
    async with ModelServer([failure(status, error), failure(status, error)]) as server:
        model = served(server, client)
        said = await failed(model)
        with pytest.raises(raised):
            await ask(model)
    assert (said.kind, said.status) == (kind, status)
    assert said.provider == server.url.split("/")[2]
    assert said.message.startswith(f"{said.provider} answered {status}: {error['message'][:3]}")


async def test_the_wait_that_a_server_asks_for_is_told(client: httpx.AsyncClient) -> None:
    slow = failure(429, {"message": "slow down"}, {"retry-after": "17"})
    junk = failure(429, {"message": "slow down"}, {"retry-after": "soon"})
    async with ModelServer([slow, junk]) as server:
        model = served(server, client)
        assert (await failed(model)).retry_after == 17.0
        assert (await failed(model)).retry_after is None


async def test_a_wait_is_in_the_message_and_may_be_told_to_the_millisecond(
    client: httpx.AsyncClient,
) -> None:
    long = failure(429, {"message": "slow down"}, {"retry-after": "10800"})
    exact = failure(429, {"message": "slow"}, {"retry-after": "1", "retry-after-ms": "250"})
    async with ModelServer([long, exact]) as server:
        model = served(server, client)
        assert (await failed(model)).message.endswith(
            "answered 429: slow down. It asks to wait 10800 s (about 3 h)."
        )
        said = await failed(model)
    assert said.retry_after == 0.25
    assert said.message.endswith("It asks to wait 0.25 s.")


async def test_a_wrong_place_says_what_to_check(client: httpx.AsyncClient) -> None:
    async with ModelServer([failure(404, "no such page")]) as server:
        said = await failed(served(server, client))
    place = server.url.removeprefix("http://") + "/chat/completions"
    assert said.kind == "protocol"
    assert said.message.endswith(f"Check the name of the model and the base URL ({place}).")


async def test_a_redirect_is_not_followed(client: httpx.AsyncClient) -> None:
    moved = Response(status=302, headers={"location": "https://elsewhere.example.org/"})
    async with ModelServer([moved]) as server:
        said = await failed(served(server, client))
    assert (said.kind, said.status) == ("protocol", 302)
    assert "Check the name of the model and the base URL" in said.message


async def test_a_web_page_is_named_for_what_it_is(client: httpx.AsyncClient) -> None:
    page = Response(
        headers={"content-type": "text/html; charset=utf-8"},
        chunks=(b"<html>\n<title>Sign in</title>" + b"x" * 100_000,),
    )
    async with ModelServer([page]) as server:
        said = await failed(served(server, client))
    assert said.kind == "protocol"
    assert "sent text/html; charset=utf-8 instead of an answer" in said.message
    assert "<html> <title>Sign in</title>" in said.message
    assert len(said.message) <= 1000


async def test_the_body_of_an_error_may_break_off(client: httpx.AsyncClient) -> None:
    broken = Response(status=503, chunks=(b"<h1>Bad ga",), end="cut")
    async with ModelServer([broken]) as server:
        said = await failed(served(server, client))
    assert (said.kind, said.status) == ("server", 503)


async def test_a_refused_connection_names_the_place_and_what_to_check(
    client: httpx.AsyncClient,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    said = await failed(OpenAIChat(f"http://127.0.0.1:{port}/v1", key=KEY, client=client))
    assert said.kind == "transport"
    assert f"Could not connect to 127.0.0.1:{port}" in said.message
    assert "Check that the server is running" in said.message


async def test_a_name_that_does_not_exist_is_a_transport_failure(
    client: httpx.AsyncClient,
) -> None:
    said = await failed(OpenAIChat("http://no-such-host.invalid/v1", client=client))
    assert said.kind == "transport"
    assert "Could not connect to no-such-host.invalid:80" in said.message


@pytest.mark.parametrize("url", ["", "localhost:8080/v1", "ftp://host/v1", "http://", "http://["])
async def test_a_url_that_cannot_be_used_is_refused_when_it_is_asked(url: str) -> None:
    said = await failed(OpenAIChat(url))
    assert said.kind == "protocol"
    assert "must look like https://host/v1" in said.message


@pytest.mark.parametrize("key", ["sk-line\nend", "sk-dash–dash"])
async def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(ModelRefused) as caught:
        await ask(OpenAIChat("http://127.0.0.1:1/v1", key=key))
    assert caught.value.failure.kind == "auth"
    assert "sk-" not in str(caught.value)


async def test_the_key_is_in_no_repr_and_no_log(
    client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with ModelServer([answer("ok"), failure(401, {"message": KEY})]) as server:
        model = served(server, client)
        await ask(model)
        await failed(model)
    assert KEY not in caplog.text
    assert KEY not in f"{model!r} {endpoint_of(server.url, KEY)!r}"


# -- habits that are refused ---------------------------------------------------------------------


def refusing(status: int, message: str) -> Response:
    return failure(status, {"message": message, "type": "invalid_request_error"})


def called(call_id: str, reasoning: str | None) -> AssistantMessage:
    call = Call(call_id=call_id, name="run", arguments="{}")
    return AssistantMessage(
        turn=1, step=1, content="", reasoning=reasoning, tool_calls=(call,), finish="tool_calls"
    )


HISTORY = (
    ASKED,
    called("call_1", "Hm."),
    ToolResult(turn=1, step=1, call_id="call_1", content="x", is_error=False),
    called("call_2", None),
    ToolResult(turn=1, step=2, call_id="call_2", content="y", is_error=False),
    UserMessage(turn=1, step=3, content="go on"),
)
LONG = Request(config=CallConfig(model="m", max_tokens=9), system="", tools=(), messages=HISTORY)


@pytest.mark.parametrize(
    ("status", "complaint", "changed"),
    [
        (400, "Unknown field: stream_options", "stream_options"),
        (422, '[{"type":"extra_forbidden","loc":["body","stream_options"]}]', "stream_options"),
        (400, "'max_tokens' is not supported. Use 'max_completion_tokens' instead.", "max_tokens"),
        (400, "Unexpected role 'user' after role 'tool'", "messages"),
        (500, "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.", "messages"),
        (400, "The `reasoning_content` in the thinking mode must be passed back.", "messages"),
        (422, '"loc":["messages",1,"reasoning_content"],"msg":"Extra inputs are not permitted"',
         "messages"),
    ],
)  # fmt: skip
async def test_a_habit_that_is_refused_is_changed_and_the_request_sent_again(
    client: httpx.AsyncClient, status: int, complaint: str, changed: str
) -> None:
    script = [refusing(status, complaint), answer("ok"), answer("ok")]
    async with ModelServer(script) as server:
        model = served(server, client)
        reply, deltas = await ask(model, LONG)
        await ask(model, LONG)
        first, second, third = (received.json for received in server.requests)
    assert (reply.content, [delta.text for delta in deltas]) == ("ok", ["ok"])
    assert first[changed] != second.get(changed)
    assert {**first, changed: 0} | {"max_completion_tokens": 9} == {**second, changed: 0} | {
        "max_completion_tokens": 9
    }
    assert third == second  # what was learned stays


async def test_a_strict_provider_behind_a_proxy_is_understood_step_by_step(
    client: httpx.AsyncClient,
) -> None:
    complaints = (
        "stream_options: Extra inputs are not permitted",
        "reasoning_content: Extra inputs are not permitted",
        "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
        "Unexpected role 'user' after role 'tool'",
    )
    script = [*(refusing(400, complaint) for complaint in complaints), answer("ok"), answer("ok")]
    async with ModelServer(script) as server:
        await ask(served(server, client), LONG)
        await ask(OpenAIChat(server.url, client=client, provider=MISTRAL), LONG)
        *_, learned, known = (received.json for received in server.requests)
    assert learned == known


async def test_a_refusal_that_goes_on_is_told(client: httpx.AsyncClient) -> None:
    complaint = refusing(400, "Unknown field: stream_options")
    async with ModelServer([complaint] * 3) as server:
        said = await failed(served(server, client))
        assert len(server.requests) == 2
    assert said.kind == "protocol"


async def test_complaints_that_contradict_each_other_come_to_an_end(
    client: httpx.AsyncClient,
) -> None:
    either, other = (
        refusing(400, "Unsupported: use max_completion_tokens"),
        refusing(400, "max_completion_tokens: Extra inputs are not permitted"),
    )
    async with ModelServer([either, other] * 5) as server:
        await failed(served(server, client))
        assert len(server.requests) == 2


async def test_nothing_is_sent_again_once_something_was_said(client: httpx.AsyncClient) -> None:
    error = b'data: {"error":{"message":"Unknown field: stream_options","code":400}}\n\n'
    async with ModelServer([Response(chunks=(HELLO, error))]) as server:
        said = await failed(served(server, client))
        assert len(server.requests) == 1
    assert said.kind == "protocol"


async def test_a_request_that_was_cut_to_fit_is_an_overflow_that_names_the_sizes(
    client: httpx.AsyncClient,
) -> None:
    request = Request(
        config=CallConfig(model="m"), system="word " * 8000, tools=(), messages=(ASKED,)
    )
    async with ModelServer([answer("What?", usage=(4096, 2))]) as server:
        model = OpenAIChat(server.url, client=client, provider=OLLAMA)
        with pytest.raises(ModelRefused) as caught:
            await ask(model, request)
    assert caught.value.failure.kind == "overflow"
    assert re.search("read only 4096 of about 100.. tokens", str(caught.value))
    assert "OLLAMA_CONTEXT_LENGTH" in str(caught.value)


# -- the endpoint --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://h/v1", "https://h/v1/chat/completions"),
        (" https://h/v1/ ", "https://h/v1/chat/completions"),
        ("https://h", "https://h/chat/completions"),
        ("https://h/v1/chat/completions", "https://h/v1/chat/completions"),
        ("https://h/v1?version=2", "https://h/v1/chat/completions?version=2"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1/chat/completions"),
    ],
)
def test_requests_go_to_chat_completions_under_the_base_url(base: str, url: str) -> None:
    assert str(endpoint_of(base, None).url) == url


def test_a_password_in_the_url_is_sent_but_not_shown() -> None:
    endpoint = endpoint_of("https://me:secret@h/v1", None)
    assert endpoint.headers["authorization"] == "Basic bWU6c2VjcmV0"
    assert "secret" not in f"{endpoint.url} {endpoint!r}"


async def test_a_proxy_of_the_environment_is_not_used_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    async with ModelServer([answer("direct")]) as server, ModelServer() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
        model = OpenAIChat(server.url)
        other = OpenAIChat("http://models.example.invalid/v1")
        reply, _ = await ask(model)
        assert reply.content == "direct"
        assert (await failed(other)).kind == "server"  # what the proxy answered
        assert len(proxy.requests) == 1
        await model.aclose()
        await other.aclose()


async def test_a_proxy_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "carrier-pigeon://coop:1")
    said = await failed(OpenAIChat("http://models.example.invalid/v1"))
    assert said.kind == "protocol"
    assert "HTTP_PROXY" in said.message
