"""What tools were called, how often and for how long is kept with each turn."""

from functools import partial
from pathlib import Path
from typing import Any

from turnbuckle.plugins import metrics
from turnbuckle.session.events import PluginFact, TurnEnd
from turnbuckle.session.parts import JsonObject
from turnbuckle.testing.agents import Driven, driven
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.tools import COMMAND, tool
from turnbuckle.tools.tool import Go, ToolError


class Clock:
    """Time that passes only where a tool says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def body(self, arguments: dict[str, Any], _: Go) -> str:
        self.now += arguments["seconds"]
        if arguments.get("fail"):
            raise ToolError("NOT_FOUND", "no")
        return "ok"


def kept(session: Driven) -> list[JsonObject]:
    return [fact.data for fact in session.facts if isinstance(fact, PluginFact)]


async def test_each_turn_keeps_what_its_tools_did(tmp_path: Path) -> None:
    clock = Clock()
    replies = [
        say("", ("1", "work", {"seconds": 1}), ("2", "work", {"seconds": 0.5, "fail": True})),
        say("", ("3", "rest", {"seconds": 2})),
        say("done"),
        say("", ("4", "act", {}), ("5", "nothing", {})),
        say("done"),
        say("nothing to do"),
    ]
    tools = [tool("work", clock.body, mode="exclusive"), tool("rest", clock.body)]
    tools.append(tool("act", clock.body, subject=COMMAND))
    plugin = ("metrics", partial(metrics.install, clock=clock))
    async with driven(Scripted(replies), tmp_path, tools=tools, plugins=[plugin]) as session:
        session.answer_approvals(allow=False)
        for prompt in ("one", "two", "three"):
            await session.say(prompt)
    first, second = kept(session)  # a turn without calls keeps nothing
    assert first == {
        "turn": 1,
        "tools": {
            "work": {"calls": 2, "failed": 1, "runs": 2, "ms": 1500},
            "rest": {"calls": 1, "failed": 0, "runs": 1, "ms": 2000},
        },
    }
    assert second == {
        "turn": 2,
        "tools": {
            "act": {"calls": 1, "failed": 1, "runs": 0, "ms": 0},
            "nothing": {"calls": 1, "failed": 1, "runs": 0, "ms": 0},
        },
    }


async def test_without_the_plugin_nothing_is_kept(tmp_path: Path) -> None:
    clock = Clock()
    replies = [say("", ("1", "work", {"seconds": 1})), say("done")]
    async with driven(
        Scripted(replies), tmp_path, tools=[tool("work", clock.body)], plugins=[metrics.install]
    ) as session:
        await session.plugins.exchange([])
        await session.say("go")
    assert kept(session) == []
    assert isinstance(session.facts[-1], TurnEnd)
