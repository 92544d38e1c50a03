"""Arguments and places as the tools that ship take them."""

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import BaseModel, ConfigDict

from turnbuckle.tools.tool import ToolError
from turnbuckle.workspace.errors import Missing, WorkspaceError
from turnbuckle.workspace.paths import Place, uri_of
from turnbuckle.workspace.port import Snapshot, Workspace
from turnbuckle.workspace.text import whole


class Arguments(BaseModel):
    """The arguments of a tool: what it does not know is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@contextmanager
def told() -> Iterator[None]:
    """What is wrong with a file, as the model is told it."""
    try:
        yield
    except WorkspaceError as error:
        raise ToolError(error.code, str(error)) from error


def place_of(workspace: Workspace, path: str) -> Place:
    """The place that an argument names.

    Raises:
        ToolError: INVALID_ARGS where it names none, OUTSIDE where no folder is open.
    """
    with told():
        return workspace.roots.resolve(path)


def own_place(workspace: Workspace, path: str) -> Place:
    """The place that an argument names, to be written or worked in.

    Raises:
        ToolError: OUTSIDE where it does not lie in the workspace, INVALID_ARGS where it is meant to
            lie in the home folder: a folder called `~` that is made so is dangerous to remove.
    """
    place = place_of(workspace, path)
    cwd = workspace.roots.cwd
    if path.split("/")[0] == "~" and cwd is not None and not (cwd / "~").exists():
        message = "~ does not stand for the home folder here; write the whole path, or ./~"
        raise ToolError("INVALID_ARGS", message)
    if not place.inside:
        where = "" if place.shown == path else f" (it is {place.shown})"
        raise ToolError("OUTSIDE", f"{path}{where} lies outside the workspace")
    return place


async def to_change(workspace: Workspace, place: Place) -> Snapshot | None:
    """The text that a change is made on; None where nothing stands there yet.

    Raises:
        ToolError: READ_ONLY, UNREAD, or what is wrong with the file.
    """
    with told():
        try:
            snapshot = await workspace.texts.read(place)
        except Missing:
            return None
    if snapshot.read_only:
        raise ToolError("READ_ONLY", f"{place.shown} is read-only")
    if seen(workspace, place) is None:
        message = f"{place.shown} was not read in this session; read it before it is changed"
        raise ToolError("UNREAD", message)
    return snapshot


async def there(workspace: Workspace, place: Place) -> Snapshot:
    """The text of a file that is to go away from its place, as the model knows it.

    Raises:
        ToolError: NOT_FOUND, UNREAD, STALE where it was changed since, or what is wrong with it.
    """
    snapshot = await to_change(workspace, place)
    if snapshot is None:
        raise ToolError("NOT_FOUND", f"{place.shown} does not exist")
    if seen(workspace, place) != snapshot.digest:
        raise ToolError(
            "STALE", f"{place.shown} was changed since it was read; read it again first"
        )
    return snapshot


async def taken(workspace: Workspace, place: Place) -> bool:
    """Whether something stands at a place, be it readable or not.

    Raises:
        ToolError: INVALID_ARGS or TOOL_FAILED where nothing can stand there.
    """
    with told():
        try:
            await workspace.texts.read(place)
        except Missing:
            return False
        except WorkspaceError as error:
            if error.code in ("INVALID_ARGS", "TOOL_FAILED"):
                raise
        return True


def written(text: str, label: str) -> str:
    """A text of the model as a text file can hold it, halves of characters joined or replaced.

    Raises:
        ToolError: INVALID_ARGS where it holds a NUL, for nobody could read the file as text then.
    """
    if "\0" in text:
        raise ToolError("INVALID_ARGS", f"{label} holds a NUL character, which no text file has")
    return whole(text)


def seen(workspace: Workspace, place: Place) -> str | None:
    """The digest at which a file was last read or written, by this name or by its own."""
    return workspace.seen(place.uri) or workspace.seen(uri_of(place.path))
