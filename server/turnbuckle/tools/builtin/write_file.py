"""Write a whole file: a new one, or over one that was read."""

from functools import partial

from anyio import to_thread
from pydantic import Field

from turnbuckle.tools.builtin.changing import carry_out
from turnbuckle.tools.builtin.places import Arguments, own_place, seen, to_change, written
from turnbuckle.tools.tool import Change, Go, Outcome, Prepared, Tool, ToolError
from turnbuckle.workspace.changes import FileChange, make_change
from turnbuckle.workspace.line_ends import keep_line_ends
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Workspace
from turnbuckle.workspace.text import MARK


class WriteFile(Arguments):
    """What to write, and where."""

    path: str = Field(description="The file, relative to the working folder or absolute.")
    content: str = Field(description="The whole text of the file.")


def write_file() -> Tool[WriteFile]:
    """The tool."""
    return Tool(
        name="write_file",
        description=(
            "Write a whole text file; missing folders are made. A file that is there already must"
            " have been read before, and edit_file is better for changing parts of one."
        ),
        parameters=WriteFile,
        prepare=_prepare,
    )


async def _prepare(arguments: WriteFile, workspace: Workspace) -> Prepared:
    place = own_place(workspace, arguments.path)
    change = await _change(workspace, place, written(arguments.content, "content"))
    return Prepared(
        subject=Change(files=(change,)), perform=partial(_perform, workspace, place, change)
    )


async def _change(workspace: Workspace, place: Place, text: str) -> FileChange:
    snapshot = await to_change(workspace, place)
    if snapshot is None:
        return make_change(place.uri, "", text, "create")
    if seen(workspace, place) != snapshot.digest:
        message = f"{place.shown} was changed since it was read; read it again first"
        raise ToolError("STALE", message)
    # Comparing may take a while in a large file.
    return await to_thread.run_sync(_over, place, snapshot.text, text)


def _over(place: Place, base: str, text: str) -> FileChange:
    if not base.startswith(MARK):
        text = text.lstrip(MARK)  # whether a file has one is its own affair
    if "\r" not in text:
        text = keep_line_ends(base, text)
    if text == base:
        raise ToolError("INVALID_ARGS", f"{place.shown} has exactly this text already")
    return make_change(place.uri, base, text, "edit")


async def _perform(workspace: Workspace, place: Place, change: FileChange, go: Go) -> Outcome:
    return await carry_out(go, workspace, place, change)
