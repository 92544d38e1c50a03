"""The demo: one real turn of the real server."""

import os
import re
import subprocess
import sys
from pathlib import Path

import orjson

from turnbuckle.cli.demo import find_workspace
from turnbuckle.session.reading import outline, session_files
from turnbuckle.testing.terminal import ENVIRONMENT, Terminal

ARGV = (sys.executable, "-P", "-m", "turnbuckle")


def environment(tmp_path: Path) -> dict[str, str]:
    return {
        **ENVIRONMENT,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TURNBUCKLE_STATE_DIR": str(tmp_path / "state"),
        "TURNBUCKLE_CONFIG": str(tmp_path / "none.toml"),
        "TURNBUCKLE_MODEL": "demo",
        "TMPDIR": str(tmp_path),
    }


def turnbuckle(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ARGV, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env=environment(tmp_path),
        cwd=tmp_path,
        encoding="utf-8",
        timeout=100,
    )


def last_end(tmp_path: Path) -> str | None:
    (path,) = session_files(tmp_path / "state")
    return outline(path).end


def test_without_a_terminal_the_demo_fixes_the_test_and_proves_its_log(tmp_path: Path) -> None:
    workspace = find_workspace()
    assert workspace is not None
    before = {path: path.read_bytes() for path in workspace.rglob("*.py")}
    done = turnbuckle(tmp_path, "demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert "no terminal to ask at: the demo allows it" in done.stdout
    assert re.search(r"files changed: pricing/\w+\.py \+1 -1", done.stdout)
    proven = re.search(r"verified: +(\d+) of (\d+) requests rebuilt from the log", done.stdout)
    assert proven is not None
    assert proven[1] == proven[2] != "0"
    assert str(session_files(tmp_path / "state")[0]) in done.stdout
    assert before == {path: path.read_bytes() for path in workspace.rglob("*.py")}
    (copy,) = tmp_path.glob("turnbuckle-demo-*/workspace")
    tests = subprocess.run([sys.executable, "-m", "unittest", "-q"], cwd=copy, check=False)
    assert tests.returncode == 0
    verified = turnbuckle(tmp_path, "sessions", "verify", "--all")
    assert (verified.returncode, f"{proven[1]} of {proven[2]}" in verified.stdout) == (0, True)


if sys.platform != "win32":

    def test_a_demo_whose_change_is_refused_has_fixed_nothing(tmp_path: Path) -> None:
        with Terminal((*ARGV, "demo"), env=environment(tmp_path), columns=100) as terminal:
            terminal.until("Allow once?")
            terminal.send("y\n")
            terminal.until("The agent wants to change files")
            terminal.until("Allow once?")
            terminal.send("n\n")
            terminal.until("files changed: none")
            terminal.until("The test is not fixed.")
            assert terminal.end() == 1

    def test_a_cancelled_demo_leaves_a_log_that_is_whole(tmp_path: Path) -> None:
        with Terminal((*ARGV, "demo"), env=environment(tmp_path), columns=100) as terminal:
            terminal.until("Allow once?")
            terminal.send("\x03")
            terminal.until("cancelled")
            assert terminal.end() == 130
        assert last_end(tmp_path) == "aborted"
        assert turnbuckle(tmp_path, "sessions", "verify", "--all").returncode == 0


def test_a_session_can_be_gone_on_with(tmp_path: Path) -> None:
    first = turnbuckle(tmp_path, "ask", "What are you?", "--json")
    result = orjson.loads(first.stdout.splitlines()[-1])
    session_id = result["data"]["sessionId"]
    second = turnbuckle(tmp_path, "ask", "And again?", "--session", session_id)
    assert "demo model" in second.stdout
    (path,) = session_files(tmp_path / "state")
    assert (path.stem, outline(path).turns) == (session_id, 2)


def test_a_prompt_can_come_from_standard_input(tmp_path: Path) -> None:
    done = subprocess.run(
        [*ARGV, "ask", "-", "--json"],
        input=b"What are you?\nTell me.\n",
        capture_output=True,
        check=False,
        env=environment(tmp_path),
        timeout=100,
    )
    sent = [e for e in map(orjson.loads, done.stdout.splitlines()) if e["type"] == "user/message"]
    assert sent[0]["data"]["content"] == "What are you?\nTell me.\n"
