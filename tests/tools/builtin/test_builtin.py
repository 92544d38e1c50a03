"""What the model is told of the tools that ship, and the list of what is to be done."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot
from pydantic import ValidationError

from turnbuckle.session.events import TodoWrite
from turnbuckle.session.parts import TodoItem
from turnbuckle.testing.workspace import Desk
from turnbuckle.tools.builtin import builtin_tools
from turnbuckle.tools.builtin.todo_write import WriteTodo, todo_write
from turnbuckle.tools.tool import Internal


def test_tools_have_the_names_arguments_and_modes_that_they_are_known_by() -> None:
    assert {
        tool.name: (
            tool.execution_mode,
            list(tool.parameters.model_fields),
            tool.parameters.model_json_schema().get("required", []),
        )
        for tool in builtin_tools()
    } == snapshot(
        {
            "read_file": ("parallel", ["path", "offset", "limit"], ["path"]),
            "list_files": ("parallel", ["pattern", "path"], []),
            "search": ("parallel", ["pattern", "path", "glob", "context"], ["pattern"]),
            "write_file": ("exclusive", ["path", "content"], ["path", "content"]),
            "edit_file": ("exclusive", ["path", "edits"], ["path", "edits"]),
            "delete_file": ("exclusive", ["path"], ["path"]),
            "rename_file": ("exclusive", ["path", "to"], ["path", "to"]),
            "run_command": ("exclusive", ["command", "timeout", "cwd"], ["command"]),
            "todo_write": ("exclusive", ["items"], ["items"]),
        }
    )


def test_every_argument_is_explained_and_no_other_is_taken() -> None:
    for tool in builtin_tools():
        schema = tool.parameters.model_json_schema()
        assert schema["additionalProperties"] is False
        assert all("description" in field for field in schema["properties"].values())
        with pytest.raises(ValidationError, match="not permitted"):
            tool.parameters.model_validate({"nonsense": 1})


async def test_the_list_is_written_whole_and_touches_nothing_else(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    arguments = WriteTodo.model_validate(
        {
            "items": [
                {"text": "look", "state": "done"},
                {"text": "think", "state": "active"},
                {"text": "write", "state": "open"},
            ]
        }
    )
    prepared = await todo_write().prepare(arguments, desk.workspace)
    assert prepared.subject == Internal()
    outcome = await desk.perform(prepared)
    assert outcome.content == "[x] look\n[>] think\n[ ] write"
    assert outcome.facts == (
        TodoWrite(
            items=(
                TodoItem(text="look", state="done"),
                TodoItem(text="think", state="active"),
                TodoItem(text="write", state="open"),
            )
        ),
    )


async def test_the_list_can_be_emptied(tmp_path: Path) -> None:
    prepared = await todo_write().prepare(WriteTodo(items=[]), Desk(tmp_path).workspace)
    assert (await Desk(tmp_path).perform(prepared)).content == "the list is empty"
