"""The commands of `turnbuckle`."""

import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import anyio
import typer

from turnbuckle import __version__
from turnbuckle.cli import asking
from turnbuckle.cli.chat import chat as run_chat
from turnbuckle.cli.demo import demo as run_demo
from turnbuckle.cli.doctor import LIMIT
from turnbuckle.cli.doctor import doctor as run_doctor
from turnbuckle.cli.exits import HELP
from turnbuckle.cli.grants import grants
from turnbuckle.cli.pictures import pictures
from turnbuckle.cli.sessions import sessions
from turnbuckle.cli.stage import Play, own_server, perform
from turnbuckle.config import state_dir
from turnbuckle.session.codec import scrub

app = typer.Typer(
    name="turnbuckle",
    help="A coding agent inside a language server. `turnbuckle serve` is what an editor starts.",
    epilog=HELP,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(sessions, name="sessions")
app.add_typer(grants, name="grants")

Cwd = Annotated[
    Path | None,
    typer.Option(
        "--cwd",
        exists=True,
        file_okay=False,
        resolve_path=True,
        help="The folder to work in; by default this one, or that of the session.",
    ),
]
SessionId = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="Go on in this session.")
]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"turnbuckle {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Say the version."),
    ] = False,
) -> None:
    """A coding agent inside a language server."""


def _run(play: Play, *, json: bool = False, still: bool = False) -> None:
    raise typer.Exit(anyio.run(perform, play, json, still))


@app.command(epilog=HELP)
def ask(
    prompt: Annotated[str, typer.Argument(help="What to do; - reads it from standard input.")],
    cwd: Cwd = None,
    session: SessionId = None,
    image: Annotated[
        list[Path] | None,
        typer.Option("--image", metavar="FILE", help="A picture to show; may be given again."),
    ] = None,
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print the events as they come, one JSON object a line; "
            "the last one is turn/result.",
        ),
    ] = False,
) -> None:
    """Run one turn: stream the answer, show what is done, ask before anything is changed."""
    _run(
        partial(
            asking.ask,
            server=own_server(),
            cwd=_folder(cwd, session),
            session_id=session,
            prompt=_prompt(prompt),
            images=pictures(image or ()),
            json=json,
        ),
        json=json,
    )


def _folder(cwd: Path | None, session_id: str | None) -> Path | None:
    """The folder to work in; None for that of the session."""
    return cwd or (None if session_id else Path.cwd())


def _prompt(given: str) -> str:
    prompt = scrub(given if given != "-" else sys.stdin.buffer.read().decode("utf-8", "replace"))
    if not prompt.strip():
        raise typer.BadParameter("it is empty", param_hint="PROMPT")
    return prompt


@app.command(epilog=HELP)
def chat(cwd: Cwd = None, session: SessionId = None) -> None:
    """Talk: each message is a turn, and more can be typed while one runs; /help says how.

    In a pipe each line is a message. /exit or Ctrl-D leaves, Ctrl-C cancels what runs.
    """
    play = partial(
        run_chat,
        server=own_server(),
        cwd=_folder(cwd, session),
        session_id=session,
        state=state_dir(),
    )
    _run(play, still=True)


@app.command(epilog="Exit codes: 0 if the test was fixed, else as for `turnbuckle ask`.")
def demo() -> None:
    """See one real turn, offline: a failing test in a small workspace is fixed.

    It works on a copy. Where there is no terminal to ask at, everything is allowed, here only.
    """
    _run(partial(run_demo, server=own_server(), state=state_dir()))


@app.command(
    epilog="Exit codes: 0 a model answers and nothing is missing; 1 something is to be done; "
    "2 the bundle cannot be written; 4 the server could not start; 130 left with Ctrl-C."
)
def doctor(
    json: Annotated[bool, typer.Option("--json", help="Print the report as one object.")] = False,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds that the model has to answer.")
    ] = LIMIT,
    request: Annotated[
        bool, typer.Option("--request/--no-request", help="Send the model one small request.")
    ] = True,
    bundle: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write what was found to a new zip file, to go with a report of a fault.",
        ),
    ] = None,
    with_session: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Put this session into the bundle, without its secrets."),
    ] = None,
) -> None:
    """Say what is configured and where from, which model answers and how fast, what to do.

    Keys are never shown. One small request is sent to the model that would answer.
    """
    play = partial(
        run_doctor, server=own_server(), env=os.environ, limit=timeout, request=request, json=json
    )
    if bundle is not None:
        # Imported late: it is wanted rarely.
        from turnbuckle.cli.bundle import Bundle, doctor_with_bundle

        wanted = Bundle(file=bundle, env=os.environ, session_id=with_session)
        play = partial(doctor_with_bundle, **play.keywords, bundle=wanted)
    elif with_session is not None:
        raise typer.BadParameter("it goes into a bundle; give --bundle FILE", param_hint="ID")
    _run(play, json=json)
