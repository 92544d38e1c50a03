"""Every session's prompt begins with what the agent is and how it works here."""

from pathlib import Path

from turnbuckle.agent.plugin import Installed, PluginContext, install
from turnbuckle.agent.sessions import OpenSession
from turnbuckle.plugins import ground_rules
from turnbuckle.testing.agents import driven
from turnbuckle.testing.scripted import Scripted, say


def later(ctx: PluginContext) -> None:
    ctx.prompt.section("House rules", "Tabs, not spaces.")


async def test_the_ground_rules_are_in_the_prompt_before_all_others(tmp_path: Path) -> None:
    model = Scripted([say("yes")])
    plugins = [ground_rules.install, later]
    async with driven(model, tmp_path, plugins=plugins) as session:
        await session.say("go")
    system = model.requests[0].system
    assert system.startswith(f"## Who you are\n\n{ground_rules.IDENTITY}\n\n## How you work\n\n")
    assert ground_rules.RULES in system
    assert system.index(ground_rules.RULES) < system.index("## House rules")


async def test_the_prompt_stays_the_same_from_turn_to_turn(tmp_path: Path) -> None:
    # Whatever changes in it would cost the provider's cache, and a header in the log.
    model = Scripted([say("yes"), say("yes")])
    async with driven(model, tmp_path, plugins=[ground_rules.install]) as session:
        await session.say("go")
        await session.say("go on")
    assert model.requests[0].system == model.requests[1].system


async def test_the_ground_rules_leave_with_their_scope(tmp_path: Path) -> None:
    model = Scripted([say("yes"), say("yes")])
    async with driven(model, tmp_path) as session:
        installed = await unloadable(session.opened)
        await session.say("go")
        await installed.aclose()
        await session.say("go on")
    assert ground_rules.IDENTITY in model.requests[0].system
    assert model.requests[1].system == ""


async def unloadable(opened: OpenSession) -> Installed:
    """Install the plugin so that it can be unloaded."""
    scope = opened.session.scope
    return await install(opened.agent, scope, "ground_rules", ground_rules.install)
