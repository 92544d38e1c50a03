"""Read a text file, or an output that was kept."""

from functools import partial

from anyio import to_thread
from pydantic import Field

from turnbuckle.tools.builtin import excerpt
from turnbuckle.tools.builtin.places import Arguments, place_of, told
from turnbuckle.tools.tool import Go, Outcome, Prepared, Read, Tool, ToolError
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Workspace

_BLOB = "blob:"


class ReadFile(Arguments):
    """What to read."""

    path: str = Field(
        description="The file, relative to the working folder or absolute; or blob:<digest>."
    )
    offset: int | None = Field(
        default=None, ge=1, description="The first line to read, counted from 1."
    )
    limit: int | None = Field(default=None, ge=1, description="How many lines to read at most.")


def read_file() -> Tool[ReadFile]:
    """The tool."""
    return Tool(
        name="read_file",
        description=(
            "Read a text file. The first line of the result says which lines follow, exactly as"
            " they stand. At most 64 KiB are given at once; use offset and limit to read on."
            " A file must be read before it can be changed."
        ),
        parameters=ReadFile,
        prepare=_prepare,
        execution_mode="parallel",
    )


async def _prepare(arguments: ReadFile, workspace: Workspace) -> Prepared:
    if arguments.path.startswith(_BLOB):
        return Prepared(subject=Read(places=()), perform=partial(_read_blob, arguments))
    place = place_of(workspace, arguments.path)
    return Prepared(
        subject=Read(places=(place,)), perform=partial(_read, arguments, workspace, place)
    )


async def _read(arguments: ReadFile, workspace: Workspace, place: Place, _: Go) -> Outcome:
    with told():
        snapshot = await workspace.texts.read(place)
    # Counting the lines of a large file takes a while.
    found = await to_thread.run_sync(
        excerpt.of_text, snapshot.text, place.shown, arguments.offset or 1, arguments.limit
    )
    read = {"uri": place.uri, "digest": snapshot.digest, "from": found.first, "to": found.last}
    return Outcome(content=found.titled(place.shown), meta={"read": read})


async def _read_blob(arguments: ReadFile, go: Go) -> Outcome:
    path = go.blobs.path(arguments.path.removeprefix(_BLOB))
    if path is None:
        raise ToolError("NOT_FOUND", f"nothing is kept as {arguments.path}")
    try:
        found = await to_thread.run_sync(
            excerpt.of_file, path, arguments.path, arguments.offset or 1, arguments.limit
        )
    except OSError as error:
        message = f"{arguments.path} cannot be read: {error.strerror or error}"
        raise ToolError("TOOL_FAILED", message) from error
    return Outcome(content=found.titled(arguments.path))
