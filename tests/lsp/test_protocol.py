"""Our messages as a client finds them: all are answered, wrong ones are named, nulls are absent."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from turnbuckle.lsp import names
from turnbuckle.lsp.capabilities import initialize_result
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.clientfacts import ClientFacts
from turnbuckle.lsp.invocations import COMMANDS
from turnbuckle.lsp.protocol import ASKED, REQUESTS
from turnbuckle.lsp.rpc import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import served

# Any: values on the wire are JSON.
Json = dict[str, Any]

MODELS = [model for pair in (*REQUESTS.values(), *COMMANDS.values()) for model in pair]


def test_the_tables_name_everything_that_has_a_name() -> None:
    methods = {
        value
        for name, value in vars(names).items()
        if isinstance(value, str) and value.startswith("turnbuckle/")
    }
    assert methods == {*REQUESTS, *ASKED}
    assert set(names.COMMAND_NAMES) == set(COMMANDS)


def test_every_command_is_announced() -> None:
    capabilities = initialize_result(ClientFacts())["capabilities"]
    assert set(capabilities["executeCommandProvider"]["commands"]) == set(COMMANDS)
    assert capabilities["experimental"]["turnbuckle"]["protocolVersion"] == names.VERSION


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_message_is_an_object_that_cannot_be_changed(model: type[BaseModel]) -> None:
    assert model.__doc__
    assert model.model_config.get("frozen")
    for name, field in model.model_fields.items():
        assert "_" not in (field.alias or name).strip("_"), f"{model.__name__}.{name}"


async def test_every_request_of_ours_is_answered_by_a_handler(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        await server.open()
        handled = server.connection.incoming.requests
        assert set(REQUESTS) == {name for name in handled if name.startswith("turnbuckle/")}
        for command in COMMANDS:
            with pytest.raises(ServerRefused) as caught:
                await server.editor.execute(command, "no object")
            assert caught.value.code == INVALID_PARAMS


@pytest.mark.parametrize("method", sorted(REQUESTS))
async def test_params_that_are_no_object_are_refused(tmp_path: Path, method: str) -> None:
    async with served(Scripted([]), tmp_path) as server:
        wrong: list[object] = [[], "x", 5, True]
        for params in wrong:
            with pytest.raises(ServerRefused) as caught:
                await server.client.ask(method, params).answer()
            assert caught.value.code == INVALID_PARAMS
            assert "params" in caught.value.message


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        (names.SESSION_OPEN, {"sessionId": 1}, "sessionId"),
        (names.SESSION_OPEN, {"cwd": []}, "cwd"),
        (names.SESSION_EVENTS, {"sessionId": "s"}, "token"),
        (names.SESSION_EVENTS, {"token": "t"}, "sessionId"),
        (names.SESSION_EVENTS, {"sessionId": "s", "token": 1.5}, "token"),
        (names.SESSION_EVENTS, {"sessionId": "s", "token": "t", "turns": -1}, "turns"),
        (names.SESSION_EVENTS, {"sessionId": "s", "token": "t", "after": "x"}, "after"),
        (names.SESSION_EVENTS_STOP, {}, "token"),
        (names.SESSION_CLOSE, {}, "sessionId"),
        (names.CANCEL, {"sessionId": "s", "keepQueue": "perhaps"}, "keepQueue"),
        (names.TURN, {"sessionId": "s", "key": "k"}, "input"),
        (names.TURN, {"key": "k", "input": [{"type": "text", "text": "x"}]}, "sessionId"),
        (names.TURN, {"sessionId": "s", "key": "k", "input": [{"type": "text"}]}, "input.0.text"),
    ],
)
async def test_a_wrong_or_missing_field_is_named_as_it_is_spelt(
    tmp_path: Path, method: str, params: Json, name: str
) -> None:
    async with served(Scripted([]), tmp_path) as server:
        with pytest.raises(ServerRefused) as caught:
            await server.client.ask(method, params).answer()
        assert caught.value.code == INVALID_PARAMS
        assert caught.value.message.startswith(name) or name in caught.value.message
        assert "_" not in caught.value.message


async def test_fields_that_nobody_knows_are_skipped(tmp_path: Path) -> None:
    async with served(Scripted([say("yes")]), tmp_path) as server:
        session_id = await server.open()
        result = await server.turn(session_id, "go", mood="good")
        assert result.end["kind"] == "completed"


async def test_an_unknown_method_is_said_to_be_so(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        for method in ("turnbuckle/session/fly", "turnbuckle/", "textDocument/rename", "$/other"):
            with pytest.raises(ServerRefused) as caught:
                await server.client.ask(method, {}).answer()
            assert caught.value.code == METHOD_NOT_FOUND
            assert method in caught.value.message


def nulls(value: object) -> bool:
    """Whether there is a null anywhere in JSON."""
    if isinstance(value, dict):
        return any(map(nulls, value.values()))
    return value is None or (isinstance(value, list) and any(map(nulls, value)))


async def test_what_is_absent_is_not_there_rather_than_null(tmp_path: Path) -> None:
    async with served(
        Scripted([say("yes", ("1", "list_files", {})), say("no")]), tmp_path
    ) as server:
        session_id = await server.open()
        await server.watch(session_id)
        await server.turn(session_id, "go")
        await server.client.ask(names.MODELS, {}).answer()
        await server.client.ask(names.SESSION_CLOSE, {"sessionId": session_id}).answer()
        sent = [
            message for message in server.held.seen if "result" in message or "params" in message
        ]
        assert len(sent) > 15
        assert not any(nulls(message.get("result", message.get("params"))) for message in sent)


async def test_places_are_uris_and_names_are_camel_case(tmp_path: Path) -> None:
    async with served(
        Scripted([say("yes", ("1", "list_files", {})), say("no")]), tmp_path
    ) as server:
        session_id = await server.open(cwd=server.work)
        await server.watch(session_id)
        await server.turn(session_id, "go")
        (created,) = server.facts("session/created")
        assert created["cwd"].startswith("file:///")
        ours = [
            message["params"]["value"] for message in server.held.seen if "value" in str(message)
        ]
        keys = {key for value in ours for key in value["data"]}
        assert not [key for key in keys if "_" in key]


async def test_no_error_shows_where_it_came_from(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        await server.open()

        async def fail(_: object) -> object:
            raise RuntimeError("/home/somebody/secret")

        server.connection.on_request(names.CANCEL, fail)
        with pytest.raises(ServerRefused) as caught:
            await server.client.ask(names.CANCEL, {"sessionId": "s"}).answer()
        assert caught.value.code == INTERNAL_ERROR
        assert "secret" not in f"{caught.value.message} {caught.value.data}"
