"""A tool that takes too long is stopped, and what waits for the person is not."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from inline_snapshot import snapshot

from turnbuckle.plugins import timeouts
from turnbuckle.session.events import ApprovalAsked, ToolResult
from turnbuckle.testing.agents import Driven, driven
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.tools import COMMAND, tool
from turnbuckle.testing.transcript import transcript
from turnbuckle.tools.tool import Go, Internal, Question, Subject

SHORT = 0.01


class Slow:
    """A body that ends when it is let, or cancelled; `stopped` is whether it was cancelled."""

    def __init__(self) -> None:
        self.stopped = False
        self.free = anyio.Event()

    async def __call__(self, _arguments: dict[str, Any], _: Go) -> str:
        try:
            await self.free.wait()
        except BaseException:
            self.stopped = True
            raise
        return "done at last"


async def run(
    folder: Path, slow: Slow, subject: Subject, limit: float, limits: Mapping[str, float]
) -> Driven:
    model = Scripted([say("", ("1", "slow", {})), say("ok")])
    plugin = partial(timeouts.install, limit=limit, limits=limits)
    tools = [tool("slow", slow, subject=subject)]
    async with driven(model, folder, tools=tools, plugins=[plugin]) as session:
        session.answer_approvals(allow=True)
        await session.say("go")
    return session


async def test_a_body_that_takes_too_long_is_stopped_and_the_turn_goes_on(tmp_path: Path) -> None:
    slow = Slow()
    session = await run(tmp_path, slow, Internal(), SHORT, {})
    assert slow.stopped
    assert transcript(session.entries) == snapshot("""\
user      go
  call    1 slow()
  result  1 TIMEOUT <tool error: slow took longer than 0.01 s and was stopped>
assistant ok
end       completed
""")


@pytest.mark.parametrize(
    ("subject", "limits"),
    [
        (COMMAND, {}),  # it has a limit of its own
        (Question(question="?"), {"slow": SHORT}),  # it waits for the person
        (Internal(), {"slow": 0}),  # it was set to have none
    ],
)
async def test_some_calls_have_no_limit(
    tmp_path: Path, subject: Subject, limits: Mapping[str, float]
) -> None:
    class Patient(Slow):
        async def __call__(self, arguments: dict[str, Any], go: Go) -> str:
            # Longer than the limit would be: no moment is measured, only that none is cut.
            with anyio.move_on_after(5 * SHORT):
                return await super().__call__(arguments, go)
            return "done at last"

    session = await run(tmp_path, Patient(), subject, SHORT, limits)
    (result,) = (fact for fact in session.facts if isinstance(fact, ToolResult))
    assert (result.content, result.code) == ("done at last", None)


async def test_a_limit_by_name_goes_before_all_others(tmp_path: Path) -> None:
    slow = Slow()
    session = await run(tmp_path, slow, COMMAND, 600, {"slow": SHORT})
    (result,) = (fact for fact in session.facts if isinstance(fact, ToolResult))
    assert (slow.stopped, result.code) == (True, "TIMEOUT")


async def test_the_time_in_which_a_question_is_open_does_not_count(tmp_path: Path) -> None:
    async def body(_arguments: dict[str, Any], _: Go) -> str:
        return "ran"

    model = Scripted([say("", ("1", "act", {})), say("ok")])
    plugin = partial(timeouts.install, limits={"act": SHORT})
    async with driven(
        model, tmp_path, tools=[tool("act", body, subject=COMMAND)], plugins=[plugin]
    ) as session:
        session.send("go")
        asked = await session.until(ApprovalAsked)
        assert isinstance(asked, ApprovalAsked)
        with anyio.move_on_after(5 * SHORT):
            await session.until(ToolResult)
        session.opened.agent.approvals.decide(asked.approval_id, allow=True, by="test")
        result = await session.until(ToolResult)
    assert isinstance(result, ToolResult)
    assert result.content == "ran"


async def test_what_ends_in_spite_of_the_limit_counts(tmp_path: Path) -> None:
    class Stubborn(Slow):
        async def __call__(self, arguments: dict[str, Any], go: Go) -> str:
            with anyio.CancelScope(shield=True), anyio.move_on_after(5 * SHORT):
                await self.free.wait()
            return "done all the same"

    session = await run(tmp_path, Stubborn(), Internal(), SHORT, {})
    (result,) = (fact for fact in session.facts if isinstance(fact, ToolResult))
    assert (result.content, result.code) == ("done all the same", None)


async def test_without_the_plugin_there_is_no_limit(tmp_path: Path) -> None:
    slow = Slow()
    model = Scripted([say("", ("1", "slow", {})), say("ok")])
    plugin = partial(timeouts.install, limit=SHORT)
    async with driven(model, tmp_path, tools=[tool("slow", slow)], plugins=[plugin]) as session:
        await session.plugins.exchange([])
        slow.free.set()
        await session.say("go")
    assert not slow.stopped
