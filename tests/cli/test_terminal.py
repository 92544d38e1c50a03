"""The terminal client on a real terminal, with a server that plays its part."""

import os
import re
import signal
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("needs pseudo-terminals", allow_module_level=True)

from turnbuckle.testing.terminal import ENVIRONMENT, Terminal, has_ended

CLIENT = Path(__file__).with_name("client.py")


def client(*arguments: str, output: int = -1, **environment: str) -> Terminal:
    argv = (sys.executable, str(CLIENT), *arguments)
    return Terminal(
        argv,
        env={**ENVIRONMENT, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        output=output,
    )


def test_a_question_is_answered_and_the_terminal_is_as_before() -> None:
    with client("ask", "run") as terminal:
        terminal.until("Allow once?")
        assert not terminal.echoes()
        terminal.send("y\n")
        terminal.until("They pass.")
        assert terminal.end() == 0


def test_what_is_typed_shows_while_it_is_typed() -> None:
    with client("ask", "run") as terminal:
        terminal.until("Allow once?")
        terminal.send("nein")
        terminal.until("with a note nein▌")
        terminal.send("\x15n\r")
        terminal.until("I may not.")
        assert terminal.end() == 0


def test_what_goes_on_shows_with_its_time() -> None:
    with client("ask", "wait") as terminal:
        terminal.until("writing  ")
        terminal.until(re.compile(r"writing  (?!0\.0)\d+\.\d s"))
        terminal.send("\x03")
        assert terminal.end() == 130


def test_ctrl_c_cancels_the_turn_and_the_server_ends(tmp_path: Path) -> None:
    with client("ask", "wait", FAKE_PID=str(tmp_path / "pid")) as terminal:
        terminal.until("Let me")
        terminal.send("\x03")
        terminal.until("cancelled")
        assert terminal.end() == 130
    assert has_ended(tmp_path / "pid")


def test_ctrl_c_works_while_a_question_waits() -> None:
    with client("ask", "run") as terminal:
        terminal.until("Allow once?")
        terminal.send("\x03")
        terminal.until("cancelled")
        assert terminal.end() == 130


def test_a_second_ctrl_c_leaves_though_the_server_is_deaf(tmp_path: Path) -> None:
    with client("ask", "deaf", FAKE_PID=str(tmp_path / "pid")) as terminal:
        terminal.until("asking fake")
        terminal.send("\x03")
        terminal.until("cancelling; Ctrl-C again leaves at once")
        terminal.send("\x03")
        terminal.until("left; the server was ended")
        assert terminal.end() == 130
    assert has_ended(tmp_path / "pid")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_server_too_and_leaves_the_terminal_as_before(
    number: int, tmp_path: Path
) -> None:
    with client("ask", "wait", FAKE_PID=str(tmp_path / "pid")) as terminal:
        terminal.until("Let me")
        terminal.signal(number)
        assert terminal.end() == 128 + number
    assert has_ended(tmp_path / "pid")


def test_a_terminal_that_is_closed_ends_the_server_too(tmp_path: Path) -> None:
    with client("ask", "run", FAKE_PID=str(tmp_path / "pid")) as terminal:
        terminal.until("Allow once?")
        terminal.hang_up()
        assert terminal.end() in (128 + signal.SIGHUP, 128 + signal.SIGPIPE)
    assert has_ended(tmp_path / "pid")


def test_a_server_that_dies_is_reported_with_its_last_words() -> None:
    with client("ask", "die") as terminal:
        terminal.until('to go on: turnbuckle ask --session s-1 "..."')
        assert terminal.end() == 4


def test_without_colours_there_are_none() -> None:
    with client("ask", "fail", NO_COLOR="1") as terminal:
        assert terminal.end() == 1
        assert "invalid api key" in terminal.text
        assert b"\x1b[31m" not in terminal.raw
    with client("ask", "fail") as terminal:
        assert terminal.end() == 1
        assert b"\x1b[31m" in terminal.raw


def test_a_dumb_terminal_gets_lines_and_questions() -> None:
    with client("ask", "run", TERM="dumb") as terminal:
        terminal.until("Allow once?")
        terminal.send("y\n")
        terminal.until("They pass.")
        assert terminal.end() == 0
        assert b"\x1b[" not in terminal.raw


def test_questions_come_to_the_terminal_when_the_answer_goes_into_a_file(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as file:
        terminal = client("ask", "run", "--json", output=file.fileno())
    with terminal:
        terminal.until("Allow once?")
        terminal.send("y\n")
        assert terminal.end() == 0
    out = (tmp_path / "out").read_bytes()
    assert out.splitlines()[-1].startswith(b'{"type":"turn/result","data":{"sessionId":"s-1"')
    assert b"\x1b[" not in out
