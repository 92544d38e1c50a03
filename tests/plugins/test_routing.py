"""Some steps go to another model, and all others where they went before."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from turnbuckle.agent.plugin import PluginContext
from turnbuckle.plugins import routing
from turnbuckle.plugins.routing import Routes
from turnbuckle.session.events import LlmStream
from turnbuckle.testing.agents import Driven, driven
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.tools import tool
from turnbuckle.tools.tool import Go


async def work(_arguments: dict[str, Any], _: Go) -> str:
    return "ok"


def asked(session: Driven) -> list[str]:
    return [fact.model for fact in session.facts if isinstance(fact, LlmStream)]


async def run(folder: Path, routes: Routes, **more: Any) -> Driven:  # Any: as in `install`
    """Two turns: one of four steps, one of one. All models say the same."""
    steps = [say("", (f"c{number}", "work", {"n": number})) for number in range(3)]
    model = Scripted([*steps, say("done"), say("done")])

    def models(ctx: PluginContext) -> None:
        for name in ("cheap", "good"):
            ctx.models.register(name, model)

    plugin = partial(routing.install, routes=routes, **more)
    async with driven(
        model, folder, tools=[tool("work", work)], plugins=[models, plugin]
    ) as session:
        await session.say("go")
        await session.say("go on")
        await session.plugins.exchange([])
    return session


@pytest.mark.parametrize(
    ("routes", "models"),
    [
        (Routes(), ["scripted"] * 5),
        (Routes(first="good"), ["good", "scripted", "scripted", "scripted", "good"]),
        (Routes(later="cheap"), ["scripted", "cheap", "cheap", "cheap", "scripted"]),
        (
            Routes(first="cheap", later="cheap", long="good", long_after=2),
            ["cheap", "cheap", "good", "good", "cheap"],
        ),
        (Routes(beside={"compaction": "cheap"}), ["scripted"] * 5),
    ],
)
async def test_steps_go_where_the_routes_say(
    tmp_path: Path, routes: Routes, models: list[str]
) -> None:
    assert asked(await run(tmp_path, routes)) == models


async def test_a_request_that_names_another_model_is_left_alone(tmp_path: Path) -> None:
    session = await run(tmp_path, Routes(first="good"), instead_of="the default")
    assert asked(session) == ["scripted"] * 5
    session = await run(tmp_path / "again", Routes(first="good"), instead_of="scripted")
    assert asked(session)[0] == "good"


def test_a_request_beside_the_steps_goes_by_what_it_is_for() -> None:
    routes = Routes(first="good", later="good", beside={"compaction": "cheap"})
    assert [routes.of(1, why) for why in (None, "compaction", "title")] == ["good", "cheap", None]


async def test_without_the_plugin_nothing_is_routed(tmp_path: Path) -> None:
    plugin = partial(routing.install, routes=Routes(first="nowhere"))
    async with driven(Scripted([say("ok")]), tmp_path, plugins=[plugin]) as session:
        await session.plugins.exchange([])
        await session.say("go")
    assert asked(session) == ["scripted"]
