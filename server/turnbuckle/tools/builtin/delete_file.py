"""Delete a file that was read."""

from functools import partial

from pydantic import Field

from turnbuckle.tools.builtin.changing import carry_out
from turnbuckle.tools.builtin.places import Arguments, own_place, there
from turnbuckle.tools.tool import Change, Go, Outcome, Prepared, Tool
from turnbuckle.workspace.changes import FileChange, make_deletion
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Workspace


class DeleteFile(Arguments):
    """Which file."""

    path: str = Field(description="The file, relative to the working folder or absolute.")


def delete_file() -> Tool[DeleteFile]:
    """The tool."""
    return Tool(
        name="delete_file",
        description=(
            "Delete a text file that was read. What it held is kept, so that the person can take it"
            " back."
        ),
        parameters=DeleteFile,
        prepare=_prepare,
    )


async def _prepare(arguments: DeleteFile, workspace: Workspace) -> Prepared:
    place = own_place(workspace, arguments.path)
    change = make_deletion(place.uri, (await there(workspace, place)).text)
    return Prepared(
        subject=Change(files=(change,)), perform=partial(_perform, workspace, place, change)
    )


async def _perform(workspace: Workspace, place: Place, change: FileChange, go: Go) -> Outcome:
    return await carry_out(go, workspace, place, change)
