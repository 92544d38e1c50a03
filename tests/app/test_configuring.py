"""A model for one session: chosen among those that there are, and found again."""

from pathlib import Path
from typing import Any

import pytest

from app.test_models import SECRET, by_path, facts, listed, models, near, opened, serving, turn
from turnbuckle.lsp import names
from turnbuckle.lsp.choosing import CredentialsParams, EffectiveConfig
from turnbuckle.lsp.client import Client, ServerRefused
from turnbuckle.testing.completions import answer
from turnbuckle.testing.modelserver import ModelServer, Received, Response


def kind_of(error: ServerRefused) -> object:
    return error.data["kind"] if isinstance(error.data, dict) else None


async def configure(client: Client, session_id: str, **params: Any) -> EffectiveConfig:
    # Any: as on the wire.
    whole = {"sessionId": session_id, **params}
    result = await client.request(names.SESSION_CONFIGURE, whole)
    assert isinstance(result, EffectiveConfig)
    return result


async def refused(client: Client, session_id: str, **params: Any) -> ServerRefused:
    with pytest.raises(ServerRefused) as caught:
        await configure(client, session_id, **params)
    return caught.value


def asked(server: ModelServer) -> list[str]:
    """The models that were asked, in order."""
    return [one.json["model"] for one in server.requests if one.method == "POST"]


async def test_a_model_is_chosen_for_the_next_requests_of_one_session(tmp_path: Path) -> None:
    async with (
        ModelServer(by_path("qwen3", "gemma3")) as server,
        serving(tmp_path, local=[near(server)]) as client,
    ):
        one, other = await opened(client), await opened(client)
        await turn(client, one.session_id)
        config = await configure(client, one.session_id, model="gemma3")
        assert (config.model, config.provider) == ("gemma3", "near")
        await turn(client, one.session_id, "2")
        await turn(client, other.session_id)
        assert asked(server) == ["qwen3", "gemma3", "qwen3"]
        # What answers where nothing was chosen is still what it was.
        assert [e.name for e in (await listed(client)).models if e.current] == ["qwen3"]
        assert (await opened(client)).config.model == "qwen3"
        assert (await opened(client, one.session_id)).config.model == "gemma3"


async def test_a_choice_is_found_again_when_the_session_is_opened_again(tmp_path: Path) -> None:
    async with ModelServer(by_path("qwen3", "gemma3")) as server:
        async with serving(tmp_path, local=[near(server)]) as client:
            session = await opened(client)
            await configure(client, session.session_id, model="gemma3")
            await turn(client, session.session_id)
        headers = facts(tmp_path, "request/header")
        assert [one["config"]["model"] for one in headers] == ["gemma3"]
        async with serving(tmp_path, local=[near(server)]) as client:
            assert (await opened(client, session.session_id)).config.model == "gemma3"
            await turn(client, session.session_id, "2")
            await configure(client, session.session_id, model="qwen3")
            await turn(client, session.session_id, "3")
        async with serving(tmp_path, local=[near(server)]) as client:
            assert (await opened(client, session.session_id)).config.model == "qwen3"
        assert asked(server) == ["gemma3", "gemma3", "qwen3"]


async def test_the_demo_can_be_chosen_and_is_found_again(tmp_path: Path) -> None:
    async with ModelServer(by_path()) as server:
        env = {"TURNBUCKLE_MODEL": "m", "TURNBUCKLE_BASE_URL": server.url}
        async with serving(tmp_path, env) as client:
            session = await opened(client)
            assert session.config.model == "m"
            config = await configure(client, session.session_id, model="demo")
            assert (config.model, config.provider) == ("demo", "built-in")
            await turn(client, session.session_id)
        async with serving(tmp_path, env) as client:
            assert (await opened(client, session.session_id)).config.model == "demo"
        assert asked(server) == []


async def test_what_answered_unchosen_is_no_choice_for_tomorrow(tmp_path: Path) -> None:
    async with serving(tmp_path) as client:
        session = await opened(client)
        assert session.config.model == "demo"
        await turn(client, session.session_id)
    async with ModelServer(by_path()) as server:
        env = {"TURNBUCKLE_MODEL": "m", "TURNBUCKLE_BASE_URL": server.url}
        async with serving(tmp_path, env) as client:
            assert (await opened(client, session.session_id)).config.model == "m"


async def test_a_choice_that_cannot_be_asked_any_more_gives_way(tmp_path: Path) -> None:
    async with ModelServer(by_path()) as server:
        env = {"TURNBUCKLE_MODEL": "m", "TURNBUCKLE_BASE_URL": server.url}
        async with serving(tmp_path, env) as client:
            session = await opened(client)
            await client.request(
                names.CREDENTIALS, CredentialsParams(provider="deepseek", key=SECRET)
            )
            config = await configure(client, session.session_id, model="deepseek-flash")
            assert config.provider == "deepseek"
            # Without its key it cannot be asked.
            await client.request(names.CREDENTIALS, CredentialsParams(provider="deepseek"))
            assert (await configure(client, session.session_id)).model == "m"
            assert (await turn(client, session.session_id))["kind"] == "completed"
        assert asked(server) == ["m"]


async def test_a_model_that_only_its_provider_lists_can_be_chosen(tmp_path: Path) -> None:
    async with ModelServer(by_path("m", "n")) as server:
        env = {"TURNBUCKLE_MODEL": "m", "TURNBUCKLE_BASE_URL": server.url}
        async with serving(tmp_path, env) as client:
            session = await opened(client)
            assert (await configure(client, session.session_id, model="n")).model == "n"
            await turn(client, session.session_id)
        async with serving(tmp_path, env) as client:
            assert (await opened(client, session.session_id)).config.model == "n"
            await turn(client, session.session_id, "2")
        assert asked(server) == ["n", "n"]


async def test_an_unknown_model_is_refused_with_those_that_are_close(tmp_path: Path) -> None:
    async with (
        ModelServer(by_path("qwen3", "gemma3")) as server,
        serving(tmp_path, local=[near(server)]) as client,
    ):
        session = await opened(client)
        error = await refused(client, session.session_id, model="gema3")
        assert (error.code, error.message) == (
            -32602,
            "model: there is no 'gema3'; there are gemma3",
        )
        error = await refused(client, session.session_id, model="zzz")
        assert error.message == "model: there is no 'zzz'; there are qwen3, gemma3, demo"
        assert (await opened(client, session.session_id)).config.model == "qwen3"


async def test_a_provider_that_does_not_list_its_models_stops_nothing(tmp_path: Path) -> None:
    def play(request: Received) -> Response:
        return Response(status=500) if request.method == "GET" else answer("yes")

    async with ModelServer([play] * 5) as server:
        env = {"TURNBUCKLE_MODEL": "m", "TURNBUCKLE_BASE_URL": server.url}
        async with serving(tmp_path, env) as client:
            session = await opened(client)
            error = await refused(client, session.session_id, model="n")
            assert error.message == "model: there is no 'n'; there are m, demo"


async def test_a_model_that_cannot_be_used_is_refused_with_the_reason(tmp_path: Path) -> None:
    env = {"TURNBUCKLE_MODEL": "m", "TURNBUCKLE_BASE_URL": "https://api.openai.com/v1"}
    async with serving(tmp_path, env) as client:
        session = await opened(client)
        error = await refused(client, session.session_id, model="m")
    assert (error.code, kind_of(error)) == (-32803, "modelUnavailable")
    assert "OPENAI_API_KEY" in error.message


async def test_without_a_choice_the_effective_configuration_is_told(tmp_path: Path) -> None:
    async with ModelServer([models("m")]) as server:
        env = {"TURNBUCKLE_MODEL": "m", "TURNBUCKLE_BASE_URL": server.url}
        async with serving(tmp_path, env) as client:
            session = await opened(client)
            assert await configure(client, session.session_id) == session.config
            assert await configure(client, session.session_id, mode="ask") == session.config
            error = await refused(client, session.session_id, mode="yolo")
            assert error.code == -32602
            error = await refused(client, "s-404", model="m")
            assert kind_of(error) == "sessionNotFound"


async def test_a_choice_makes_a_new_session_no_session_yet(tmp_path: Path) -> None:
    async with serving(tmp_path) as client:
        session = await opened(client)
        await configure(client, session.session_id, model="demo")
    assert not list((tmp_path / "state").glob("**/*.jsonl"))


async def test_a_choice_holds_when_a_session_is_taken_over_from_another_window(
    tmp_path: Path,
) -> None:
    env = {"TURNBUCKLE_MODEL": "m", "TURNBUCKLE_BASE_URL": "http://127.0.0.1:9/v1"}
    async with serving(tmp_path, env) as second:
        async with serving(tmp_path, {**env, "TURNBUCKLE_MODEL": "demo"}) as first:
            session = await opened(first)
            await turn(first, session.session_id)
            assert (await opened(second, session.session_id)).read_only
            assert (await configure(second, session.session_id, model="demo")).model == "demo"
        assert (await turn(second, session.session_id, "2"))["kind"] == "completed"
        assert (await opened(second, session.session_id)).config.model == "demo"
