"""The bundle for a report of a fault: what it holds, and above all what it does not."""

import os
import stat
import sys
import zipfile
from pathlib import Path

import anyio
import orjson
import pytest

from turnbuckle.testing.completions import answer, failure
from turnbuckle.testing.modelserver import ModelServer
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import served
from turnbuckle.testing.terminal import ENVIRONMENT

KEY = "sk-CANARY-7f3a"
TOKEN = "ghp" + "_" + "Ab3dE5gH1jK2mN4pQ6rS7tU8vW9xY0zA1bC2"
PROMPT = "the-prompt-of-the-person"


class Done:
    """How a doctor ended, what it said, and its bundle."""

    def __init__(self, code: int, out: str, err: str, file: Path) -> None:
        self.code, self.out, self.err = code, out, err
        self.members: dict[str, str] = {}
        if file.exists() and zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                self.members = {n: archive.read(n).decode() for n in archive.namelist()}


async def doctor(folder: Path, *options: str, **env: str) -> Done:
    file = folder / "report.zip"
    done = await anyio.run_process(
        [sys.executable, "-P", "-m", "turnbuckle", "doctor", "--bundle", str(file), *options],
        check=False,
        env={
            **ENVIRONMENT,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TURNBUCKLE_STATE_DIR": str(folder / "state"),
            "TURNBUCKLE_CONFIG": str(folder / "config.toml"),
            "TURNBUCKLE_DISCOVER": "false",
            "HOME": str(folder / "home-of-me"),
            **env,
        },
        cwd=folder,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode(), file)


async def a_session(folder: Path, said: str) -> str:
    """A session on disk in which this was said, whatever it is; gives its id."""
    (folder / "config.toml").write_text("redact = false\n")
    async with served(Scripted([say(f"answer: {said}")]), folder) as server:
        session_id = await server.open()
        await server.turn(session_id, f"{PROMPT} {said} {folder / 'home-of-me' / 'x'}")
    return session_id


def whole(done: Done) -> str:
    return "\n".join((*done.members, *done.members.values(), done.out, done.err))


async def test_it_holds_what_helps_and_says_what_that_is(tmp_path: Path) -> None:
    session_id = await a_session(tmp_path, "hello")
    async with ModelServer([answer("ready")]) as server:
        env = {"TURNBUCKLE_BASE_URL": server.url, "TURNBUCKLE_MODEL": "m"}
        done = await doctor(tmp_path, **env)
    assert done.code == 0, done.err
    names = ["about.txt", "report.json", "system.json", "server.log", "sessions.json"]
    assert list(done.members) == names
    for name in names[1:]:
        assert name in done.members["about.txt"]
    for name in names:
        assert name in done.out
    report = orjson.loads(done.members["report.json"])
    (model,) = [one for one in report["config"]["settings"] if one["name"] == "model.name"]
    assert model == {"name": "model.name", "value": '"m"', "source": "TURNBUCKLE_MODEL"}
    (shape,) = orjson.loads(done.members["sessions.json"])
    assert (shape["session"], shape["turns"], shape["lastEnd"]) == (session_id, 1, "completed")
    assert shape["facts"]["user/message"] == 1
    assert "DEBUG" in done.members["server.log"]
    assert "pydantic" in orjson.loads(done.members["system.json"])["packages"]
    assert PROMPT not in whole(done)
    assert stat.S_IMODE((tmp_path / "report.zip").stat().st_mode) & 0o077 == 0 or os.name == "nt"


@pytest.mark.parametrize(
    "env",
    [
        {"TURNBUCKLE_API_KEY": KEY, "OPENAI_API_KEY": KEY, "GH_TOKEN": KEY},
        {"TURNBUCKLE_BASE_URL": f"http://me:{KEY}@127.0.0.1:PORT/v1"},
        {
            "TURNBUCKLE_BASE_URL": f"http://127.0.0.1:PORT/v1?sig={KEY}",
            "HTTP_PROXY": f"http://me:{KEY}@127.0.0.1:PORT",
        },
        {"TURNBUCKLE_MAX_STEPS": KEY, "TURNBUCKLE_MODEL": KEY},
    ],
    ids=lambda env: " ".join(env),
)
async def test_no_key_is_in_it_however_it_came(env: dict[str, str], tmp_path: Path) -> None:
    session_id = await a_session(tmp_path, f"my token is {TOKEN}, my key {KEY}")
    (tmp_path / "config.toml").write_text(
        f'approvals.commands.allow = ["curl -H {TOKEN}"]\nplugins = ["/nowhere/{TOKEN}.py"]\n'
    )
    async with ModelServer([failure(401, {"message": f"not {KEY}"})] * 3) as server:
        port = server.url.rpartition(":")[2].partition("/")[0]
        given = {name: value.replace("PORT", port) for name, value in env.items()}
        base = {"TURNBUCKLE_BASE_URL": server.url, "TURNBUCKLE_MODEL": "m"}
        known = {"MY_OTHER_KEY": KEY}  # what a session holds of it can only be known by its text
        done = await doctor(tmp_path, "--with-session", session_id, **base | known | given)
    assert done.code in (1, 0), done.err
    assert f"{session_id}.jsonl" in done.members
    assert [one for one in (KEY, TOKEN) if one in "\n".join(done.members.values())] == []
    assert "[redacted: GitHub token]" in done.members[f"{session_id}.jsonl"]
    assert PROMPT in done.members[f"{session_id}.jsonl"]
    assert "home-of-me" not in "\n".join(done.members.values())


async def test_nothing_is_overwritten_and_nothing_is_run_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "report.zip").write_text("mine")
    done = await doctor(tmp_path)
    assert (done.code, (tmp_path / "report.zip").read_text()) == (2, "mine")
    assert "is there already" in done.err
    assert done.out == ""
    (tmp_path / "report.zip").unlink()
    (tmp_path / "report.zip").symlink_to(tmp_path / "elsewhere")
    assert (await doctor(tmp_path)).code == 2
    assert not (tmp_path / "elsewhere").exists()
    (tmp_path / "report.zip").unlink()
    done = await doctor(tmp_path, "--with-session", "nope")
    assert (done.code, done.members) == (2, {})
    assert "there is no session" in done.err


async def test_a_damaged_session_and_wrong_settings_stop_no_report(tmp_path: Path) -> None:
    session_id = await a_session(tmp_path, "hello")
    (file,) = (tmp_path / "state").rglob("*.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:3]) + b'{"seq":3,"' + PROMPT.encode() + b"\n")
    (tmp_path / "config.toml").write_text(f'max_steps = "{PROMPT}"\n')
    done = await doctor(tmp_path, "--json", "--with-session", session_id)
    assert done.code == 1, done.err
    (shape,) = orjson.loads(done.members["sessions.json"])
    assert shape["damaged"] is True
    assert orjson.loads(done.out)["config"]["faults"]
    assert PROMPT not in done.members["report.json"] + done.members["sessions.json"]
    assert "report.json" in done.err
