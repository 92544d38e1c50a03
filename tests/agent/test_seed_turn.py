"""One complete turn: the model calls a tool, gets the result, and answers.

The test that the small loop this one grew from is taught with: log order, event order, and the
final answer.
"""

from pathlib import Path

from pydantic import BaseModel

from turnbuckle.agent.plugin import PluginContext
from turnbuckle.session.events import (
    AssistantMessage,
    StepEnd,
    StepStart,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.testing.agents import driven
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.tools.tool import Go, Internal, Outcome, Prepared, Tool
from turnbuckle.workspace.port import Workspace


class Sum(BaseModel):
    """The arguments of `add`."""

    a: int
    b: int


async def prepare_add(numbers: Sum, _: Workspace) -> Prepared:
    async def perform(_: Go) -> Outcome:
        return Outcome(content=str(numbers.a + numbers.b))

    return Prepared(subject=Internal(), perform=perform)


ADD = Tool(name="add", description="Add two numbers.", parameters=Sum, prepare=prepare_add)


async def test_a_full_turn_calls_a_tool_gets_the_result_and_answers(tmp_path: Path) -> None:
    events: list[str] = []

    def watch(ctx: PluginContext) -> None:
        for kind in (TurnStart, StepStart, StepEnd, TurnEnd):
            ctx.on(kind, lambda fact: events.append(fact.type))

    model = Scripted([say("", ("call_1", "add", {"a": 1, "b": 2})), say("The result is 3")])
    async with driven(model, tmp_path, tools=[ADD], plugins=[watch]) as session:
        await session.say("1+1=?")
        facts = session.facts

    shown = (UserMessage, AssistantMessage, ToolResult)
    assert [fact.type for fact in facts if isinstance(fact, shown)] == [
        "user/message", "assistant/message", "tool/result", "assistant/message",
    ]  # fmt: skip
    assert events == [
        "turn/start", "step/start", "step/end", "step/start", "step/end", "turn/end",
    ]  # fmt: skip
    answers = [fact for fact in facts if isinstance(fact, AssistantMessage)]
    assert answers[-1].content == "The result is 3"
    assert [fact.content for fact in facts if isinstance(fact, ToolResult)] == ["3"]
