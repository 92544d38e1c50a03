"""The models of a server on the wire: found, listed, keyed, switched between two requests."""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from turnbuckle.app.server import Server
from turnbuckle.app.wiring import Outside, wire
from turnbuckle.config import Local
from turnbuckle.lsp import names
from turnbuckle.lsp.choosing import (
    CredentialsParams,
    ModelEntry,
    ModelsParams,
    ModelsResult,
    ProviderEntry,
)
from turnbuckle.lsp.client import Client, ServerRefused
from turnbuckle.lsp.lives import SessionOpenParams, SessionOpenResult
from turnbuckle.lsp.protocol import Text, TurnParams
from turnbuckle.testing.completions import answer, failure
from turnbuckle.testing.modelserver import ModelServer, Received, Response
from turnbuckle.testing.wire import in_process

SECRET = "sk-canary-0123456789"
NOBODY = Local(id="nobody", title="Nobody", base_url="http://127.0.0.1:9/v1")


def models(*ids: str) -> Response:
    body = {"object": "list", "data": [{"id": name, "object": "model"} for name in ids]}
    return Response(headers={"content-type": "application/json"}, chunks=(orjson.dumps(body),))


def by_path(*ids: str) -> list[Any]:  # Any: what a model server plays
    """Lists these models, and answers whatever else is asked with the model that was asked."""

    return by_path_as_it_is(list(ids))


def by_path_as_it_is(ids: list[str]) -> list[Any]:  # Any: what a model server plays
    """The same; the models may change meanwhile."""

    def play(request: Received) -> Response:
        if request.method == "GET":
            return models(*ids)
        return answer(f"I am {request.json['model']}.")

    return [play] * 20


def near(server: ModelServer, id_: str = "near") -> Local:
    return Local(id=id_, title=id_.title(), base_url=server.url)


@asynccontextmanager
async def serving(
    folder: Path,
    env: Mapping[str, str] | None = None,
    local: Sequence[Local] = (),
    settings: object = None,
) -> AsyncIterator[Client]:
    places = {
        "TURNBUCKLE_STATE_DIR": str(folder / "state"),
        "TURNBUCKLE_CONFIG": str(folder / "config.toml"),
    }
    wired = partial(wire, outside=Outside(local=local))
    make = partial(Server, env=places | dict(env or {}), wire=wired)
    options = {"turnbuckle": {"settings": settings}} if settings is not None else None
    async with in_process(make) as client:
        await client.initialize(options=options)
        yield client


async def listed(client: Client, provider: str | None = None) -> ModelsResult:
    result = await client.request(names.MODELS, ModelsParams(provider=provider))
    assert isinstance(result, ModelsResult)
    return result


async def current(client: Client) -> ModelEntry:
    (entry,) = [entry for entry in (await listed(client)).models if entry.current]
    return entry


async def provider(client: Client, id_: str) -> ProviderEntry:
    return next(one for one in (await listed(client)).providers if one.provider == id_)


async def opened(client: Client, session_id: str | None = None) -> SessionOpenResult:
    result = await client.request(names.SESSION_OPEN, SessionOpenParams(session_id=session_id))
    assert isinstance(result, SessionOpenResult)
    return result


async def turn(client: Client, session_id: str, key: str = "1") -> dict[str, Any]:  # Any: JSON
    """Run a turn, and give its end."""
    message = TurnParams(
        session_id=session_id, key=key, input=(Text(type="text", text="Who are you?"),)
    )
    return dict((await client.request(names.TURN, message)).end)


def stored(folder: Path) -> str:
    return "".join(path.read_text() for path in (folder / "state").rglob("*") if path.is_file())


def facts(folder: Path, type_: str) -> list[dict[str, Any]]:  # Any: JSON
    lines = [orjson.loads(line) for line in stored(folder).splitlines()]
    return [one["data"] for one in lines if one["type"] == type_]


async def test_with_nothing_configured_the_demo_answers_and_says_so(tmp_path: Path) -> None:
    async with serving(tmp_path, local=[NOBODY]) as client:
        session = await opened(client)
        assert (session.config.model, session.config.provider) == ("demo", "built-in")
        assert (await turn(client, session.session_id))["kind"] == "completed"
        entry = await current(client)
        assert (entry.name, entry.source, entry.unavailable) == ("demo", "built-in", None)
        there = await provider(client, "nobody")
        assert (there.key, "cannot be reached" in (there.unavailable or "")) == ("needless", True)
    assert "TURNBUCKLE_BASE_URL" in stored(tmp_path)


async def test_a_server_that_answers_on_this_machine_is_used(tmp_path: Path) -> None:
    async with (
        ModelServer(by_path("nomic-embed", "qwen3", "gemma3")) as server,
        serving(tmp_path, local=[NOBODY, near(server)]) as client,
    ):
        session = await opened(client)
        assert (session.config.model, session.config.provider) == ("qwen3", "near")
        assert (await turn(client, session.session_id))["kind"] == "completed"
        entries = (await listed(client)).models
        assert [(e.name, e.current) for e in entries] == [
            ("qwen3", True),
            ("gemma3", False),
            ("demo", False),
        ]
    assert "I am qwen3." in stored(tmp_path)


async def test_a_server_that_starts_later_is_found_by_the_next_session(tmp_path: Path) -> None:
    ids: list[str] = []
    async with (
        ModelServer(by_path_as_it_is(ids)) as server,
        serving(tmp_path, local=[near(server)]) as client,
    ):
        assert (await opened(client)).config.model == "demo"
        ids.append("qwen3")
        assert (await opened(client)).config.model == "qwen3"


async def test_a_server_that_never_answers_holds_up_a_session_only_for_a_moment(
    tmp_path: Path,
) -> None:
    async with (
        ModelServer([Response(end="hang")] * 3) as server,
        serving(tmp_path, local=[near(server)]) as client,
    ):
        assert (await opened(client)).config.model == "demo"
        assert "within 0.5 s" in ((await provider(client, "near")).unavailable or "")


async def test_where_a_model_is_configured_nobody_is_looked_for(tmp_path: Path) -> None:
    async with ModelServer(by_path("other")) as here, ModelServer(by_path()) as there:
        env = {"TURNBUCKLE_MODEL": "m", "TURNBUCKLE_BASE_URL": there.url}
        async with serving(tmp_path, env, [near(here)]) as client:
            session = await opened(client)
            assert (await turn(client, session.session_id))["kind"] == "completed"
        assert here.requests == []
        assert [one.method for one in there.requests] == ["POST"]


async def test_the_editor_can_set_a_model_and_its_price(tmp_path: Path) -> None:
    async with ModelServer(by_path()) as server:
        price = {"input": 1, "output": 2, "currency": "EUR"}
        model = {"name": "m", "base_url": server.url, "context_window": 5000, "price": price}
        async with serving(tmp_path, settings={"model": model}) as client:
            config = (await opened(client)).config
    assert config.price is not None
    assert (config.model, config.window) == ("m", 5000)
    assert (config.price.input, config.price.cached, config.price.currency) == (1, None, "EUR")


async def test_a_key_takes_effect_at_the_next_request(tmp_path: Path) -> None:
    async with ModelServer([failure(401, "no key"), *by_path()]) as server:
        env = {"TURNBUCKLE_MODEL": "m", "TURNBUCKLE_BASE_URL": server.url}
        async with serving(tmp_path, env) as client:
            session = await opened(client)
            end = await turn(client, session.session_id)
            assert (end["kind"], end["failure"]["kind"]) == ("error", "auth")
            params = CredentialsParams(provider=session.config.provider or "", key=SECRET)
            await client.request(names.CREDENTIALS, params)
            assert (await turn(client, session.session_id, "2"))["kind"] == "completed"
        sent = [request.headers.get("authorization") for request in server.requests]
    assert sent == [None, f"Bearer {SECRET}"]
    assert SECRET not in stored(tmp_path)


async def test_a_key_of_a_known_provider_makes_it_the_one_that_answers_next(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as client:
        assert (await current(client)).name == "demo"
        assert (await provider(client, "deepseek")).key == "absent"
        await client.request(
            names.CREDENTIALS, CredentialsParams(provider="deepseek", key=f" {SECRET}\n")
        )
        entry = await current(client)
        assert (entry.provider, entry.source) == ("deepseek", "key")
        assert (await provider(client, "deepseek")).key == "memory"
        await client.request(names.CREDENTIALS, CredentialsParams(provider="deepseek"))
        assert (await current(client)).name == "demo"


async def test_a_session_that_changes_its_model_says_so_in_its_log(tmp_path: Path) -> None:
    ids: list[str] = []
    async with (
        ModelServer(by_path_as_it_is(ids)) as server,
        serving(tmp_path, local=[near(server)]) as client,
    ):
        session = await opened(client)
        assert session.config.model == "demo"
        await turn(client, session.session_id)
        ids.append("qwen3")
        assert (await current(client)).name == "qwen3"  # this looks again
        await turn(client, session.session_id, "2")
    headers = facts(tmp_path, "request/header")
    assert [one["config"]["model"] for one in headers] == ["demo", "qwen3"]
    assert [one["why"] for one in headers] == ["initial", "change"]


async def test_a_key_is_neither_logged_nor_echoed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with serving(tmp_path) as client:
        for key in (f"{SECRET}\nx", f"{SECRET}é", SECRET * 300):
            params = {"provider": "openai", "key": key}
            with pytest.raises(ServerRefused) as caught:
                await client.request(names.CREDENTIALS, params)
            assert (caught.value.code, caught.value.message.partition(":")[0]) == (-32602, "key")
            assert SECRET not in caught.value.message
        params = {"provider": "openai", "key": SECRET}
        assert await client.ask(names.CREDENTIALS, params).answer() == {}
        assert SECRET not in orjson.dumps((await listed(client)).model_dump()).decode()
    assert SECRET not in caplog.text
    assert SECRET not in repr(CredentialsParams(provider="openai", key=SECRET))


async def test_an_unknown_provider_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    async with serving(tmp_path, local=[NOBODY]) as client:
        for method in (names.CREDENTIALS, names.MODELS):
            with pytest.raises(ServerRefused) as caught:
                await client.request(method, {"provider": "opnai", "key": SECRET})
            assert caught.value.code == -32602
            assert caught.value.message.startswith("provider: unknown; there are openai, deepseek")
            assert "nobody" in caught.value.message


async def test_a_provider_is_asked_for_all_its_models(tmp_path: Path) -> None:
    async with ModelServer([models("m", "n")]) as server:
        env = {
            "TURNBUCKLE_MODEL": "m",
            "TURNBUCKLE_BASE_URL": server.url,
            "TURNBUCKLE_API_KEY": SECRET,
        }
        async with serving(tmp_path, env) as client:
            own = (await current(client)).provider
            entries = (await listed(client, own)).models
        assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    assert [(e.name, e.source) for e in entries if e.provider == own] == [
        ("m", "configured"),
        ("n", "listed"),
    ]


async def test_a_provider_that_lists_nothing_says_why(tmp_path: Path) -> None:
    async with ModelServer([failure(401, f"bad key {SECRET}")]) as server:
        env = {
            "TURNBUCKLE_MODEL": "m",
            "TURNBUCKLE_BASE_URL": server.url,
            "TURNBUCKLE_API_KEY": SECRET,
        }
        async with serving(tmp_path, env) as client:
            with pytest.raises(ServerRefused) as caught:
                await listed(client, (await current(client)).provider)
    assert caught.value.code == -32803
    assert caught.value.data == {"kind": "auth", "retryable": False}
    assert SECRET not in caught.value.message


async def test_wrong_settings_are_said_and_stop_only_the_model(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[model]\nnmae = 'm'\n")
    async with serving(tmp_path, {"OPENAI_API_KEY": SECRET}, [NOBODY]) as client:
        session = await opened(client)
        end = await turn(client, session.session_id)
        entries = (await listed(client)).models
    assert end["failure"]["kind"] == "model"
    assert "model.nmae: there is no such setting; did you mean model.name?" in str(end)
    assert [(e.current, e.unavailable is None) for e in entries] == [(True, False), (False, True)]


async def test_a_known_endpoint_without_a_key_is_not_asked(tmp_path: Path) -> None:
    env = {"TURNBUCKLE_MODEL": "m", "TURNBUCKLE_BASE_URL": "https://api.openai.com/v1"}
    async with serving(tmp_path, env) as client:
        session = await opened(client)
        end = await turn(client, session.session_id)
        assert (await current(client)).unavailable is not None
    assert "OpenAI wants a key: set OPENAI_API_KEY" in end["failure"]["message"]


async def test_the_tokens_so_far_are_told_when_a_session_is_opened_again(tmp_path: Path) -> None:
    async with ModelServer(by_path()) as server:
        env = {"TURNBUCKLE_MODEL": "m", "TURNBUCKLE_BASE_URL": server.url}
        async with serving(tmp_path, env) as client:
            session = await opened(client)
            assert (session.usage, session.context) == (None, None)
            await turn(client, session.session_id)
            await turn(client, session.session_id, "2")
        async with serving(tmp_path, env) as client:
            again = await opened(client, session.session_id)
    assert again.usage == {"input": 20, "output": 10, "total": 30}
    assert again.context == 15
