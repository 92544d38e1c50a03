"""Tools made of one function, for tests."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict

from turnbuckle.tools.subject import Command, Internal, Subject
from turnbuckle.tools.tool import ExecutionMode, Go, Outcome, Prepared, Tool
from turnbuckle.workspace.port import Workspace


class Anything(BaseModel):
    """Arguments of any shape."""

    model_config = ConfigDict(extra="allow")


Body: TypeAlias = Callable[[dict[str, Any], Go], Awaitable[Outcome | str]]
# Any: arguments of any shape.

COMMAND = Command(command="make", cwd="file:///work", timeout=10)
"""A subject that is asked about."""


def tool(
    name: str,
    body: Body,
    *,
    subject: Subject | Exception | None = None,
    mode: ExecutionMode = "parallel",
) -> Tool[Anything]:
    """A tool that performs `body(arguments, go)`; an exception as subject fails its prepare."""

    async def prepare(arguments: Anything, _: Workspace) -> Prepared:
        if isinstance(subject, Exception):
            raise subject

        async def perform(go: Go) -> Outcome:
            result = await body(arguments.model_dump(), go)
            return result if isinstance(result, Outcome) else Outcome(content=result)

        return Prepared(subject=subject or Internal(), perform=perform)

    return Tool(
        name=name,
        description=f"Test tool {name}.",
        parameters=Anything,
        prepare=prepare,
        execution_mode=mode,
    )
