"""The tools that ship are offered, each once, for as long as the plugin is there."""

from collections import Counter
from pathlib import Path

import pytest

from turnbuckle.agent.plugin import Installed, PluginFailed, install
from turnbuckle.plugins import shipped_tools
from turnbuckle.session.events import ToolResult
from turnbuckle.testing.agents import Driven, driven
from turnbuckle.testing.scripted import Scripted, say

SHIPPED = [
    "read_file", "list_files", "search", "write_file", "edit_file", "delete_file", "rename_file",
    "run_command", "todo_write",
]  # fmt: skip


async def test_each_shipped_tool_is_offered_once(tmp_path: Path) -> None:
    model = Scripted([say("yes")])
    async with driven(model, tmp_path, plugins=[shipped_tools.install]) as session:
        await session.say("go")
    offered = [tool.name for tool in model.requests[0].tools]
    assert offered == SHIPPED
    assert set(Counter(offered).values()) == {1}


async def test_each_says_what_it_does_and_what_it_takes(tmp_path: Path) -> None:
    model = Scripted([say("yes")])
    async with driven(model, tmp_path, plugins=[shipped_tools.install]) as session:
        await session.say("go")
    for tool in model.requests[0].tools:
        assert tool.description.endswith(".")
        assert tool.parameters["type"] == "object"
        assert tool.parameters["additionalProperties"] is False
        assert all(field.get("description") for field in tool.parameters["properties"].values())


async def test_the_tools_leave_with_their_scope(tmp_path: Path) -> None:
    model = Scripted(
        [say("", ("1", "list_files", {})), say("yes"), say("", ("2", "list_files", {})), say("yes")]
    )
    async with driven(model, tmp_path) as session:
        installed = await load(session)
        await session.say("go")
        await installed.aclose()
        await session.say("go on")
    assert [len(request.tools) for request in model.requests] == [len(SHIPPED)] * 2 + [0, 0]
    results = [fact for fact in session.facts if isinstance(fact, ToolResult)]
    assert [result.code for result in results] == [None, "UNKNOWN_TOOL"]


async def test_a_second_loading_after_the_first_has_left_offers_them_again(tmp_path: Path) -> None:
    model = Scripted([say("yes")])
    async with driven(model, tmp_path) as session:
        await (await load(session)).aclose()
        await load(session)
        await session.say("go")
    assert [tool.name for tool in model.requests[0].tools] == SHIPPED


async def test_a_plugin_that_offers_them_twice_is_left_out_and_undone(tmp_path: Path) -> None:
    async with driven(Scripted([say("yes")]), tmp_path, plugins=[shipped_tools.install]) as session:
        agent, scope = session.opened.agent, session.opened.session.scope
        with pytest.raises(PluginFailed, match="read_file is registered already"):
            await install(agent, scope, "again", shipped_tools.install)
        assert [spec.name for spec in agent.tools.specs()] == SHIPPED


async def load(session: Driven) -> Installed:
    """Install the plugin so that it can be unloaded."""
    opened = session.opened
    return await install(opened.agent, opened.session.scope, "tools", shipped_tools.install)
