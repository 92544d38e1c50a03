"""Give a file that was read another name or folder."""

from functools import partial

from pydantic import Field

from turnbuckle.tools.builtin.changing import carry_out
from turnbuckle.tools.builtin.places import Arguments, own_place, taken, there
from turnbuckle.tools.tool import Change, Go, Outcome, Prepared, Tool, ToolError
from turnbuckle.workspace.changes import FileChange, make_renaming
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Workspace


class RenameFile(Arguments):
    """Which file and where to."""

    path: str = Field(description="The file, relative to the working folder or absolute.")
    to: str = Field(description="Its new path; missing folders are made. Nothing may stand there.")


def rename_file() -> Tool[RenameFile]:
    """The tool."""
    return Tool(
        name="rename_file",
        description=(
            "Rename a text file that was read, or move it to another folder of the workspace."
        ),
        parameters=RenameFile,
        prepare=_prepare,
    )


async def _prepare(arguments: RenameFile, workspace: Workspace) -> Prepared:
    place, target = own_place(workspace, arguments.path), own_place(workspace, arguments.to)
    snapshot = await there(workspace, place)
    if target.uri == place.uri:
        raise ToolError("INVALID_ARGS", f"{place.shown} has that name already")
    if target.path != place.path and await taken(workspace, target):
        raise ToolError("INVALID_ARGS", f"{target.shown} exists already; choose another name")
    change, made = make_renaming(place.uri, snapshot.text, target)
    return Prepared(
        subject=Change(files=(change, made)), perform=partial(_perform, workspace, place, change)
    )


async def _perform(workspace: Workspace, place: Place, change: FileChange, go: Go) -> Outcome:
    return await carry_out(go, workspace, place, change)
