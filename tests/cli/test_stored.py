"""`turnbuckle sessions`, and the commands as they are called."""

import os
import re
import subprocess
import sys
from pathlib import Path

import anyio
import orjson
import pytest
from inline_snapshot import snapshot
from typer.testing import CliRunner, Result

from turnbuckle import __version__
from turnbuckle.cli.commands import app
from turnbuckle.cli.demo import copy_workspace, find_workspace
from turnbuckle.cli.lines import plain
from turnbuckle.cli.replay import LONGEST, timed
from turnbuckle.cli.stored import the_file, verified_lines
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import TurnStart
from turnbuckle.session.reading import Unreadable, session_files
from turnbuckle.session.verification import Difference, Verified
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
    assert "not as the log says: request 1\n" in done.stdout
    assert re.search(r"line \d+: request 1 is not what was sent; most likely", done.stdout)


async def test_a_session_from_which_a_line_was_taken_is_named(state: Path) -> None:
    path = await talk(state)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2] + lines[3:]))
    done = run("sessions", "verify", path.stem)
    assert done.exit_code == 1
    assert "line 3: fact 3 stands where fact 2 was due: lines are missing before it" in done.stdout


async def test_a_session_that_cannot_be_read_is_named(state: Path) -> None:
    path = await talk(state)
    path.write_bytes(path.read_bytes() + b"garbage\n")
    done = run("sessions", "verify", path.stem)
    assert done.exit_code == 2
    assert "is damaged" in done.stdout


async def test_the_worst_of_many_is_the_exit_code(state: Path) -> None:
    path = await talk(state)
    path.with_name("20200101-000000-00000000.jsonl").write_bytes(b"garbage\n")
    done = run("sessions", "verify", "--all")
    assert done.exit_code == 2
    assert "1 of 1 request rebuilt" in done.stdout


async def test_words_are_looked_for(state: Path) -> None:
    path = await talk(state)
    done = run("sessions", "list", "--search", "HELLO say")
    assert done.exit_code == 0
    assert path.stem in done.stdout
    assert "› Say hello." in done.stdout
    done = run("sessions", "list", "--search", "nothing")
    assert (done.exit_code, done.stdout[:35]) == (0, "no sessions that hold 'nothing' in ")


# Handed on.


async def test_a_session_is_exported_for_people(state: Path) -> None:
    path = await talk(state)
    done = run("sessions", "export", path.stem[:15])
    assert done.exit_code == 0
    assert done.stdout.startswith("# Say hello.\n\n- session `")
    assert "> Say hello.\n\nHello.\n\n*completed*\n" in done.stdout


async def test_a_session_is_exported_for_programs_into_a_file(state: Path, tmp_path: Path) -> None:
    path, target = await talk(state), tmp_path / "out.json"
    target.write_text("something that stood there")
    done = run("sessions", "export", path.stem, "--format", "json", "-o", str(target))
    assert (done.exit_code, done.output) == (0, "")
    whole = orjson.loads(target.read_bytes())
    assert whole["events"] == [orjson.loads(one) for one in path.read_bytes().splitlines()]
    assert [one.name for one in tmp_path.iterdir() if "out" in one.name] == ["out.json"]


async def test_a_damaged_session_is_exported_up_to_the_damage(state: Path) -> None:
    path = await talk(state)
    path.write_bytes(path.read_bytes() + b"garbage\n")
    done = run("sessions", "export", path.stem)
    assert done.exit_code == 1
    assert "Hello.\n\n*completed*\n\n*The session's file is damaged" in done.stdout
    assert "the rest is missing: line " in done.stderr
    done = run("sessions", "export", path.stem, "--format", "json")
    assert done.exit_code == 1
    assert orjson.loads(done.stdout)["damaged"].startswith("line ")


async def test_a_file_that_cannot_be_written_is_named(state: Path, tmp_path: Path) -> None:
    path = await talk(state)
    for target in (tmp_path / "no" / "out.md", tmp_path):
        done = run("sessions", "export", path.stem, "-o", str(target))
        assert done.exit_code == 1
        assert "cannot be written" in done.stderr
    assert not list(tmp_path.parent.glob(f".{tmp_path.name}*"))


@pytest.mark.usefixtures("state")
@pytest.mark.parametrize("command", ["export", "replay"])
def test_a_session_that_is_not_there_is_not_handed_on(command: str) -> None:
    done = run("sessions", command, "s-404")
    assert done.exit_code == 2
    assert "there is no session 's-404'" in done.stderr


# Played.


def test_a_session_is_played_as_it_was_live(state: Path) -> None:
    path = anyio.run(talk, state)
    for how in (["--instant"], ["--speed", "1000000"]):
        done = run("sessions", "replay", path.stem, *how)
        assert (done.exit_code, done.stdout) == (0, "› Say hello.\n\nHello.\n")


def test_a_damaged_session_is_played_up_to_the_damage(state: Path) -> None:
    path = anyio.run(talk, state)
    path.write_bytes(path.read_bytes() + b"garbage\n")
    done = run("sessions", "replay", path.stem, "--instant")
    assert (done.exit_code, done.stdout) == (1, "› Say hello.\n\nHello.\n")
    assert "is damaged" in done.stderr


def test_waits_are_as_they_were_but_not_longer_than_a_moment() -> None:
    times = [5_000, 5_100, 5_100, 4_000, 900_000]
    entries = [Entry(n, time, TurnStart(turn=1)) for n, time in enumerate(times)]
    assert [wait for _, wait in timed(entries)] == [0, 0.1, 0, 0, LONGEST]


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
    first = Difference(7, "this was changed")
    text = plain(verified_lines("s", Verified(40, tuple(range(1, 31)), first)))
    assert text == snapshot("""\
s  10 of 40 requests rebuilt
  not as the log says: request 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, …
  line 7: this was changed
""")


@pytest.mark.parametrize(
    "arguments",
    [
        ["ask"],
        ["ask", " "],
        ["ask", "x", "--cwd", "no/such/folder"],
        ["ask", "x", "--yes"],
        ["sessions", "verify"],
        ["sessions", "export", "s", "--format", "pdf"],
        ["sessions", "replay", "s", "--speed", "0"],
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
