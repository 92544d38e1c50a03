"""The tools that ship, one a file."""

from collections.abc import Sequence
from typing import Any

from turnbuckle.tools.builtin.delete_file import delete_file
from turnbuckle.tools.builtin.edit_file import edit_file
from turnbuckle.tools.builtin.list_files import list_files
from turnbuckle.tools.builtin.read_file import read_file
from turnbuckle.tools.builtin.rename_file import rename_file
from turnbuckle.tools.builtin.run_command import run_command
from turnbuckle.tools.builtin.search import search
from turnbuckle.tools.builtin.todo_write import todo_write
from turnbuckle.tools.builtin.write_file import write_file
from turnbuckle.tools.tool import Tool


# Any: tools of every argument type
def builtin_tools(environment: Sequence[str] = ()) -> tuple[Tool[Any], ...]:
    """All of them, in the order in which the model is told; `environment` as in `run_command`."""
    return (
        read_file(),
        list_files(),
        search(),
        write_file(),
        edit_file(),
        delete_file(),
        rename_file(),
        run_command(environment),
        todo_write(),
    )
