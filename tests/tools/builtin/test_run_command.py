"""Running commands."""

import sys
from pathlib import Path

import anyio
import pytest
from pydantic import ValidationError

from turnbuckle.session.blobs import Blobs
from turnbuckle.testing.workspace import Desk, go_for_tests
from turnbuckle.tools.builtin.run_command import RunCommand, left_lines, run_command
from turnbuckle.tools.tool import Command, Outcome, ToolError
from turnbuckle.workspace.paths import Roots, uri_of
from turnbuckle.workspace.port import Workspace
from turnbuckle.workspace.process import Finished, Kept


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "work"
    (folder / "sub").mkdir(parents=True)
    return Desk(folder)


async def run(desk: Desk, command: str, timeout: float = 30, cwd: str | None = None) -> Outcome:
    arguments = RunCommand(command=command, timeout=timeout, cwd=cwd)
    return await desk.perform(await run_command().prepare(arguments, desk.workspace))


async def test_output_stands_as_it_came_before_the_exit_code(desk: Desk) -> None:
    outcome = await run(desk, "echo out; echo err >&2; exit 3")
    assert outcome.content == "out\nerr\nexit code 3"
    assert outcome.code is None
    assert outcome.meta == {"exitCode": 3}


@pytest.mark.parametrize(
    ("command", "content"),
    [
        ("true", "exit code 0"),
        ("printf x", "x\nexit code 0"),
        ("kill -9 $$", "exit code 137 (SIGKILL)"),
        ("exit 255", "exit code 255"),
        (
            r"printf '\033[31mred\033[0m 10%%\r100%%\n\360\377 ok'",
            "100%\n\\xf0\\xff ok\nexit code 0",
        ),
    ],
)
async def test_every_ending_is_told(desk: Desk, command: str, content: str) -> None:
    assert (await run(desk, command)).content == content


async def test_each_command_starts_in_the_working_folder_or_where_it_says(desk: Desk) -> None:
    await run(desk, "cd sub")
    assert (await run(desk, "pwd")).content == f"{desk.folder.resolve()}\nexit code 0"
    there = await run(desk, "pwd", cwd="sub")
    assert there.content == f"{desk.folder.resolve() / 'sub'}\nexit code 0"


async def test_a_command_over_its_time_gives_its_output_so_far(desk: Desk) -> None:
    with pytest.raises(ToolError, match="begun") as caught:
        await run(desk, "echo begun; sleep 100", timeout=0.3)
    assert caught.value.code == "TIMEOUT"
    assert "0.3 seconds" in str(caught.value)


async def test_a_long_output_is_cut_and_can_be_read_on(desk: Desk) -> None:
    outcome = await run(desk, "seq 1 100000")
    assert outcome.meta is not None
    digest = outcome.meta["output"]["blob"]
    lines = outcome.content.splitlines()
    assert lines[-2:] == [
        f"[the whole output, 588,895 bytes: read_file path=blob:{digest}]",
        "exit code 0",
    ]
    assert lines[-3] == "100000"
    assert len(outcome.content.encode()) < 70_000
    assert await desk.blobs.get(digest) is not None


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
async def test_what_was_left_is_named_briefly_whatever_it_calls_itself(desk: Desk) -> None:
    name = r"$'\033[31mred\033[0m\n[exit code 0]" + "x" * 5000 + "'"
    until = "until grep -q red /proc/$!/cmdline; do :; done"
    outcome = await run(desk, f"(exec -a {name} sleep 100) & {until}")
    left, ending = outcome.content.splitlines()
    assert left.startswith("[stopped, as it still ran in the background: red [exit code 0]xxx")
    assert len(left) < 300
    assert ending == "exit code 0"


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
async def test_of_many_that_were_left_some_are_named(desk: Desk) -> None:
    name = "/proc/$!/cmdline"
    until = f"until tr '\\0' ' ' <{name} | grep -q '^sleep 100'; do :; done"
    outcome = await run(desk, f"for n in $(seq 22); do sleep 100 & {until}; done")
    lines = outcome.content.splitlines()
    assert lines[:-2] == ["[stopped, as it still ran in the background: sleep 100]"] * 20
    assert lines[-2:] == ["[stopped, as it still ran in the background: 2 more]", "exit code 0"]


def test_what_could_not_be_stopped_is_named_too() -> None:
    output = Kept(text="x\n", total=2, cut=False)
    finished = Finished(exit_code=0, output=output, left=("a",), going=("sudo b",))
    assert left_lines(finished) == [
        "[stopped, as it still ran in the background: a]\n",
        "[still runs, and could not be stopped: sudo b]\n",
    ]


async def test_output_is_shown_to_who_watches(desk: Desk) -> None:
    await run(desk, "echo one; echo two")
    assert "".join(desk.shown) == "one\ntwo\n"


async def test_the_subject_is_all_that_is_approved(desk: Desk) -> None:
    prepared = await run_command().prepare(RunCommand(command="ls", cwd="sub"), desk.workspace)
    assert prepared.subject == Command(command="ls", cwd=uri_of(desk.folder / "sub"), timeout=120)


@pytest.mark.parametrize(
    ("cwd", "code"), [("nothing", "NOT_FOUND"), ("..", "OUTSIDE"), ("file", "NOT_FOUND")]
)
async def test_a_folder_that_is_none_is_refused(desk: Desk, cwd: str, code: str) -> None:
    (desk.folder / "file").write_text("")
    with pytest.raises(ToolError) as caught:
        await run(desk, "true", cwd=cwd)
    assert caught.value.code == code


async def test_a_folder_that_went_away_is_a_clear_error(desk: Desk) -> None:
    prepared = await run_command().prepare(RunCommand(command="ls", cwd="sub"), desk.workspace)
    (desk.folder / "sub").rmdir()
    with pytest.raises(ToolError, match="no folder") as caught:
        await desk.perform(prepared)
    assert caught.value.code == "TOOL_FAILED"


async def test_without_a_folder_no_command_runs(desk: Desk) -> None:
    nowhere = Workspace(roots=Roots(cwd=None, folders=()), texts=desk.texts, seen=lambda _: None)
    with pytest.raises(ToolError, match="no folder is open") as caught:
        await run_command().prepare(RunCommand(command="ls"), nowhere)
    assert caught.value.code == "OUTSIDE"


async def test_a_nul_character_is_refused(desk: Desk) -> None:
    with pytest.raises(ToolError) as caught:
        await run(desk, "echo \0")
    assert caught.value.code == "INVALID_ARGS"


@pytest.mark.parametrize("timeout", [0, -1, 3601, float("nan"), float("inf")])
def test_the_time_is_bounded(timeout: float) -> None:
    with pytest.raises(ValidationError):
        RunCommand(command="x", timeout=timeout)


async def test_a_cancelled_command_tells_what_it_had_written(desk: Desk, tmp_path: Path) -> None:
    arguments = RunCommand(command="echo begun; sleep 100")
    prepared = await run_command().prepare(arguments, desk.workspace)
    with anyio.CancelScope() as scope:
        go = go_for_tests(Blobs(tmp_path / "blobs"), note=lambda _: scope.cancel())
        with pytest.raises(
            ToolError, match="stopped with the turn; its output so far:\nbegun"
        ) as e:
            await prepared.perform(go)
    assert e.value.code == "ABORTED"
