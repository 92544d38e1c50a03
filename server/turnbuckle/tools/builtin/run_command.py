"""Run a command line in a shell."""

import os
import re
import signal
from collections.abc import Sequence
from functools import partial

import anyio
from pydantic import Field

from turnbuckle.session.parts import JsonObject
from turnbuckle.tools.builtin.noticing import before_command
from turnbuckle.tools.builtin.places import Arguments, own_place
from turnbuckle.tools.tool import Command, Go, Outcome, Prepared, Tool, ToolError
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Workspace
from turnbuckle.workspace.process import (
    Finished,
    NotStarted,
    Output,
    find_shell,
    inherited,
    plain_text,
    run,
)
from turnbuckle.workspace.text import whole

TIMEOUT, LONGEST = 120, 3600
"""Seconds that a command may take: by default, and at most."""

_OURS = re.compile(
    r"^(?:exit code -?\d|<tool error|\[(?:the (?:whole )?output\b|stopped, as|still runs, and"
    r"|not saved in|changed on disk|in conflict:|deleted on disk|\d+ invisible character))",
    re.MULTILINE,
)
"""How the lines begin that are said about an output: where it has such ones, its end is told."""

NAMED, NAME = 20, 200
"""How many processes a result names that were left in the background, in letters of each."""


class RunCommand(Arguments):
    """What to run, for how long and where."""

    command: str = Field(min_length=1, description="The command line.")
    timeout: float = Field(
        default=TIMEOUT, gt=0, le=LONGEST, description="Seconds until it is stopped."
    )
    cwd: str | None = Field(
        default=None, description="The folder to run it in; the working folder by default."
    )


def run_command(environment: Sequence[str] = ()) -> Tool[RunCommand]:
    """The tool; `environment` names the variables that commands inherit beside the usual ones."""
    return Tool(
        name="run_command",
        description=(
            f"Run a command line in {find_shell().name}, without input, each time in a new shell in"
            " the working folder. The result is its output and its exit code. When the command"
            " ends, whatever it left running in the background is stopped. Unsaved changes in the"
            " editor are saved first where it can do that; lines in brackets tell what was not, and"
            " which known files were changed meanwhile."
        ),
        parameters=RunCommand,
        prepare=partial(_prepare, environment),
    )


async def _prepare(
    environment: Sequence[str], arguments: RunCommand, workspace: Workspace
) -> Prepared:
    place = own_place(workspace, arguments.cwd or ".")
    if not place.path.is_dir():
        raise ToolError("NOT_FOUND", f"there is no folder {place.shown} to run a command in")
    command = whole(arguments.command)
    if "\0" in command:
        raise ToolError("INVALID_ARGS", "a command line must not hold a NUL character")
    return Prepared(
        subject=Command(command=command, cwd=place.uri, timeout=arguments.timeout),
        perform=partial(_perform, command, arguments.timeout, place, workspace, environment),
    )


async def _perform(
    command: str,
    timeout: float,
    place: Place,
    workspace: Workspace,
    environment: Sequence[str],
    go: Go,
) -> Outcome:
    extra = inherited(os.environ, environment)
    before = await before_command(workspace)
    output = Output(go.blobs, go.note)
    try:
        finished = await run(command, cwd=place.path, timeout=timeout, output=output, extra=extra)
    except NotStarted as error:
        raise ToolError("TOOL_FAILED", str(error)) from error
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True):
            finished = Finished(exit_code=None, output=await output.finish())
            noticed = await before.told()
        # What was really done is worth more to the model than the bare cancel.
        stopped = "the command was stopped with the turn"
        raise _stopped("ABORTED", stopped, finished, noticed) from None
    noticed = await before.told()
    if finished.timed_out:
        stopped = f"the command ran for {timeout:g} seconds and was stopped"
        raise _stopped("TIMEOUT", stopped, finished, [*left_lines(finished), *noticed])
    lines = [_output(finished), *left_lines(finished), *noticed, _ending(finished)]
    return Outcome(content="".join(lines), meta=_meta(finished))


def _stopped(code: str, message: str, finished: Finished, noticed: list[str]) -> ToolError:
    so_far = f"; its output so far:\n{_output(finished)}" if finished.output.total else ""
    noticed = ["\n", *noticed] if noticed and not so_far else noticed
    return ToolError(code, "".join([message, so_far, *noticed]), _meta(finished))


def _output(finished: Finished) -> str:
    """What it wrote, ending with a newline, and where all of it is if something was cut."""
    kept = finished.output
    text = kept.text + "\n" * (bool(kept.text) and not kept.text.endswith("\n"))
    if _OURS.search(text):
        count = text.count("\n")
        text += f"[the output ends here, after {count:,} line{'s' * (count != 1)}]\n"
    if not kept.cut:
        return text
    where = f"read_file path=blob:{kept.blob}" if kept.blob else "it is not kept"
    missing = f"; {kept.missing}" if kept.missing else ""
    return f"{text}[the whole output, {kept.total:,} bytes: {where}{missing}]\n"


def left_lines(finished: Finished) -> list[str]:
    """What is said of programs that a command left running."""
    return [
        *_lines("stopped, as it still ran in the background", finished.left),
        *_lines("still runs, and could not be stopped", finished.going),
    ]


def _lines(told: str, programs: Sequence[str]) -> list[str]:
    """Lines that name programs: each calls itself as it likes, so they are bounded."""
    lines = [f"[{told}: {_named(words)}]\n" for words in programs[:NAMED]]
    more = len(programs) - len(lines)
    return [*lines, f"[{told}: {more} more]\n"] if more else lines


def _named(words: str) -> str:
    """A command line on one short line, as plain text."""
    name = " ".join(plain_text(words.encode("utf-8", "replace")).split())
    return (name if len(name) <= NAME else f"{name[: NAME - 3]}...") or "a process without a name"


def _ending(finished: Finished) -> str:
    code = finished.exit_code
    if code is not None and code > 128:
        try:
            return f"exit code {code} ({signal.Signals(code - 128).name})"
        except ValueError:
            pass
    return f"exit code {code}"


def _meta(finished: Finished) -> JsonObject:
    meta: JsonObject = {}
    if finished.exit_code is not None:
        meta["exitCode"] = finished.exit_code
    if finished.output.blob is not None:
        meta["output"] = {"blob": finished.output.blob, "bytes": finished.output.total}
    return meta
