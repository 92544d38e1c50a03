"""The same server in a real editor: Neovim, headless, driven by its own code actions."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import orjson
import pytest

from turnbuckle.session.parts import JsonObject
from turnbuckle.testing.completions import answer, chunk
from turnbuckle.testing.modelserver import ModelServer, Play, Received, Response

SCENARIOS = Path(__file__).parent / "neovim"
NVIM = shutil.which("nvim", path=Path(sys.executable).parent) or shutil.which("nvim")
LIMIT = 60
"""Seconds after which an editor that does not end is killed."""

CODE = "def f():\n    return 1/0\n"
TWO_PLACES = "def f():\n    return 1/0\n\n\n\n\ndef g():\n    return 2/0\n"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The folder that the editor works in."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


async def drive(scenario: str, work: Path, *script: Play) -> list[Received]:
    """Run a scenario against a scripted model; what the model was asked."""
    assert NVIM is not None, "Neovim is not installed: pip install -e '.[dev]'"
    argv = [NVIM, "--headless", "-u", "NONE", "-i", "NONE", "-n"]
    argv += ["-c", f"luafile {SCENARIOS / scenario}.lua"]
    async with ModelServer(script) as model:
        env = environment(work.parent) | {"TURNBUCKLE_BASE_URL": model.url}
        process = await anyio.open_process(
            argv, cwd=work, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        said = b""
        async with process:
            with anyio.move_on_after(LIMIT):
                assert process.stderr is not None
                said = b"".join([part async for part in process.stderr])
                await process.wait()
            if process.returncode is None:
                process.kill()
        if process.returncode != 0:
            pytest.fail(f"{scenario}: {process.returncode}\n{said.decode(errors='replace')}")
        return model.requests


def environment(home: Path) -> dict[str, str]:
    """What an editor and its server may see; nothing of whoever runs the tests."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("TURNBUCKLE_")}
    places = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    return own | {
        **{name: str(home / "nvim") for name in places},
        "DRIVER": str(SCENARIOS / "driver.lua"),
        "PYTHON": sys.executable,
        "TURNBUCKLE_STATE_DIR": str(home / "state"),
        "TURNBUCKLE_CONFIG": str(home / "no-config.toml"),
        "TURNBUCKLE_API_KEY": "key-of-the-tests",
        "TURNBUCKLE_MODEL": "played",
    }


def stored(work: Path) -> list[JsonObject]:
    """The facts of all sessions, as they stand on disk."""
    files = (work.parent / "state" / "sessions").glob("**/*.jsonl")
    return [orjson.loads(line) for file in files for line in file.read_bytes().splitlines()]


def facts(work: Path, type_: str) -> list[JsonObject]:
    """The data of all stored facts of a type."""
    return [fact["data"] for fact in stored(work) if fact["type"] == type_]


def messages(request: Received) -> list[JsonObject]:
    """The conversation that the model was shown."""
    shown: list[JsonObject] = request.json["messages"]
    return shown


def edit(*edits: tuple[str, str]) -> Play:
    """The model edits the file, piece by piece."""
    pieces = [{"old": old, "new": new} for old, new in edits]
    return answer("", ("2", "edit_file", {"path": "code.py", "edits": pieces}))


READ = answer("", ("1", "read_file", {"path": "code.py"}))


async def test_a_code_action_asks_streams_progress_and_shows_the_answer(work: Path) -> None:
    (work / "code.py").write_text(CODE)
    look = answer("", ("1", "list_files", {}))
    first, _ = await drive("ask", work, look, answer("It divides by zero."))
    pointed = [message["content"] for message in messages(first) if message["role"] == "user"]
    assert any("code.py, line 2:\n\nreturn 1/0" in content for content in pointed)


async def test_an_edit_that_is_allowed_changes_the_buffer_in_one_undo_step(work: Path) -> None:
    (work / "code.py").write_text(TWO_PLACES)
    mend = edit(("1/0", "1"), ("2/0", "2"))
    _, second, third = await drive("allow", work, READ, mend, answer("Mended."))
    assert "typed, not saved" in messages(second)[-1]["content"]
    assert messages(third)[-1]["content"].startswith("Changed code.py in 2 places")
    assert [applied["outcome"] for applied in facts(work, "edit/applied")] == ["applied"]


async def test_an_edit_that_is_rejected_or_dismissed_changes_nothing(work: Path) -> None:
    (work / "code.py").write_text(CODE)
    mend = edit(("1/0", "1"))
    again = edit(("1/0", "2"))
    said = answer("As you like.")
    asked = await drive("refuse", work, READ, mend, said, again, said)
    for request in (asked[2], asked[4]):
        assert "the person said no" in messages(request)[-1]["content"]
    assert [one["outcome"] for one in facts(work, "approval/decided")] == ["rejected"] * 2
    assert facts(work, "edit/applying") == []
    assert (work / "code.py").read_text() == CODE


async def test_a_turn_is_cancelled_by_its_progress_and_by_its_request(work: Path) -> None:
    (work / "code.py").write_text(CODE)
    endless = Response(chunks=(chunk({"content": "Words without"}),), end="hang")

    def play(request: Received) -> Response:
        return answer("Short.") if messages(request)[-1]["content"] == "Be short" else endless

    # A turn that is cancelled early enough never asks the model.
    *cancelled, _ = await drive("cancel", work, play, play, play)
    assert all(request.closed.is_set() for request in cancelled)
    ends = [end["end"]["kind"] for end in facts(work, "turn/end")]
    assert sorted(ends) == ["aborted", "aborted", "completed"]


async def test_a_client_that_shows_events_answers_an_approval_by_a_request(work: Path) -> None:
    (work / "code.py").write_text(CODE)
    run = answer("", ("1", "run_command", {"command": "echo ran > ran"}))
    await drive("approve", work, run, answer("It ran."))
    assert [one["by"] for one in facts(work, "approval/decided")] == ["client"]


async def test_what_is_typed_while_an_edit_arrives_stays_and_the_model_hears_the_truth(
    work: Path,
) -> None:
    (work / "code.py").write_text(CODE)
    *_, last = await drive("typing", work, READ, edit(("1/0", "1")), answer("So be it."))
    [outcome] = [applied["outcome"] for applied in facts(work, "edit/applied")]
    told = messages(last)[-1]["content"]
    typed = "# typed again\n# typed\n"
    if outcome == "applied":  # what was typed was told before the edit was sent
        assert told.startswith("Changed code.py in 1 place")
        assert (work / "seen.txt").read_text() == typed + CODE.replace("1/0", "1")
    else:
        assert outcome == "unverified"
        assert told.startswith("<tool error: code.py: the edit was sent")
        assert (work / "seen.txt").read_text() == typed + CODE


async def test_places_are_reviewed_where_they_stand_and_undo_is_noticed(work: Path) -> None:
    (work / "code.py").write_text(TWO_PLACES)
    mend = edit(("1/0", "1"), ("2/0", "2"))
    *_, last = await drive("review", work, READ, mend, answer("I see."))
    told = [message["content"] for message in messages(last)[-2:]]
    assert "in 1 of 2 places" in told[0]
    assert told[1].startswith("The person undid your change of code.py in a place:")
    assert [one["by"] for one in facts(work, "edit/undone")] == ["person"]
