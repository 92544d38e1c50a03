"""The plugins that ship, in a whole server, as the settings want them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from inline_snapshot import snapshot

from turnbuckle import config
from turnbuckle.app.models import Models
from turnbuckle.app.named import offer_named
from turnbuckle.app.shipped import shipped
from turnbuckle.testing.completions import answer, failure
from turnbuckle.testing.modelserver import ModelServer, Received, Response
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.testing.tools import tool
from turnbuckle.tools.tool import Go

KEY = "canary" + "-0123456789"


@asynccontextmanager
async def serving(
    folder: Path, settings: str, play: Callable[[Received], Response], **how: Any
) -> AsyncIterator[tuple[Served, ModelServer, str]]:  # Any: as in `served`
    """A server whose model is called `first`, with these settings too; gives a session."""
    async with ModelServer([play] * 20) as model:
        text = f'{settings}\n[model]\nname = "first"\nbase_url = "{model.url}"\n'
        (folder / "config.toml").write_text(text)
        env = {"TURNBUCKLE_API_KEY": KEY}
        async with served(None, folder, events=True, env=env, **how) as server:
            id_ = await server.open()
            await server.watch(id_)
            yield server, model, id_


def asked(model: ModelServer) -> list[str]:
    """Which models were asked, in order."""
    return [one.json["model"] for one in model.requests if one.method == "POST"]


def names_of(settings: config.Settings) -> list[str]:
    models = Models(settings, None, config.Keys({}), ())
    return [name for name, _ in shipped(models, settings)]


def test_without_settings_nothing_is_routed_counted_or_passed_on() -> None:
    plain = names_of(config.Settings())
    assert plain[0] == "redaction"
    assert not {"routing", "failover", "metrics"} & set(plain)
    assert {"timeouts", "budget", "step_limit", "instructions", "skills", "ask_user"} < set(plain)


def test_settings_bring_the_others_each_in_its_place() -> None:
    values = {
        "routing": {"first": "a"}, "failover": {"models": ["b"]}, "metrics": True, "redact": False,
    }  # fmt: skip
    names = names_of(config.Settings.model_validate(values))
    assert "redaction" not in names
    order = ["metrics", "timeouts", "budget", "step_limit", "routing", "model", "failover", "retry"]
    assert [name for name in names if name in order] == order


async def test_the_models_that_stand_in_are_asked_under_the_names_that_are_set(
    tmp_path: Path,
) -> None:
    def play(request: Received) -> Response:
        model = request.json["model"]
        return answer(f"I am {model}.") if model == "third" else failure(401, {"message": "no"})

    settings = '[failover]\nmodels = ["second", "third"]\n'
    async with serving(tmp_path, settings, play) as (server, model, id_):
        result = await server.turn(id_, "go")
        said = await server.fact("assistant/message")
    assert result.end["kind"] == "completed"
    assert said["content"] == "I am third."
    assert asked(model) == ["first", "second", "third"]


async def test_steps_are_routed_as_it_is_set(tmp_path: Path) -> None:
    def play(request: Received) -> Response:
        if request.json["model"] == "cheap":
            return answer("", ("1", "todo_write", {"items": []}))
        return answer("done")

    settings = '[routing]\nfirst = "cheap"\n'
    async with serving(tmp_path, settings, play) as (server, model, id_):
        await server.turn(id_, "go")
    assert asked(model) == ["cheap", "first"]


async def test_the_key_that_is_held_reaches_no_model_and_no_message(tmp_path: Path) -> None:
    async with serving(tmp_path, "", lambda _: answer("ok")) as (server, model, id_):
        await server.turn(id_, f"my key is {KEY}")
    (request,) = (one for one in model.requests if one.method == "POST")
    assert request.json["messages"][-1]["content"] == "my key is [redacted: key]"


async def test_redaction_can_be_switched_off(tmp_path: Path) -> None:
    async with serving(tmp_path, "redact = false", lambda _: answer("ok")) as (server, model, id_):
        await server.turn(id_, f"my key is {KEY}")
    (request,) = (one for one in model.requests if one.method == "POST")
    assert request.json["messages"][-1]["content"] == f"my key is {KEY}"


async def test_a_budget_stops_a_turn_by_the_name_of_its_setting(tmp_path: Path) -> None:
    def play(_: Received) -> Response:
        return answer("", ("1", "todo_write", {"items": []}), usage=(400, 100))

    settings = "[budget.turn]\ntokens = 900\n"
    async with serving(tmp_path, settings, play) as (server, _, id_):
        result = await server.turn(id_, "go")
    assert result.end == snapshot(
        {
            "kind": "stopped",
            "reason": "the budget is used up: 1,000 of 900 tokens of this turn (budget.turn.tokens)",
        }
    )


async def test_a_limit_by_a_tools_name_holds(tmp_path: Path) -> None:
    async def forever(_arguments: dict[str, Any], _: Go) -> str:
        await anyio.sleep_forever()
        return "never"

    (tmp_path / "config.toml").write_text("[timeouts.tools]\nslow = 0.01\n")
    model = Scripted([say("", ("1", "slow", {})), say("done")])
    async with served(model, tmp_path, tools=[tool("slow", forever)], events=True) as server:
        id_ = await server.open()
        await server.watch(id_)
        await server.turn(id_, "go")
        result = await server.fact("tool/result")
    assert result["code"] == "TIMEOUT"


async def test_metrics_are_facts_of_the_session(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("metrics = true\n")
    model = Scripted([say("", ("1", "todo_write", {"items": []})), say("done")])
    async with served(model, tmp_path, events=True) as server:
        id_ = await server.open()
        await server.watch(id_)
        await server.turn(id_, "go")
        kept = await server.fact("plugin/metrics")
    assert kept["tools"]["todo_write"]["calls"] == 1


async def test_the_persons_own_instructions_and_skills_stand_beside_the_configuration(
    tmp_path: Path,
) -> None:
    (tmp_path / "AGENTS.md").write_text("Answer in French.")
    (tmp_path / "skills" / "fmt").mkdir(parents=True)
    head = "---\nname: fmt\ndescription: Format it.\n---\n"
    (tmp_path / "skills" / "fmt" / "SKILL.md").write_text(head)
    model = Scripted([say("", ("1", "list_skills", {})), say("done")])
    async with served(model, tmp_path, events=True) as server:
        id_ = await server.open()
        await server.watch(id_)
        await server.turn(id_, "go")
        result = await server.fact("tool/result")
    assert result["content"] == "- fmt (yours): Format it."
    assert "Answer in French." in repr(model.requests[0].messages)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("[budget.turn]\ntokens = 0", "budget.turn.tokens: must be a whole number greater than 0"),
        ("[budget]\ntokens = 5", "budget.tokens: there is no such setting"),
        ('[failover]\nmodels = "a"', "failover.models: must be a list of names, each in quotes"),
        ("[failover]\nmodels = [3]", "must be a list of names, each in quotes"),
        ("[timeouts.tools]\nslow = -1", "must be a table of names of tools and seconds"),
        ('[routing]\nfirst = ""', "routing.first: must be text that is not empty"),
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, settings: str, said: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(settings)
    with pytest.raises(config.ConfigError, match=said.replace("[", r"\[")):
        config.read({"TURNBUCKLE_CONFIG": str(path)})


def test_a_name_is_that_of_an_offer_or_of_a_provider_or_at_the_same_endpoint() -> None:
    values = {"model": {"name": "first", "base_url": "http://127.0.0.1:9/v1"}}
    settings = config.Settings.model_validate(values)
    models = Models(settings, None, config.Keys({"DEEPSEEK_API_KEY": KEY}), ())
    known = {one.id: one.base_url for one in config.KNOWN}
    found = {name: offer_named(models, name) for name in ("first", "demo", "deepseek/x", "a/b")}
    assert {name: (one.model, one.base_url) for name, one in found.items()} == {
        "first": ("first", "http://127.0.0.1:9/v1"),
        "demo": ("demo", None),
        "deepseek/x": ("x", known["deepseek"]),
        "a/b": ("a/b", "http://127.0.0.1:9/v1"),
    }


def test_a_name_without_an_endpoint_says_what_to_do() -> None:
    models = Models(config.Settings(), None, config.Keys({}), ())
    assert "set base_url in [model]" in (offer_named(models, "big").problem or "")
