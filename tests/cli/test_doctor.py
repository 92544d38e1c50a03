"""The doctor: what is configured, which model answers, what is missing, what to do."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest
from inline_snapshot import snapshot

from turnbuckle.cli.checkup import Checkup, Setting, Variable, examine, state_problem
from turnbuckle.cli.lines import plain
from turnbuckle.cli.report import (
    Answer,
    Report,
    answer_lines,
    as_json,
    checkup_lines,
    models_lines,
)
from turnbuckle.lsp.choosing import ModelEntry, ModelsResult, ProviderEntry
from turnbuckle.testing.completions import answer, failure
from turnbuckle.testing.modelserver import ModelServer, Response
from turnbuckle.testing.terminal import ENVIRONMENT

SECRET = "sk-canary-0123456789"
JSON = {"content-type": "application/json"}

# Runs the doctor on a server that is no server of ours, or none at all.
ON_ANOTHER = """
import os, sys, anyio
from functools import partial
from turnbuckle.cli.doctor import doctor
from turnbuckle.cli.stage import perform
from turnbuckle.cli.talk import Server
server = Server(argv=(sys.executable, *sys.argv[1:]))
sys.exit(anyio.run(perform, partial(doctor, server=server, env=os.environ)))
"""


class Done:
    """How a doctor ended, and what it said."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:  # Any: JSON
        return orjson.loads(self.out)


async def run(folder: Path, *argv: str, **env: str) -> Done:
    done = await anyio.run_process(
        [sys.executable, "-P", *argv],
        check=False,
        env={
            **ENVIRONMENT,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TURNBUCKLE_STATE_DIR": str(folder / "state"),
            "TURNBUCKLE_CONFIG": str(folder / "config.toml"),
            "TURNBUCKLE_DISCOVER": "false",
            **env,
        },
        cwd=folder,
    )
    said = Done(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert SECRET not in said.out + said.err
    assert "Traceback" not in said.out + said.err
    assert not (folder / "state").exists()
    return said


async def doctor(folder: Path, *options: str, **env: str) -> Done:
    return await run(folder, "-m", "turnbuckle", "doctor", *options, **env)


def at(server: ModelServer) -> dict[str, str]:
    return {
        "TURNBUCKLE_MODEL": "m",
        "TURNBUCKLE_BASE_URL": server.url,
        "TURNBUCKLE_API_KEY": SECRET,
    }


async def test_a_model_that_answers_leaves_nothing_to_do(tmp_path: Path) -> None:
    async with ModelServer([answer("ready")]) as server:
        done = await doctor(tmp_path, **at(server))
        assert len(server.requests) == 1
    assert (done.code, done.err) == (0, "")
    assert "✓ m began to answer after 0." in done.out
    assert "Nothing has to be done." in done.out
    assert "TURNBUCKLE_API_KEY is set" in done.out
    assert 'model.name     = "m"  from TURNBUCKLE_MODEL' in done.out


async def test_as_json_it_is_one_object(tmp_path: Path) -> None:
    async with ModelServer([answer("ready")]) as server:
        done = await doctor(tmp_path, "--json", **at(server))
    report = done.json
    assert (report["ok"], report["todo"], report["config"]["faults"]) == (True, [], [])
    assert report["answer"]["total"] >= report["answer"]["firstText"] > 0
    assert report["models"][0]["name"] == "m"
    assert {"variable": "TURNBUCKLE_API_KEY", "set": True} in report["keys"]


async def test_it_lists_the_plugins_of_the_configuration_and_says_whether_they_load(
    tmp_path: Path,
) -> None:
    (tmp_path / "good.py").write_text("print('hello')\ndef install(ctx):\n    pass\n")
    (tmp_path / "bad.py").write_text("def install(ctx)\n")
    config = tmp_path / "other.toml"
    config.write_text("plugins = ['good.py', 'bad.py', 'gone/gone.py']")
    async with ModelServer([answer("ready")] * 2) as server:
        where = at(server) | {"TURNBUCKLE_CONFIG": str(config)}
        done = await doctor(tmp_path, **where)
        bare = await doctor(tmp_path, "--json", **where)
    assert done.code == bare.code == 1
    assert "plugins\n  ✓ good.py\n  ✗ bad.py\n  ✗ gone/gone.py\n" in done.out
    assert "1. Plugin bad.py: SyntaxError: expected ':' (bad.py, line 1)\n" in done.out
    assert "2. Plugin gone/gone.py: there is no such file" in done.out
    assert [one["plugin"] for one in bare.json["plugins"]] == ["good.py", "bad.py", "gone/gone.py"]
    assert [one.get("problem") is None for one in bare.json["plugins"]] == [True, False, False]


async def test_without_a_request_no_model_is_asked(tmp_path: Path) -> None:
    async with ModelServer() as server:
        done = await doctor(tmp_path, "--no-request", **at(server))
        assert server.requests == []
    assert done.code == 0


async def test_a_model_that_calls_a_tool_has_answered_and_runs_none(tmp_path: Path) -> None:
    async with ModelServer([answer("", ("1", "list_files", {}))] * 3) as server:
        done = await doctor(tmp_path, **at(server))
    assert done.code == 0


async def test_without_a_model_it_says_how_to_connect_one(tmp_path: Path) -> None:
    done = await doctor(tmp_path)
    assert done.code == 1
    assert "No real model is connected. Set the key of a provider (OPENAI_API_KEY," in done.out


async def test_the_demo_model_is_fine_where_it_is_wanted(tmp_path: Path) -> None:
    done = await doctor(tmp_path, TURNBUCKLE_MODEL="demo")
    assert (done.code, "Nothing has to be done." in done.out) == (0, True)


async def test_a_refused_key_is_told_without_the_key(tmp_path: Path) -> None:
    async with ModelServer([failure(401, {"message": f"bad key {SECRET}"})]) as server:
        done = await doctor(tmp_path, **at(server))
    assert done.code == 1
    assert "answered 401: bad key [key]. Check the API key" in done.out


async def test_an_unknown_model_is_told_with_those_that_there_are(tmp_path: Path) -> None:
    listed = {"data": [{"id": "other"}, {"id": "qwen3-coder"}, {"id": "m"}]}
    script = [
        failure(404, {"message": "model not found"}),
        Response(headers=JSON, chunks=(orjson.dumps(listed),)),
    ]
    async with ModelServer(script) as server:
        done = await doctor(tmp_path, **{**at(server), "TURNBUCKLE_MODEL": "qwen3-codre"})
    assert done.code == 1
    assert "model not found. Check the name of the model" in done.out
    assert "Its provider offers qwen3-coder, other, m." in done.out


async def test_an_endpoint_that_answers_html_is_told(tmp_path: Path) -> None:
    html = Response(headers={"content-type": "text/html"}, chunks=(b"<html>hi</html>",))
    async with ModelServer([html, html]) as server:
        done = await doctor(tmp_path, **at(server))
    assert done.code == 1
    assert "sent text/html instead of an answer. Check the base URL" in done.out


async def test_an_endpoint_that_is_not_there_is_told(tmp_path: Path) -> None:
    async with ModelServer() as server:
        gone = at(server)
    done = await doctor(tmp_path, **gone)
    assert done.code == 1
    assert "Could not connect to 127.0.0.1:" in done.out


async def test_a_model_that_does_not_answer_in_time_is_told(tmp_path: Path) -> None:
    async with ModelServer([Response(end="hang")]) as server:
        done = await doctor(tmp_path, "--timeout", "0.3", **at(server))
        await server.requests[0].closed.wait()
    assert done.code == 1
    assert "The model did not answer within 0.3 s." in done.out


async def test_a_slip_in_the_configuration_is_told_and_no_model_asked(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(f'[model]\nnmae = "m"\napi_key = "{SECRET}"\n')
    done = await doctor(tmp_path, "--json")
    assert done.code == 1
    faults = [fault.replace(str(tmp_path), "") for fault in done.json["config"]["faults"]]
    assert faults == [
        "/config.toml: model.nmae: there is no such setting; did you mean model.name?",
        "/config.toml: model.api_key: keys are kept in no file: set TURNBUCKLE_API_KEY or the variable of the provider, such as OPENAI_API_KEY",
    ]
    assert len(done.json["todo"]) == 2
    assert done.json["answer"] is None


async def test_a_server_that_cannot_start_is_told(tmp_path: Path) -> None:
    done = await run(tmp_path, "-c", ON_ANOTHER, "-c", "import sys; sys.exit(7)")
    assert done.code == 4
    assert "the server could not start (exit code 7); TURNBUCKLE_LOG=debug says more" in done.out


# -- what is found without a server --------------------------------------------------------------


def look(folder: Path, text: str = "", **env: str) -> Checkup:
    (folder / "config.toml").write_text(text)
    places = {
        "TURNBUCKLE_CONFIG": str(folder / "config.toml"),
        "TURNBUCKLE_STATE_DIR": str(folder / "state"),
    }
    return examine({**places, **env})


def test_each_setting_is_told_with_what_set_it(tmp_path: Path) -> None:
    found = look(tmp_path, "[model]\nname = 'a'\ntotal_timeout = 9", TURNBUCKLE_MODEL="b")
    values = {one.name: (one.value, one.source) for one in found.settings}
    assert values["model.name"] == ('"b"', "TURNBUCKLE_MODEL")
    assert values["model.total_timeout"] == ("9.0", str(tmp_path / "config.toml"))
    assert values["max_steps"] == ("100", None)
    assert "model.price.input" not in values


def test_a_key_is_only_known_to_be_there(tmp_path: Path) -> None:
    url = f"http://me:{SECRET}@h/v1?key={SECRET}"
    found = look(tmp_path, TURNBUCKLE_BASE_URL=url, TURNBUCKLE_MODEL="m", MISTRAL_API_KEY=SECRET)
    assert [one.name for one in found.keys if one.present] == ["MISTRAL_API_KEY"]
    assert SECRET not in repr(found)
    assert '"http://h/v1"' in repr(found)


def test_a_key_without_an_endpoint_is_told(tmp_path: Path) -> None:
    (warning,) = look(tmp_path, TURNBUCKLE_API_KEY=SECRET).warnings
    assert "no endpoint is set, so this key is not used" in warning


def test_a_state_folder_that_can_be_made_or_written_is_no_problem(tmp_path: Path) -> None:
    assert state_problem(tmp_path / "a" / "b") is None
    assert not (tmp_path / "a").exists()
    assert state_problem(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_a_state_folder_that_is_a_file_is_told_with_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for place in (file, file / "below"):
        said = state_problem(place)
        assert said is not None
        assert str(place) in said
        assert "name another folder with TURNBUCKLE_STATE_DIR" in said


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere"
)
def test_a_state_folder_that_is_read_only_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert "cannot be written (Permission denied)" in (state_problem(tmp_path) or "")
    assert "cannot be made in" in (state_problem(tmp_path / "below") or "")
    tmp_path.chmod(0o700)


# -- how it is told ------------------------------------------------------------------------------

CHECKUP = Checkup(
    version="0.1.0",
    python="3.11.7",
    system="Linux 6.1",
    config_file=Path("/c/config.toml"),
    config_exists=True,
    settings=(
        Setting(name="model.name", value='"qwen3"', source="TURNBUCKLE_MODEL"),
        Setting(name="max_steps", value="100", source=None),
    ),
    faults=(),
    warnings=("TURNBUCKLE_BASEURL: no such variable is read",),
    keys=(
        Variable(name="OPENAI_API_KEY", title="OpenAI", present=True),
        Variable(name="MISTRAL_API_KEY", title="Mistral", present=False),
    ),
    state=Path("/s"),
    state_problem=None,
)
QWEN = ModelEntry(name="qwen3", provider="ollama", current=True, source="machine")
DEMO = ModelEntry(name="demo", provider="built-in", current=False, source="built-in")
STUDIO = ProviderEntry(
    provider="lmstudio",
    title="LM Studio",
    base_url="http://127.0.0.1:1234/v1",
    key="needless",
    unavailable="127.0.0.1:1234 cannot be reached.",
)
MODELS = ModelsResult(models=(QWEN, DEMO), providers=(STUDIO,))


def told(report: Report) -> str:
    lines = [*checkup_lines(report.checkup)]
    if report.models is not None:
        lines += models_lines(report.models)
    return plain([*lines, *answer_lines(report)])


def test_the_report_is_read_from_above() -> None:
    report = Report(checkup=CHECKUP, models=MODELS, answer=Answer(first=0.42, total=1.2))
    assert told(report) == snapshot("""\
turnbuckle 0.1.0, Python 3.11.7, Linux 6.1

configuration
  /c/config.toml
  model.name = "qwen3"  from TURNBUCKLE_MODEL
  ! TURNBUCKLE_BASEURL: no such variable is read
  what an editor sets in its initializationOptions is not seen here

keys
  OPENAI_API_KEY is set, for OpenAI; it is not shown

state
  /s

models
  ▸ qwen3 at ollama  runs on this machine
    demo  offline and scripted
    LM Studio: 127.0.0.1:1234 cannot be reached.

answer
  ✓ qwen3 began to answer after 0.4 s, was done after 1.2 s

Nothing has to be done.
""")


def test_each_thing_to_do_is_a_numbered_line() -> None:
    problem = "/s cannot be written (Permission denied); make room"
    checkup = Checkup(**{**fields(CHECKUP), "state_problem": problem})
    failed = Answer(problem="It refused.\x1b[2J", kind="protocol")
    report = Report(checkup=checkup, models=MODELS, answer=failed, offered=("qwen3:8b", "a"))
    assert told(report).partition("\nanswer\n")[2] == snapshot("""\
  ✗ qwen3 did not answer

What to do
  1. /s cannot be written (Permission denied); make room
  2. It refused.<U+001B>[2J
  3. Its provider offers qwen3:8b, a.
""")
    assert as_json(report)["todo"] == [
        problem,
        "It refused.\x1b[2J",
        "Its provider offers qwen3:8b, a.",
    ]


def fields(checkup: Checkup) -> Mapping[str, Any]:  # Any: the checkup's own fields
    return {name: getattr(checkup, name) for name in Checkup.__dataclass_fields__}
