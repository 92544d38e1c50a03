"""`turnbuckle sessions`: look at the sessions on disk, prove them, hand them on."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import anyio
import typer

from turnbuckle.cli import stored
from turnbuckle.cli.exits import CANCELLED, NOT_RUN
from turnbuckle.cli.lines import line
from turnbuckle.cli.paper import standard_streams
from turnbuckle.cli.replay import FASTEST, replay
from turnbuckle.cli.screen import Screen
from turnbuckle.cli.stage import code_without_output, perform
from turnbuckle.config import state_dir
from turnbuckle.session.reading import Unreadable

sessions = typer.Typer(help="Look at the sessions on disk.", no_args_is_help=True)

SessionId = Annotated[str, typer.Argument(metavar="ID", help="The id, or how it begins.")]


def _stored(command: Callable[[Screen], int], *, json: bool = False) -> None:
    """Run a command that reads files and prints; nothing else goes on meanwhile."""

    def gone(error: OSError) -> None:
        raise typer.Exit(code_without_output(error))

    screen = Screen(*standard_streams(gone, json=json), status=list)
    try:
        code = command(screen)
    except Unreadable as error:
        screen.complain([line(str(error), "bad")])
        code = NOT_RUN
    except KeyboardInterrupt:
        code = CANCELLED
    raise typer.Exit(code)


@sessions.command("list")
def list_(
    search: Annotated[
        str | None,
        typer.Option(metavar="WORDS", help="Only those in which all these words were said."),
    ] = None,
) -> None:
    """Every session: id, when, title, turns, size, how it ended."""
    _stored(lambda screen: stored.list_sessions(state_dir(), screen.show, search or ""))


@sessions.command()
def show(
    session_id: SessionId,
    json: Annotated[bool, typer.Option("--json", help="The stored lines, as they are.")] = False,
) -> None:
    """What happened in a session."""

    def command(screen: Screen) -> int:
        if json:
            return stored.show_lines(state_dir(), session_id, screen.write)
        return stored.show_session(state_dir(), session_id, screen.show)

    _stored(command, json=json)


@sessions.command()
def verify(
    session_ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every session.")] = False,
) -> None:
    """Rebuild every request of a session from its log, and compare it with what was sent.

    Exit codes: 0 all are as the log says; 1 some are not; 2 a session is not there or unreadable.
    """
    if bool(session_ids) == every:
        raise typer.BadParameter("name sessions, or give --all", param_hint="ID")
    _stored(
        lambda screen: stored.verify_sessions(
            state_dir(), session_ids or [], screen.show, every=every
        )
    )


@sessions.command()
def export(
    session_id: SessionId,
    format_: Annotated[
        Literal["markdown", "json"],
        typer.Option("--format", help="For people, or for programs: every fact as it is stored."),
    ] = "markdown",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write it there, not here."),
    ] = None,
) -> None:
    """Hand a session on as a whole; of a damaged one what stands before the damage.

    Exit codes: 0 all of it was written; 1 it is damaged, or the file cannot be written; 2 it is not
    there or unreadable.
    """
    _stored(
        lambda screen: stored.export_session(state_dir(), session_id, screen, format_, output),
        json=True,
    )


@sessions.command("replay")
def replay_(
    session_id: SessionId,
    speed: Annotated[
        float, typer.Option(min=0.01, max=FASTEST, help="How many times as fast as it was.")
    ] = 1.0,
    instant: Annotated[bool, typer.Option("--instant", help="Wait for nothing.")] = False,
) -> None:
    """Play a session as it was seen live; long waits are cut short. Ctrl-C leaves.

    Exit codes: 0 it was played to its end; 1 it is damaged; 2 it is not there or unreadable.
    """
    pace = None if instant else speed
    play = partial(replay, state=state_dir(), session_id=session_id, speed=pace)
    raise typer.Exit(anyio.run(perform, play))
