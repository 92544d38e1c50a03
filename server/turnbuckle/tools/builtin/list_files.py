"""List the files of a folder, without those that version control ignores."""

from collections.abc import Callable
from pathlib import Path

from anyio import to_thread
from pydantic import Field

from turnbuckle.tools.builtin.places import Arguments, place_of
from turnbuckle.tools.tool import Go, Outcome, Prepared, Read, Tool, ToolError
from turnbuckle.workspace.globs import compile_glob
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Workspace
from turnbuckle.workspace.text import whole
from turnbuckle.workspace.tree import Entry, walk
from turnbuckle.workspace.unseen import named

MOST = 500
"""Entries of one answer."""

SEEN = 200_000
"""Entries that are looked at for one answer."""


class ListFiles(Arguments):
    """What to list."""

    pattern: str | None = Field(
        default=None,
        min_length=1,
        description=(
            "Only paths that match, such as **/*.py or src/*.{ts,tsx}; without a slash it is"
            " matched against names in all folders."
        ),
    )
    path: str = Field(default=".", description="The folder; the working folder by default.")


def list_files() -> Tool[ListFiles]:
    """The tool."""
    return Tool(
        name="list_files",
        description=(
            "List files and folders (marked with /), without those that .gitignore names."
            f" Upper levels come before deeper ones where there are more than {MOST}."
        ),
        parameters=ListFiles,
        prepare=_prepare,
        execution_mode="parallel",
    )


async def _prepare(arguments: ListFiles, workspace: Workspace) -> Prepared:
    place = place_of(workspace, arguments.path)
    try:
        matches = compile_glob(arguments.pattern).fullmatch if arguments.pattern else None
    except ValueError as error:
        raise ToolError("INVALID_ARGS", f"pattern: {error}") from error

    def wanted(entry: Entry) -> bool:
        return matches is None or matches(entry.path) is not None

    async def perform(_: Go) -> Outcome:
        return Outcome(content=await to_thread.run_sync(_list, place, wanted))

    return Prepared(subject=Read(places=(place,)), perform=perform)


def _list(place: Place, wanted: Callable[[Entry], bool]) -> str:
    try:
        return _text(place, *_found(place.path, wanted))
    except NotADirectoryError as error:
        raise ToolError("NOT_FOUND", f"{place.shown} is no folder; read_file reads it") from error
    except FileNotFoundError as error:
        raise ToolError("NOT_FOUND", f"{place.shown} does not exist") from error
    except OSError as error:
        message = f"{place.shown} cannot be read: {error.strerror or error}"
        raise ToolError("TOOL_FAILED", message) from error


def _found(folder: Path, wanted: Callable[[Entry], bool]) -> tuple[list[Entry], str]:
    """What is wanted, and what to say if that is not all."""
    found: list[Entry] = []
    more = 0
    said: list[str] = []
    try:
        for number, entry in enumerate(walk(folder)):
            if number >= SEEN:
                said = [f"stopped after {SEEN:,} entries; a narrower path shows the rest"]
                break
            if not wanted(entry):
                continue
            if len(found) < MOST:
                found.append(entry)
            else:
                more += 1
    except TimeoutError as error:
        said = [f"{error}; a narrower path shows the rest"]
    if more:
        said.insert(0, f"{more:,} more, no higher up than these")
    return found, "; ".join(said)


def _text(place: Place, found: list[Entry], ending: str) -> str:
    prefix = "" if place.shown == "." else f"{place.shown.rstrip('/')}/"
    lines = sorted(prefix + named(whole(entry.path + "/" * entry.is_folder)) for entry in found)
    return "\n".join([*(lines or ["nothing found"]), *([f"[{ending}]"] * bool(ending))])
