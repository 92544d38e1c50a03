"""Let the model ask the person."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.tools.hooks import Executed, PostExecute, Replace
from turnbuckle.tools.tool import Go, Outcome, Prepared, Question, Tool
from turnbuckle.workspace.port import Workspace
from turnbuckle.workspace.text import whole

NAME = "ask_user"

Choice = Annotated[str, Field(min_length=1, max_length=200)]


class AskUser(BaseModel):
    """What to ask."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str = Field(min_length=1, max_length=4000, description="The question, on its own.")
    choices: list[Choice] = Field(
        default_factory=list,
        max_length=10,
        description="Answers to choose from, if they can be listed; each is different.",
    )


def install(ctx: PluginContext) -> None:
    """Offer the tool; where the person does not answer, its result says so in plain words."""

    async def plainly(executed: Executed, next_layer: Next[Executed, PostExecute]) -> PostExecute:
        if executed.call.name != NAME or executed.outcome.code != "DENIED":
            return await next_layer(executed)
        said = executed.outcome.content.removeprefix("<tool error: ").removesuffix(">")
        return Replace(
            f"There is no answer: {said}. Go on with what you know and say what you assumed, or end"
            " here and say what you need."
        )

    ctx.tools.register(ask_user())
    ctx.hooks.post_execute.use(plainly)


def ask_user() -> Tool[AskUser]:
    """The tool."""
    return Tool(
        name=NAME,
        description=(
            "Ask the person something that you cannot find out yourself and that decides how to go"
            " on. Ask one thing at a time, and give choices where there are few."
        ),
        parameters=AskUser,
        prepare=_prepare,
    )


async def _prepare(arguments: AskUser, _: Workspace) -> Prepared:
    choices = tuple(dict.fromkeys(map(whole, arguments.choices)))

    async def perform(go: Go) -> Outcome:
        if not (answer := (go.answer or "").strip()):
            note = go.verdict().note
            said = f", but noted: {note}" if note else ""
            return Outcome(content=f"The person gave no answer{said}.")
        return Outcome(content=f"The person answers: {answer}")

    return Prepared(
        subject=Question(question=whole(arguments.question), choices=choices), perform=perform
    )
