"""Started in a folder of strangers, the server imports, runs and obeys nothing that lies there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trust.starting import environment, installed, started
from turnbuckle.lsp import names
from turnbuckle.lsp.lives import SessionOpenParams
from turnbuckle.testing.workspace import Desk
from turnbuckle.tools.builtin.run_command import RunCommand, run_command
from turnbuckle.workspace.process import child_environment, find_program, find_shell
from turnbuckle.workspace.process.programs import absolute, only_absolute

posix = pytest.mark.skipif(os.name == "nt", reason="files that anybody may run")

TOUCH = "open({!r}, 'a').write(__name__ + ' ')\nraise SystemExit(9)\n"
"""A module that tells that it was imported, and is of no use; it imports nothing itself."""

OF_OTHERS = (
    "anyio", "httpx", "pydantic", "orjson", "lsprotocol", "pygls", "platformdirs", "filelock",
    "pathspec", "tree_sitter", "tree_sitter_bash", "typer", "rich", "cydifflib", "certifi", "idna",
)  # fmt: skip
BY_PYTHON = ("sitecustomize", "usercustomize")
"""What Python itself imports from wherever PYTHONPATH says, before anything of ours runs."""


def hostile(folder: Path, *, but: tuple[str, ...] = ()) -> Path:
    """A workspace with a module for every name that may be imported; where they tell of it."""
    work, told = folder / "work", folder / "IMPORTED"
    work.mkdir()
    for name in {*sys.stdlib_module_names, *OF_OTHERS, *BY_PYTHON, "turnbuckle"} - {*but}:
        (work / f"{name}.py").write_text(TOUCH.format(str(told)))
    return told


async def works(argv: list[str], folder: Path, env: dict[str, str]) -> None:
    """It opens a session and takes a message, so that what is imported late is imported."""
    async with started(argv, folder, env) as client:
        opened = await client.request(names.SESSION_OPEN, SessionOpenParams())
        params: dict[str, Any] = {"sessionId": opened.session_id, "key": "k", "input": []}
        params["input"] = [{"type": "text", "text": "hello"}]
        await client.ask(names.TURN, params).answer()
        await client.request(names.MODELS, {})


def script() -> str:
    """The command that an installation brings."""
    found = shutil.which("turnbuckle", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("only an installation has the command")
    return found


async def test_the_command_imports_nothing_of_the_folder_that_it_stands_in(tmp_path: Path) -> None:
    told = hostile(tmp_path)
    await works([script(), "serve"], tmp_path, {})
    assert not told.exists()


async def test_python_told_to_keep_out_of_it_imports_nothing_of_it(tmp_path: Path) -> None:
    told = hostile(tmp_path)
    await works(
        [sys.executable, "-P", "-m", "turnbuckle", "serve"], tmp_path, {"PYTHONPATH": installed()}
    )
    assert not told.exists()


def imported_to_find_a_module(folder: Path) -> list[str]:
    """What `python -m` imports before it runs a module."""
    path = folder / "found" / "tells.py"
    path.parent.mkdir()
    path.write_text("import sys\nprint(*sorted(sys.modules))\n")
    argv = [sys.executable, "-m", "tells"]
    done = subprocess.run(argv, cwd=path.parent, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split() if "." not in name]


def test_the_modules_of_a_hostile_folder_tell_when_they_are_imported(tmp_path: Path) -> None:
    told = hostile(tmp_path)
    argv = [sys.executable, "-m", "turnbuckle", "serve"]
    work, env = tmp_path / "work", environment(tmp_path)
    subprocess.run(argv, cwd=work, env=env, check=False, capture_output=True)
    assert told.read_text().split()


async def test_python_that_puts_it_first_imports_nothing_of_it_once_we_are_started(
    tmp_path: Path,
) -> None:
    """What it imports itself to find us, and our own name, is all that a folder can take."""
    told = hostile(tmp_path, but=("turnbuckle", *imported_to_find_a_module(tmp_path)))
    argv = [sys.executable, "-m", "turnbuckle", "serve"]
    await works(argv, tmp_path, {"PYTHONPATH": installed()})
    assert not told.exists()


@pytest.mark.parametrize("gap", [os.pathsep, "." + os.pathsep, "../work" + os.pathsep])
async def test_a_relative_place_for_modules_is_passed_over(tmp_path: Path, gap: str) -> None:
    early = tuple({*sys.stdlib_module_names, *BY_PYTHON, "turnbuckle"})
    told = hostile(tmp_path, but=early)
    await works([script(), "serve"], tmp_path, {"PYTHONPATH": gap + installed()})
    assert not told.exists()


def test_the_terminal_client_imports_nothing_of_it_either(tmp_path: Path) -> None:
    told = hostile(tmp_path)
    done = subprocess.run(
        [script(), "doctor"], cwd=tmp_path / "work", env=environment(tmp_path),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert not told.exists(), told.read_text()
    assert "Traceback" not in done.stderr


# Programs.


def program(folder: Path, name: str, told: Path) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\necho {name} >> {told}\n")
    path.chmod(0o755)


@posix
@pytest.mark.parametrize("gap", [":", ".:", "bin:", "./bin:", "../work:"])
async def test_no_program_of_the_workspace_stands_in_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gap: str
) -> None:
    work, told = tmp_path / "work", tmp_path / "RAN"
    for folder in (work, work / "bin"):
        folder.mkdir()
        for name in ("bash", "sh", "rg", "git", "ls"):
            program(folder, name, told)
    monkeypatch.chdir(work)
    monkeypatch.setenv("PATH", gap + os.environ["PATH"])
    assert Path(find_shell().start[0]).is_absolute()
    assert not Path(find_program("ls") or "").is_relative_to(work)
    desk = Desk(work)
    prepared = await run_command().prepare(RunCommand(command="ls; rg --version"), desk.workspace)
    assert (await desk.perform(prepared)).content
    assert not told.exists()


def test_a_path_of_relative_folders_alone_is_the_systems() -> None:
    assert only_absolute(os.pathsep.join([".", "", "bin"])) == os.pathsep.join(absolute(os.defpath))
    assert only_absolute("") != ""
    home = str(Path.home())
    assert child_environment({"PATH": os.pathsep.join([".", home])}, Path("/"), "m")["PATH"] == home


@posix
async def test_settings_for_the_search_in_the_workspace_or_the_environment_are_not_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from turnbuckle.tools.builtin.search import Search, search

    work, told = tmp_path / "work", tmp_path / "RAN"
    work.mkdir()
    program(work, "pre", told)
    (work / "a.txt").write_text("needle\n")
    (work / ".ripgreprc").write_text(f"--pre={work / 'pre'}\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(work / ".ripgreprc"))
    desk = Desk(work)
    prepared = await search().prepare(Search(pattern="needle"), desk.workspace)
    assert "a.txt" in (await desk.perform(prepared)).content
    assert not told.exists()
