"""What a command may do: the cases G."""

import random
import re
import shlex
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from cases.case import Case, Run, elsewhere
from process.leftovers import require_none, running
from process.memory import within
from turnbuckle.session.blobs import Blobs
from turnbuckle.testing.workspace import Desk
from turnbuckle.tools.builtin.run_command import RunCommand, run_command
from turnbuckle.tools.tool import Outcome, ToolError
from turnbuckle.workspace.process import Output, run

# Any: what a case's file holds.
Json = dict[str, Any]

MEMORY = 64 * 1024 * 1024
"""Bytes by which an output, however long, may make us grow at most."""

SPAWNS = 100


def desk_in(folder: Path) -> Desk:
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    return Desk(work)


async def perform(desk: Desk, command: str, timeout: float = 20, cwd: str | None = None) -> Outcome:
    arguments = RunCommand(command=command, timeout=timeout, cwd=cwd)
    return await desk.perform(await run_command().prepare(arguments, desk.workspace))


async def each(case: Case, folder: Path) -> None:
    """Commands that end by themselves, or are stopped at their limit, with what they wrote."""
    for number, data in enumerate(case.data.get("cases", [case.data])):
        desk = desk_in(folder / str(number))
        began = time.monotonic()
        with within(MEMORY):
            text = await outcome_of(desk, data)
        took = time.monotonic() - began
        as_said(text, data["expect"], took)
        await require_none(desk.folder)


async def outcome_of(desk: Desk, data: Json) -> str:
    """What the model is told of a command, also of one that ran into its limit."""
    try:
        return (await perform(desk, data["command"], data.get("timeout_s", 20))).content
    except ToolError as error:
        return f"{error.code} {error}"


def as_said(text: str, expect: Json, took: float) -> None:
    """What a case says of a result and of the time until it came."""
    assert took < expect.get("ends_within_s", 60)
    assert not text.startswith(("TOOL_FAILED", "ABORTED"))
    found = re.fullmatch(r"(.*?)((?:\[[^\n]*\]\n)*)exit code (\d+)[^\n]*", text, re.DOTALL)
    if "result_max_bytes" in expect:
        assert len(text.encode()) <= expect["result_max_bytes"]
    if expect.keys() & {"exit", "stdout", "tail"}:
        assert found is not None, text
        assert int(found[3]) == expect.get("exit", 0)
        assert found[1] == expect.get("stdout", found[1])
        assert found[1].endswith(expect.get("tail", ""))
    for key in ("stdout_contains", "stderr_contains"):
        assert expect.get(key, "") in text


async def background(case: Case, folder: Path) -> None:
    """A child in the background holds nothing up, is named, and does not live on."""
    await each(case, folder)
    outcome = await perform(desk_in(folder), case.data["command"])
    if Path("/proc/self").exists():
        child = case.data["command"].partition(" &")[0]
        assert f"[stopped, as it still ran in the background: {child}]" in outcome.content


async def flooding(case: Case, folder: Path) -> None:
    """What has no end has a head, a mark and a tail."""
    await each(case, folder)
    outcome = await perform(desk_in(folder), case.data["cases"][1]["command"], 30)
    assert outcome.content.startswith("1\n2\n")
    assert re.search(r"\n\[[\d,]+ bytes left out\]\n", outcome.content)


async def plain(case: Case, folder: Path) -> None:
    """What is meant for a terminal reaches neither the model nor who watches."""
    desk = desk_in(folder)
    for number, (raw, clean) in enumerate(case.data["rows"]):
        (desk.folder / "raw").write_bytes(raw.encode())
        outcome = await perform(desk, "cat raw")
        assert outcome.content == f"{clean}exit code 0", number
    shown = "".join(desk.shown)
    assert shown
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)
    assert "http" not in shown


async def placed(case: Case, folder: Path) -> None:
    """Each command starts in the session's folder, or where it is told to."""
    desk = desk_in(folder)
    (desk.folder / "sub").mkdir()
    first, second = case.data["commands"]
    here = str(desk.folder.resolve())
    await perform(desk, first)
    expected = case.data["expect"]["second_stdout"].replace("<workspace>", here)
    assert (await perform(desk, second)).content == f"{expected}exit code 0"
    assert (await perform(desk, second, cwd="sub")).content == f"{here}/sub\nexit code 0"
    # Where it lies outside, none runs at all: it would be approved under a false impression.
    with pytest.raises(ToolError) as outside:
        await perform(desk, second, cwd="..")
    assert outside.value.code == "OUTSIDE"
    prepared = await run_command().prepare(RunCommand(command="pwd", cwd="sub"), desk.workspace)
    (desk.folder / "sub").rmdir()
    with pytest.raises(ToolError, match="there is no folder"):
        await desk.perform(prepared)


async def stopped_early(_: Case, folder: Path) -> None:
    """Whenever a command is stopped while it starts, nothing of it is there afterwards."""
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    held = folder / "held"
    held.touch()
    command = f"exec 9<{shlex.quote(str(held))}; sleep 100 & setsid sleep 101 & sleep 102"
    for number in range(SPAWNS):
        moment = chance.choice([0, 0.001, 0.005, 0.02, chance.random() / 20])
        with anyio.move_on_after(moment):
            await run(command, cwd=folder, timeout=60, output=Output(Blobs(folder / "blobs")))
        left = running(folder)
        assert not left, f"seed {seed}, command {number}, stopped after {moment} s: {left}"


RUN: dict[str, Run] = {
    "G01": background,
    "G02": each,
    "G04": flooding,
    "G05": each,
    "G06": each,
    "G08": plain,
    "G09": elsewhere("tests/secrets/test_canaries.py"),
    "G11": placed,
    "G13": stopped_early,
}
