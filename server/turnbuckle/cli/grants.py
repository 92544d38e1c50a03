"""`turnbuckle grants`: what is allowed for a session without a question, and taking it back."""

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import anyio
import typer
from anyio import to_thread

from turnbuckle.agent.grants import Grant, Grants
from turnbuckle.cli.exits import COMPLETED, ENDED_OTHERWISE
from turnbuckle.cli.lines import Line, line
from turnbuckle.cli.stage import Stage, own_server, perform
from turnbuckle.cli.subjects import grant_words
from turnbuckle.cli.talk import Server, talking
from turnbuckle.cli.visible import exact_name
from turnbuckle.config import state_dir
from turnbuckle.lsp.lives import GrantsRevokeParams, GrantsRevokeResult
from turnbuckle.lsp.names import GRANTS_REVOKE
from turnbuckle.session.events import SessionCreated
from turnbuckle.session.reading import Unreadable, find_files, load, session_files

grants = typer.Typer(
    help="See what is allowed for a session without a question, and take it back.",
    no_args_is_help=True,
)

MARK = b'"grant/added"'
"""What the file of a session holds in which something was granted."""


@grants.command("list")
def list_(
    session_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="One session: its id, or how it begins.")
    ] = None,
) -> None:
    """What is allowed, by session: the id of each grant, and what it is good for."""
    raise typer.Exit(anyio.run(perform, partial(_list, state=state_dir(), session_id=session_id)))


@grants.command(epilog="Exit codes: 0 it is taken back; 1 it held no longer.")
def revoke(
    session_id: Annotated[str, typer.Argument(metavar="ID", help="The session.")],
    grant_id: Annotated[
        str, typer.Argument(metavar="GRANT", help="The grant, as `list` names it.")
    ],
) -> None:
    """Ask about it again from now on."""
    play = partial(_revoke, server=own_server(), session_id=session_id, grant_id=grant_id)
    raise typer.Exit(anyio.run(perform, play))


async def _list(stage: Stage, *, state: Path, session_id: str | None) -> int:
    files = session_files(state) if session_id is None else find_files(state, session_id)
    found = await to_thread.run_sync(lambda: [row for file in files for row in _rows(file)])
    stage.screen.show(found or [line("nothing is allowed without a question", "dim")])
    return COMPLETED


async def _revoke(stage: Stage, *, server: Server, session_id: str, grant_id: str) -> int:
    async with talking(
        server, cwd=None, session_id=session_id, seen=lambda _: None, leave=stage.leave
    ) as talk:
        params = GrantsRevokeParams(session_id=session_id, grant_id=grant_id)
        result = await talk.client.request(GRANTS_REVOKE, params)
    assert isinstance(result, GrantsRevokeResult)
    said = "it is asked about again" if result.revoked else "no such grant holds in that session"
    stage.screen.show([line(said, "" if result.revoked else "warn")])
    return COMPLETED if result.revoked else ENDED_OTHERWISE


def _rows(file: Path) -> Iterator[Line]:
    try:
        if MARK not in file.read_bytes():
            return
        entries = load(file).entries
    except (OSError, Unreadable):
        return
    first = entries[0].fact if entries else None
    cwd = first.cwd if isinstance(first, SessionCreated) else None
    held = Grants().follow(entries)
    if held:
        yield line(file.stem, "strong")
    for grant in held:
        yield _row(grant, cwd)


def _row(grant: Grant, cwd: str | None) -> Line:
    since = datetime.fromtimestamp(grant.since / 1000).astimezone()
    return (
        (f"  {exact_name(grant.grant_id)}  ", "dim"),
        (grant_words(grant.subject, cwd), ""),
        (f"  since {since:%Y-%m-%d %H:%M}", "dim"),
    )
