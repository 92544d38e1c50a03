"""Commands: how they end, what they leave, and that nothing of them survives."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE

import anyio
import pytest

from turnbuckle.session.blobs import Blobs
from turnbuckle.workspace.process import (
    Finished,
    NotStarted,
    Output,
    child_environment,
    find_shell,
    run,
    run_argv,
)
from turnbuckle.workspace.process.leaders import Start, kept

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX shells")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


async def sh(
    command: str, cwd: Path, *, timeout: float = 30, show: Callable[[str], None] | None = None
) -> Finished:
    output = Output(Blobs(cwd / ".blobs"), show)
    with anyio.fail_after(60):
        return await run(command, cwd=cwd, timeout=timeout, output=output)


class Held:
    """A pipe that the processes of a command hold open: it ends when the last of them has."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "held"
        self.seen = b""
        os.mkfifo(self.path)
        self.fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)

    @property
    def hold(self) -> str:
        """Shell text after which everything holds the pipe."""
        return f"exec 9>'{self.path}'; echo ready >&9; "

    async def ready(self) -> None:
        """Wait until a command holds it."""
        with anyio.fail_after(20):
            await anyio.wait_readable(self.fd)
        self.seen += os.read(self.fd, 100)

    async def let_go(self) -> None:
        """Wait until nobody holds it any more."""
        more = b"?"
        with anyio.fail_after(20):
            while more:
                await anyio.wait_readable(self.fd)
                self.seen += (more := os.read(self.fd, 100))
        assert self.seen == b"ready\n"
        os.close(self.fd)


async def test_output_and_exit_code_are_given(tmp_path: Path) -> None:
    finished = await sh("echo out; echo err >&2; exit 3", tmp_path)
    assert (finished.exit_code, finished.output.text) == (3, "out\nerr\n")
    assert not finished.timed_out
    assert finished.left == ()


async def test_a_signal_counts_as_shells_count_it(tmp_path: Path) -> None:
    assert (await sh("kill -9 $$", tmp_path)).exit_code == 128 + signal.SIGKILL


@pytest.mark.parametrize(
    "command", ["read x; echo got:$x", "cat; echo got:", "head -c 5; echo got:"]
)
async def test_there_is_no_input(tmp_path: Path, command: str) -> None:
    assert (await sh(command, tmp_path)).output.text == "got:\n"


async def test_there_is_no_terminal(tmp_path: Path) -> None:
    finished = await sh("(: </dev/tty) 2>/dev/null && echo tty || echo none", tmp_path)
    assert finished.output.text == "none\n"


async def test_each_command_starts_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    await sh("cd sub", tmp_path)
    finished = await sh("pwd; echo $PWD", tmp_path)
    assert finished.output.text == f"{tmp_path}\n{tmp_path}\n"


async def test_a_background_child_that_holds_the_output_is_not_waited_for(tmp_path: Path) -> None:
    held = Held(tmp_path)
    finished = await sh(f"{held.hold}sleep 100 & echo done", tmp_path)
    assert (finished.exit_code, finished.output.text) == (0, "done\n")
    if sys.platform == "linux":
        assert finished.left == ("sleep 100",)
    await held.let_go()


async def test_a_background_child_without_output_is_ended_too(tmp_path: Path) -> None:
    held = Held(tmp_path)
    await sh(f"{held.hold}sleep 100 >/dev/null 2>&1 & echo done", tmp_path)
    await held.let_go()


@linux
async def test_a_child_that_left_its_group_is_ended_too(tmp_path: Path) -> None:
    held = Held(tmp_path)
    command = f"{held.hold}setsid sh -c 'trap : TERM; echo up >&8; sleep 100; sleep 101' 8>up &"
    os.mkfifo(tmp_path / "up")
    finished = await sh(f"{command} read line <up; echo $line", tmp_path)
    assert finished.output.text.startswith("up\n")
    assert any("100" in name for name in finished.left)
    await held.let_go()


async def test_a_command_over_its_time_is_stopped_with_its_output_so_far(tmp_path: Path) -> None:
    held = Held(tmp_path)
    command = f"{held.hold}trap 'echo bye; exit 7' TERM; echo begun; while :; do sleep 0.05; done"
    finished = await sh(command, tmp_path, timeout=0.5)
    assert finished.timed_out
    assert finished.exit_code is None
    assert finished.output.text.startswith("begun\n")
    assert "bye\n" in finished.output.text
    await held.let_go()


async def test_a_command_that_does_not_want_to_end_is_killed(tmp_path: Path) -> None:
    held = Held(tmp_path)
    finished = await sh(f"{held.hold}trap '' TERM; sleep 100 & sleep 101", tmp_path, timeout=0.2)
    assert finished.timed_out
    await held.let_go()


async def test_nothing_is_left_of_a_cancelled_command(tmp_path: Path) -> None:
    held = Held(tmp_path)
    async with anyio.create_task_group() as group:
        group.start_soon(sh, f"{held.hold}yes & sleep 100 & sleep 101", tmp_path)
        await held.ready()
        group.cancel_scope.cancel()
    await held.let_go()
    assert not list((tmp_path / ".blobs").glob("*"))


@linux
@pytest.mark.parametrize("checkpoints", range(8))
async def test_nothing_is_left_of_a_command_cancelled_while_it_starts(
    tmp_path: Path, checkpoints: int
) -> None:
    mark = f"sleep 10{os.getpid()}{checkpoints}"
    async with anyio.create_task_group() as group:
        group.start_soon(sh, f"{mark} & {mark}", tmp_path)
        for _ in range(checkpoints):
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert not [pid for pid in Path("/proc").glob("[0-9]*") if mark in command_line(pid)]


def command_line(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


SERVER = """
import anyio, sys
from pathlib import Path
from turnbuckle.workspace.process import Output, run

async def main():
    folder = Path(sys.argv[1])
    await run(sys.argv[2], cwd=folder, timeout=600, output=Output())

anyio.run(main)
"""


async def test_nothing_survives_a_server_that_is_killed(tmp_path: Path) -> None:
    held = Held(tmp_path)
    left = "setsid sleep 100 & " if sys.platform == "linux" else ""
    command = f"exec 9>'{held.path}'; {left}sleep 101 & echo ready >&9; sleep 102"
    server = await anyio.open_process(
        [sys.executable, "-c", SERVER, str(tmp_path), command], stdin=None, stdout=PIPE
    )
    async with server:
        await held.ready()
        server.kill()
        await server.wait()
        await held.let_go()


async def test_what_cannot_be_started_says_why(tmp_path: Path) -> None:
    with pytest.raises(NotStarted, match="no folder"):
        await sh("true", tmp_path / "nothing")
    with pytest.raises(NotStarted, match="too long"):
        await sh("x" * 3_000_000, tmp_path)
    with pytest.raises(NotStarted, match="nothing"):
        await run_argv(["./nothing"], cwd=tmp_path, timeout=5, output=Output())


@linux
@pytest.mark.parametrize("python", ["/bin/false", "/nothing"])
async def test_without_a_keeper_a_program_is_only_watched(tmp_path: Path, python: str) -> None:
    environment = child_environment(os.environ, tmp_path, "m")
    read, write = os.pipe()
    start = Start(
        argv=["bash", "-c", "echo $$"], cwd=tmp_path, environment=environment, output=write
    )
    async with kept(start, python) as (leader, family):
        os.close(write)
        assert await leader.wait() == 0
        assert os.read(read, 100) == b"%d\n" % family.leader
        assert family.keeper is None
    os.close(read)


@linux
async def test_a_program_whose_keeper_is_killed_at_once_has_not_run(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nkill -9 $$\n")
    python.chmod(0o700)
    environment = child_environment(os.environ, tmp_path, "m")
    null = os.open(os.devnull, os.O_WRONLY)
    start = Start(argv=["touch", "ran"], cwd=tmp_path, environment=environment, output=null)
    with pytest.raises(OSError, match="keeper"):
        async with kept(start, str(python)):
            raise AssertionError
    os.close(null)
    assert not (tmp_path / "ran").exists()


async def test_output_is_shown_while_it_comes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    shown: list[str] = []

    def show(text: str) -> None:
        # Only what was shown lets the command go on.
        if not shown:
            (tmp_path / "go").write_text("on\n")
        shown.append(text)

    finished = await sh("echo first; read line <go; echo $line", tmp_path, show=show)
    assert finished.output.text == "first\non\n"
    assert shown[0] == "first\n"


async def test_a_flood_is_cut_in_the_middle_and_kept_whole(tmp_path: Path) -> None:
    finished = await sh("seq 1 3000000", tmp_path)
    kept = finished.output
    assert (finished.exit_code, kept.cut, kept.missing) == (0, True, None)
    assert kept.text.startswith("1\n2\n")
    assert kept.text.endswith("\n3000000\n")
    assert len(kept.text.encode()) < 66_000
    assert kept.blob is not None
    whole = await Blobs(tmp_path / ".blobs").get(kept.blob)
    assert whole is not None
    assert len(whole) == kept.total == 22_888_896


async def test_a_program_is_stopped_once_there_is_enough_of_it(tmp_path: Path) -> None:
    output = Output()
    finished = await run_argv(["yes"], cwd=tmp_path, timeout=60, output=output, until_cut=True)
    assert finished.output.cut
    assert not finished.timed_out
    assert output.beginning().startswith(b"y\ny\n")


async def test_the_environment_has_allowed_names_only(tmp_path: Path) -> None:
    names = {
        line.partition("=")[0]
        for line in (await sh("env", tmp_path)).output.text.splitlines()
        if "=" in line
    }
    assert {"PATH", "HOME", "PWD", "PAGER"} <= names
    assert not [n for n in names if n.startswith("TURNBUCKLE_") and n != "TURNBUCKLE_CALL"]
    assert not [n for n in names if "PYTEST" in n]


def test_keys_are_never_handed_on() -> None:
    ours = {
        "DEEPSEEK_API_KEY": "k-1", "OPENAI_API_KEY": "k-2", "GH_TOKEN": "k-3",
        "TURNBUCKLE_API_KEY": "k-4", "SSH_AUTH_SOCK": "s", "CI": "1", "BASH_ENV": "x",
        "PATH": "/usr/bin:/bin", "HOME": "/h", "LANG": "C.UTF-8", "LC_TIME": "C",
    }  # fmt: skip
    theirs = child_environment(ours, Path("/w"), "m")
    assert theirs.items() >= {
        "PATH": "/usr/bin:/bin", "HOME": "/h", "LANG": "C.UTF-8", "LC_TIME": "C",
        "PWD": "/w", "TERM": "dumb", "NO_COLOR": "1",
    }.items()  # fmt: skip
    assert not [value for value in theirs.values() if value in ("k-1", "k-2", "k-3", "k-4")]
    assert not {"CI", "BASH_ENV", "SSH_AUTH_SOCK"} & theirs.keys()


def test_the_person_may_add_names() -> None:
    theirs = child_environment({"A": "1"}, Path("/w"), "m", {"A": "2", "PAGER": "less"})
    assert (theirs["A"], theirs["PAGER"]) == ("2", "less")


async def test_no_editor_pager_or_prompt_opens(tmp_path: Path) -> None:
    finished = await sh("$PAGER /dev/null; $EDITOR x; $GIT_EDITOR x; test $TERM = dumb", tmp_path)
    assert (finished.exit_code, finished.output.text) == (0, "")


def test_a_shell_has_a_name() -> None:
    shell = find_shell()
    assert shell.name in ("bash", "sh")
    assert shell.argv("true")[-2:] == ("-c", "true")
