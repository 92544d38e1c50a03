"""The terminal client where there is no terminal."""

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from turnbuckle.testing.terminal import ENVIRONMENT, has_ended

CLIENT = Path(__file__).with_name("client.py")
PYTHONPATH = os.pathsep.join(sys.path)


def client(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, str(CLIENT), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env={**ENVIRONMENT, "PYTHONPATH": PYTHONPATH, **environment},
        timeout=60,
    )


def test_the_answer_is_plain_text() -> None:
    done = client("ask", "hello")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Hello, here I am.\n", b"")


def test_what_the_encoding_does_not_have_is_escaped() -> None:
    done = client("ask", "greet", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == rb"Gr\xfc\xdfe, \u65e5\u672c \U0001f600" + b"\n"


def test_json_is_utf_8_whatever_the_encoding_is() -> None:
    done = client("ask", "greet", "--json", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    values = [orjson.loads(line) for line in done.stdout.splitlines()]
    said = [v["data"]["content"] for v in values if v["type"] == "assistant/message"]
    assert said == ["Grüße, 日本 😀"]


def test_what_needs_leave_is_denied_and_the_exit_code_says_so() -> None:
    done = client("ask", "run")
    assert done.returncode == 3
    assert b"rejected: there is no terminal to ask at" in done.stdout
    assert b"\x1b" not in done.stdout


def test_as_json_there_is_one_value_a_line_and_the_result_at_the_end() -> None:
    done = client("ask", "run", "--json")
    values = [orjson.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 3
    assert [value["seq"] for value in values[:-1]] == list(range(len(values) - 1))
    assert values[-1]["type"] == "turn/result"
    assert values[-1]["data"]["end"] == {"kind": "completed"}
    assert done.stderr == b""


def test_a_turn_that_fails_says_why() -> None:
    done = client("ask", "fail")
    assert done.returncode == 1
    assert b"failed: invalid api key (auth 401)" in done.stdout


def test_a_session_that_is_not_there_is_named_and_nothing_runs(tmp_path: Path) -> None:
    done = client("ask", "hello", "s-404", FAKE_PID=str(tmp_path / "pid"))
    assert done.returncode == 2
    assert b"there is no session 's-404'" in done.stderr
    assert done.stdout == b""
    assert has_ended(tmp_path / "pid")


def test_a_server_that_dies_is_told_with_its_last_words() -> None:
    done = client("ask", "die")
    assert done.returncode == 4
    assert b"the server died (exit code 3)" in done.stderr
    assert b"Fatal: the disk is on fire" in done.stderr
    assert b"turnbuckle ask --session s-1" in done.stderr
    assert done.stdout == b"One moment.\n"


def test_a_server_that_cannot_start_is_told_with_its_last_words() -> None:
    done = client("ask", "hello", FAKE_START="die")
    assert done.returncode == 4
    assert b"the server could not start (exit code 7)" in done.stderr
    assert b"ImportError: no module named anything" in done.stderr


def test_a_server_that_is_not_ours_is_not_used() -> None:
    done = client("ask", "hello", FAKE_START="stranger")
    assert done.returncode == 4
    assert b"it is no server of turnbuckle" in done.stderr


def chat(lines: bytes, state: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, str(CLIENT), "chat"],
        input=lines,
        capture_output=True,
        check=False,
        env={**ENVIRONMENT, "PYTHONPATH": PYTHONPATH, "FAKE_STATE": str(state)},
        timeout=60,
    )


def test_in_a_pipe_each_line_is_a_message_and_the_output_is_plain(tmp_path: Path) -> None:
    done = chat(b"hello\n\nedit\n", tmp_path)
    assert done.stdout.decode().splitlines()[:4] == [
        "session s-1; /help, /exit",
        "› hello",
        "",
        "Hello, here I am.",
    ]
    assert b"rejected: there is no terminal to ask at" in done.stdout
    assert b"to go on: turnbuckle chat --session s-1" in done.stdout
    assert b"\x1b" not in done.stdout
    assert done.returncode == 3
    assert not (tmp_path / "history").exists()


def test_in_a_pipe_a_backslash_goes_on_and_commands_work(tmp_path: Path) -> None:
    done = chat(b"no\\\nplay\n/help\n/exit\nhello\n", tmp_path)
    assert b"not sent: no play is called 'no\\nplay'" in done.stdout
    assert b"/sessions [WORDS]" in done.stdout
    assert b"Hello" not in done.stdout
    assert done.returncode == 0


def test_in_a_pipe_the_exit_code_is_that_of_the_last_turn(tmp_path: Path) -> None:
    assert chat(b"fail", tmp_path).returncode == 1
    assert chat(b"fail\nhello\n", tmp_path).returncode == 0
    assert chat(b"", tmp_path).returncode == 0


def test_a_chat_can_be_fed_by_a_file(tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(b"hello\n")
    with (tmp_path / "lines").open("rb") as lines:
        done = subprocess.run(
            [sys.executable, str(CLIENT), "chat"],
            stdin=lines,
            capture_output=True,
            check=False,
            env={**ENVIRONMENT, "PYTHONPATH": PYTHONPATH, "FAKE_STATE": str(tmp_path)},
            timeout=60,
        )
    assert b"Hello, here I am." in done.stdout
    assert done.returncode == 0


def test_a_reader_that_goes_away_ends_everything(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, str(CLIENT), "ask", "wait"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**ENVIRONMENT, "PYTHONPATH": PYTHONPATH, "FAKE_PID": str(tmp_path / "pid")},
    )
    with process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(60) == 141
    assert has_ended(tmp_path / "pid")


def test_much_text_in_small_pieces_arrives_whole() -> None:
    done = client("ask", "flood")
    assert done.stdout.decode().split() == [f"word-{number}" for number in range(5_000)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_output_that_finds_no_room_says_so(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, str(CLIENT), "ask", "wait"],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env={**ENVIRONMENT, "PYTHONPATH": PYTHONPATH, "FAKE_PID": str(tmp_path / "pid")},
            timeout=60,
        )
    assert done.returncode == 1
    assert b"the output cannot be written: No space left on device" in done.stderr
    assert has_ended(tmp_path / "pid")
