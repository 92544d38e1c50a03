"""Git is not let loose, unasked, on files that pose as a repository."""

from pathlib import Path

import pytest

from turnbuckle.tools.commandline import simple_commands
from turnbuckle.tools.straying import strays


def found(line: str, cwd: Path) -> bool:
    commands = simple_commands(line)
    assert commands is not None
    return strays(commands, cwd)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A repository with a folder of files that is laid out like another one."""
    (tmp_path / ".git").mkdir()
    posing = tmp_path / "tests" / "data"
    for name in ("objects", "refs"):
        (posing / name).mkdir(parents=True)
    (posing / "HEAD").write_text("ref: refs/heads/main\n")
    (posing / "config").write_text("[core]\n\tfsmonitor = touch PWNED\n")
    (tmp_path / "src").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "cd tests/data && git status", "git -C tests/data log", "cd tests/data/objects; git diff",
        "timeout 5 git -C tests/data status", "cd ./tests/../tests/data/ && git status",
    ],
)  # fmt: skip
def test_git_in_such_a_folder_is_asked_about(work: Path, line: str) -> None:
    assert found(line, work)


def test_git_that_is_run_from_there_is_asked_about(work: Path) -> None:
    assert found("git status", work / "tests" / "data")
    assert found("git status", work / "tests" / "data" / "refs")


@pytest.mark.parametrize(
    "line", ["git status", "cd src && git status", "git -C src log", "cd tests && git log"]
)
def test_git_in_the_repository_itself_is_not(work: Path, line: str) -> None:
    assert not found(line, work)


def test_other_programs_obey_no_such_settings(work: Path) -> None:
    assert not found("cd tests/data && ls", work)
