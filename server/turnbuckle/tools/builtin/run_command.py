"""Run a command line in a shell."""

import signal
from functools import partial

import anyio
from pydantic import Field

from turnbuckle.session.parts import JsonObject
from turnbuckle.tools.builtin.noticing import before_command
from turnbuckle.tools.builtin.places import Arguments, own_place
from turnbuckle.tools.tool import Command, Go, Outcome, Prepared, Tool, ToolError
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Workspace
from turnbuckle.workspace.process import Finished, NotStarted, Output, find_shell, run
from turnbuckle.workspace.text import whole

TIMEOUT, LONGEST = 120, 3600
"""Seconds that a command may take: by default, and at most."""


class RunCommand(Arguments):
    """What to run, for how long and where."""

    command: str = Field(min_length=1, description="The command line.")
    timeout: float = Field(
        default=TIMEOUT, gt=0, le=LONGEST, description="Seconds until it is stopped."
    )
    cwd: str | None = Field(
        default=None, description="The folder to run it in; the working folder by default."
    )


def run_command() -> Tool[RunCommand]:
    """The tool."""
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
        prepare=_prepare,
    )


async def _prepare(arguments: RunCommand, workspace: Workspace) -> Prepared:
    place = own_place(workspace, arguments.cwd or ".")
    if not place.path.is_dir():
        raise ToolError("NOT_FOUND", f"there is no folder {place.shown} to run a command in")
    command = whole(arguments.command)
    if "\0" in command:
        raise ToolError("INVALID_ARGS", "a command line must not hold a NUL character")
    return Prepared(
        subject=Command(command=command, cwd=place.uri, timeout=arguments.timeout),
        perform=partial(_perform, command, arguments.timeout, place, workspace),
    )


async def _perform(
    command: str, timeout: float, place: Place, workspace: Workspace, go: Go
) -> Outcome:
    before = await before_command(workspace)
    output = Output(go.blobs, go.note)
    try:
        finished = await run(command, cwd=place.path, timeout=timeout, output=output)
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
        raise _stopped("TIMEOUT", stopped, finished, noticed)
    lines = [_output(finished), *_left(finished), *noticed, _ending(finished)]
    return Outcome(content="".join(lines), meta=_meta(finished))


def _stopped(code: str, message: str, finished: Finished, noticed: list[str]) -> ToolError:
    so_far = f"; its output so far:\n{_output(finished)}" if finished.output.total else ""
    noticed = ["\n", *noticed] if noticed and not so_far else noticed
    return ToolError(code, "".join([message, so_far, *noticed]), _meta(finished))


def _output(finished: Finished) -> str:
    """What it wrote, ending with a newline, and where all of it is if something was cut."""
    kept = finished.output
    text = kept.text + "\n" * (bool(kept.text) and not kept.text.endswith("\n"))
    if not kept.cut:
        return text
    where = f"read_file path=blob:{kept.blob}" if kept.blob else "it is not kept"
    missing = f"; {kept.missing}" if kept.missing else ""
    return f"{text}[the whole output, {kept.total:,} bytes: {where}{missing}]\n"


def _left(finished: Finished) -> list[str]:
    return [f"[stopped, as it still ran in the background: {name}]\n" for name in finished.left]


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
