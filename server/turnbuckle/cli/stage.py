"""A command that talks to a server, from its first line to its exit code."""

import errno
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

import anyio

from turnbuckle.cli.activity import Activity
from turnbuckle.cli.approving import Person
from turnbuckle.cli.exits import ENDED_OTHERWISE, NO_SERVER, NOT_RUN
from turnbuckle.cli.keys import keyboard
from turnbuckle.cli.lines import Line, line
from turnbuckle.cli.paper import standard_streams
from turnbuckle.cli.screen import Screen
from turnbuckle.cli.signals import Leave, heeding
from turnbuckle.cli.source import Typist
from turnbuckle.cli.talk import Server, ServerGone
from turnbuckle.cli.visible import harmless
from turnbuckle.lsp.client import ServerRefused

BROKEN_PIPE = 141
TAIL_LINES = 15
STARTING = "starting the server"
OUTPUT_ROWS = 5
"""How many lines of a command's output are shown while it runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What every such command has.

    `typist` types at the terminal and `person` answers there; both are None where there is none.
    """

    screen: Screen
    activity: Activity
    typist: Typist | None
    person: Person | None
    leave: Leave


Play: TypeAlias = Callable[[Stage], Awaitable[int]]


def own_server() -> Server:
    """Our own server, as a process of the same Python.

    Where its log is wanted and standard error is no terminal, it goes there.
    """
    logs = bool(os.environ.get("TURNBUCKLE_LOG")) and not sys.stderr.isatty()
    # -P: a module of the folder that we stand in must not be taken for one of ours.
    argv = (sys.executable, "-P", "-m", "turnbuckle", "serve")
    return Server(argv=argv, stderr=sys.stderr.fileno() if logs else None)


async def perform(play: Play, json: bool = False, still: bool = False) -> int:
    """Run a command and give its exit code; the terminal is as it was afterwards.

    `json` says that it writes JSON on standard output, `still` that it draws on the terminal by
    itself.
    """
    leave = Leave()
    out, err = standard_streams(lambda e: leave.leave(code_without_output(e)), json=json)
    activity = Activity(time.monotonic, OUTPUT_ROWS)
    screen = Screen(out, err, activity.lines, still=still)
    code: int | None = None
    with heeding(leave), keyboard(sys.stdin, quiet=screen.lively) as keys:
        typist = Typist(screen, keys) if keys is not None and screen.terminal is not None else None
        person = Person(screen, typist) if typist else None
        stage = Stage(screen=screen, activity=activity, typist=typist, person=person, leave=leave)
        with leave.scope:
            async with anyio.create_task_group() as group:
                group.start_soon(screen.run)
                code = await _played(play, stage)
                group.cancel_scope.cancel()
    if leave.code is not None:
        screen.complain([line("left; the server was ended", "warn")])
        return leave.code
    return NO_SERVER if code is None else code


def code_without_output(error: OSError) -> int:
    """The exit code where output cannot be written; said, unless its reader just went away."""
    if error.errno in (errno.EPIPE, errno.EIO, errno.EINVAL):
        return BROKEN_PIPE
    with suppress(OSError):
        os.write(2, f"turnbuckle: the output cannot be written: {error.strerror}\n".encode())
    return ENDED_OTHERWISE


async def _played(play: Play, stage: Stage) -> int:
    try:
        return await play(stage)
    except ServerGone as gone:
        if stage.leave.code is None:  # else we ended it
            stage.screen.complain(_gone_lines(gone))
        return NO_SERVER
    except ServerRefused as refused:
        stage.screen.complain([line(f"the server refused: {harmless(refused.message)}", "bad")])
        return NOT_RUN


def _gone_lines(gone: ServerGone) -> list[Line]:
    code = f" (exit code {gone.code})" if gone.code is not None else ""
    lines = [line(f"{harmless(str(gone))}{code}", "bad")]
    rows = harmless(gone.tail).rstrip().splitlines()[-TAIL_LINES:]
    if rows:
        lines += [line("the last that it said:"), *(line(f"  {row}", "dim") for row in rows)]
    if gone.session_id:
        lines.append(line(f'to go on: turnbuckle ask --session {gone.session_id} "..."'))
    elif not os.environ.get("TURNBUCKLE_LOG"):
        lines.append(line("TURNBUCKLE_LOG=debug makes it say more"))
    return lines
