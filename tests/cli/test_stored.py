"""`turnbuckle sessions`, and the commands as they are called."""

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from inline_snapshot import snapshot
from typer.testing import CliRunner, Result

from turnbuckle import __version__
from turnbuckle.cli.commands import app
from turnbuckle.cli.demo import copy_workspace, find_workspace
from turnbuckle.cli.lines import plain
from turnbuckle.cli.stored import the_file, verified_lines
from turnbuckle.session.reading import Unreadable, Verified, session_files
from turnbuckle.testing.agents import driven
from turnbuckle.testing.scripted import Scripted, say


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TURNBUCKLE_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


async def talk(state: Path) -> Path:
    """Have a session of one turn, and give its file."""
    async with driven(Scripted([say("Hello.")]), state.parent) as agent:
        await agent.say("Say hello.")
        await agent.opened.session.flush()
    return session_files(state)[0]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


async def test_sessions_are_listed(state: Path) -> None:
    path = await talk(state)
    done = run("sessions", "list")
    assert done.exit_code == 0
    assert path.stem in done.stdout
    assert "Say hello." in done.stdout
    assert "1 turn" in done.stdout
    assert "completed" in done.stdout


@pytest.mark.usefixtures("state")
def test_where_there_are_no_sessions_the_list_says_so() -> None:
    done = run("sessions", "list")
    assert (done.exit_code, done.stdout.startswith("no sessions in ")) == (0, True)


async def test_a_session_is_shown_as_it_was_live(state: Path) -> None:
    path = await talk(state)
    done = run("sessions", "show", path.stem[:15])
    assert (done.exit_code, done.stdout) == (0, "› Say hello.\n\nHello.\n")


async def test_a_session_is_shown_line_by_line_as_it_is_stored(state: Path) -> None:
    path = await talk(state)
    done = run("sessions", "show", path.stem, "--json")
    assert done.stdout_bytes == path.read_bytes()


async def test_a_session_is_verified(state: Path) -> None:
    path = await talk(state)
    for arguments in ([path.stem], ["--all"]):
        done = run("sessions", "verify", *arguments)
        assert (done.exit_code, done.stdout) == (0, f"{path.stem}  1 of 1 request rebuilt\n")


async def test_a_session_that_was_changed_is_named(state: Path) -> None:
    path = await talk(state)
    path.write_bytes(path.read_bytes().replace(b"Say hello.", b"Say nothing"))
    done = run("sessions", "verify", "--all")
    assert done.exit_code == 1
    assert "0 of 1 request rebuilt" in done.stdout
    assert "request 1" in done.stdout


async def test_a_session_that_is_not_there_is_named_and_the_others_are_verified(
    state: Path,
) -> None:
    path = await talk(state)
    done = run("sessions", "verify", "s-404", path.stem)
    assert done.exit_code == 2
    assert "there is no session 's-404'" in done.stdout
    assert "1 of 1 request rebuilt" in done.stdout


@pytest.mark.usefixtures("state")
def test_showing_a_session_that_is_not_there_says_so() -> None:
    done = run("sessions", "show", "s-404")
    assert done.exit_code == 2
    assert "there is no session 's-404'" in done.stderr


def test_an_id_that_begins_two_sessions_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for name in ("s-1", "s-2"):
        (folder / f"{name}.jsonl").touch()
    with pytest.raises(Unreadable, match="2 sessions begin with 's-'"):
        the_file(tmp_path, "s-")


def test_many_differing_requests_are_named_up_to_a_bound() -> None:
    text = plain(verified_lines("s", Verified(40, tuple(range(1, 31)))))
    assert text == snapshot("""\
s  10 of 40 requests rebuilt
  not as the log says: request 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, …
""")


@pytest.mark.parametrize(
    "arguments",
    [
        ["ask"],
        ["ask", " "],
        ["ask", "x", "--cwd", "no/such/folder"],
        ["ask", "x", "--yes"],
        ["sessions", "verify"],
        ["sessions", "verify", "s", "--all"],
        ["teleport"],
    ],
)
def test_wrong_usage_exits_with_2(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


def test_the_version() -> None:
    assert run("--version").stdout == f"turnbuckle {__version__}\n"


def test_the_help_tells_the_exit_codes() -> None:
    for arguments in (["--help"], ["ask", "--help"], ["chat", "--help"]):
        text = " ".join(run(*arguments).stdout.split())
        assert "130 cancelled with Ctrl-C" in text


def test_the_demo_works_on_a_copy(tmp_path: Path) -> None:
    workspace, copy = find_workspace(), copy_workspace(tmp_path)
    assert workspace is not None
    assert copy is not None
    assert sorted(p.name for p in copy.iterdir()) == sorted(
        p.name for p in workspace.iterdir() if p.name != "__pycache__"
    )


def test_the_server_starts_without_the_terminal_client() -> None:
    loaded = subprocess.run(
        [sys.executable, "-P", "-X", "importtime", "-m", "turnbuckle", "serve", "--help"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        text=True,
    )
    assert "turnbuckle.app" in loaded.stderr
    for name in ("turnbuckle.cli", "rich", "typer"):
        assert name not in loaded.stderr


@pytest.mark.parametrize("time", [-(10**15), 0, 10**18])
def test_a_clock_that_was_far_out_hides_no_session(state: Path, time: int) -> None:
    data = {"version": 1, "id": "s-1"}
    fact = {"seq": 0, "time": time, "type": "session/created", "data": data}
    (state / "sessions").mkdir(parents=True)
    (state / "sessions" / "s-1.jsonl").write_bytes(orjson.dumps(fact) + b"\n")
    done = run("sessions", "list")
    assert (done.exit_code, "s-1" in done.output) == (0, True)
