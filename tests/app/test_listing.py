"""The models that an endpoint says it has."""

import asyncio

import orjson
import pytest

from turnbuckle.model.endpoint import new_client
from turnbuckle.model.listing import list_models
from turnbuckle.model.port import ModelFailed
from turnbuckle.session.parts import Failure
from turnbuckle.testing.modelserver import ModelServer, Response

JSON = {"content-type": "application/json"}
SECRET = "sk-canary-0123456789"


def answer(body: object, status: int = 200) -> Response:
    return Response(status=status, headers=JSON, chunks=(orjson.dumps(body),))


async def listed(server: ModelServer, *, limit: float = 5.0) -> tuple[str, ...]:
    client = new_client(server.url)
    try:
        return await list_models(client, server.url, key=SECRET, limit=limit)
    finally:
        await client.aclose()


async def refused(response: Response, *, limit: float = 5.0) -> Failure:
    async with ModelServer([response]) as server:
        with pytest.raises(ModelFailed) as caught:
            await listed(server, limit=limit)
    assert SECRET not in str(caught.value)
    return caught.value.failure


async def test_the_names_come_in_the_order_of_the_list() -> None:
    body = {"object": "list", "data": [{"id": "b", "object": "model"}, {"id": "a"}]}
    async with ModelServer([answer(body)]) as server:
        assert await listed(server) == ("b", "a")
    (request,) = server.requests
    assert (request.method, request.path) == ("GET", "/v1/models")
    assert request.headers["authorization"] == f"Bearer {SECRET}"


async def test_an_empty_list_is_a_list() -> None:
    async with ModelServer([answer({"data": []})]) as server:
        assert await listed(server) == ()


async def test_what_is_no_name_is_passed_over() -> None:
    data = [{"id": None}, {"id": ""}, {"id": "a\x1b[2J"}, {"id": "x" * 300}, 3, {}, {"id": "good"}]
    async with ModelServer([answer({"data": data})]) as server:
        assert await listed(server) == ("good",)


async def test_a_very_long_list_is_cut() -> None:
    data = [{"id": f"m{number}"} for number in range(5000)]
    async with ModelServer([answer({"data": data})]) as server:
        assert len(await listed(server)) == 1000


@pytest.mark.parametrize(
    "body", [b"<html>hello</html>", b"", b"[]", b'{"data": {}}', b'{"models": []}', b"\xff\xfe{"]
)
async def test_what_is_no_list_says_so(body: bytes) -> None:
    failure = await refused(Response(headers={"content-type": "text/html"}, chunks=(body,)))
    assert failure.kind == "protocol"
    assert "answered with no list of models (it sent text/html)" in failure.message


async def test_a_refused_key_says_so_without_the_key() -> None:
    body = {"error": {"message": f"Incorrect API key provided: {SECRET}"}}
    failure = await refused(answer(body, 401))
    assert (failure.kind, failure.status) == ("auth", 401)
    assert "[key]" in failure.message


async def test_a_server_that_does_not_answer_is_given_up() -> None:
    failure = await refused(Response(end="hang"), limit=0.05)
    assert failure.kind == "timeout"
    assert "did not list its models within 0.05 s" in failure.message


async def test_a_list_that_breaks_off_is_none() -> None:
    failure = await refused(Response(headers=JSON, chunks=(b'{"data": [',), end="reset"))
    assert failure.kind == "transport"


async def test_nobody_there_says_so() -> None:
    async with ModelServer() as server:
        url = server.url
    client = new_client(url)
    with pytest.raises(ModelFailed, match="cannot be reached"):
        await list_models(client, url, limit=5.0)
    await client.aclose()


async def test_a_redirect_is_not_followed() -> None:
    elsewhere = Response(status=302, headers={"location": "http://192.0.2.1/v1/models"})
    failure = await refused(elsewhere)
    assert failure.status == 302


@pytest.mark.parametrize(
    "said",
    [
        b"\x15\x03\x01\x00\x02\x02\x16",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 302 Found\r\nlocation: http://[::1\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-type: \xff\xfe\r\nset-cookie: a=\xff; expires=x\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\nno gzip",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"",
    ],
)
async def test_whatever_else_listens_at_the_port_is_no_list_and_no_fault(said: bytes) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    client = new_client(url)
    async with server:
        with pytest.raises(ModelFailed):
            await list_models(client, url, limit=5.0)
    await client.aclose()
