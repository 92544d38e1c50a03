"""Keep the list of what is to be done."""

from typing import Literal

from pydantic import Field

from turnbuckle.session.events import TodoWrite
from turnbuckle.session.parts import TodoItem
from turnbuckle.tools.builtin.places import Arguments
from turnbuckle.tools.tool import Go, Internal, Outcome, Prepared, Tool
from turnbuckle.workspace.port import Workspace
from turnbuckle.workspace.text import whole

_MARKS = {"open": "[ ]", "active": "[>]", "done": "[x]"}


class Item(Arguments):
    """One line of the list."""

    text: str = Field(min_length=1, max_length=500, description="What is to be done.")
    state: Literal["open", "active", "done"] = Field(description="How far it is.")


class WriteTodo(Arguments):
    """The whole list; it replaces the one before."""

    items: list[Item] = Field(max_length=100, description="All items, in order.")


def todo_write() -> Tool[WriteTodo]:
    """The tool."""
    return Tool(
        name="todo_write",
        description=(
            "Write down the list of steps for a task that has several, and keep it up to date:"
            " the list replaces the one before, so give all of it each time."
        ),
        parameters=WriteTodo,
        prepare=_prepare,
    )


async def _prepare(arguments: WriteTodo, _: Workspace) -> Prepared:
    items = tuple(TodoItem(text=whole(item.text), state=item.state) for item in arguments.items)

    async def perform(_: Go) -> Outcome:
        shown = "\n".join(f"{_MARKS[item.state]} {item.text}" for item in items)
        return Outcome(content=shown or "the list is empty", facts=(TodoWrite(items=items),))

    return Prepared(subject=Internal(), perform=perform)
