"""Whatever an editor says: nothing is applied twice, to the wrong text unnoticed, or believed."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from turnbuckle.lsp.edits.applying import LOOK, Limits
from turnbuckle.testing.editor import HANG
from turnbuckle.testing.liar import TYPED, LiarClient, Lies
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import served
from turnbuckle.workspace.paths import uri_of

# Any: values on the wire are JSON.
Json = dict[str, Any]

OLD = "".join(f"line {number}\n" for number in range(12))
NEW = OLD.replace("line 2\n", "TWO\n").replace("line 8\n", "EIGHT\n")
SHORT = Limits(answer=0.15, settle=0.15, quiet=0.03, patience=1.0, opening=0.0)

CODES = ("UNVERIFIED", "MISPLACED", "PARTLY", "ABORTED")
"""Codes with which a result says that something may stand."""


def hang(_message: str, _titles: list[str]) -> str | None:
    return HANG


def facts_of(state: Path) -> list[Json]:
    (path,) = state.glob("sessions/**/*.jsonl")
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


async def judged(folder: Path, lies: Lies, limits: Limits = SHORT) -> tuple[str | None, str]:
    """Have a liar make an edit of two places, and hold what is said against its true text.

    Gives the code of the result, and the true text.
    """
    edit = {"path": "a.py", "content": NEW}
    model = Scripted([
        say("", ("1", "read_file", {"path": "a.py"})),
        say("", ("2", "write_file", edit)),
        say("done"),
        say("", ("3", "read_file", {"path": "a.py"})),
        say("done"),
    ])  # fmt: skip
    read = ""
    async with served(model, folder, answer=hang, limits=limits) as server:
        liar = LiarClient(server.client, lies, server.held.seen, answer=hang)
        server.editor = liar
        path = server.work / "a.py"
        path.write_text(OLD, encoding="utf-8", newline="")
        uri = uri_of(path)
        liar.open(uri, OLD)
        session_id = await server.open()
        await server.watch(session_id)
        turn = server.send(session_id, "change it")
        await server.fact("approval/asked")
        assert (await liar.execute("turnbuckle.acceptAll"))["outcome"] == "accepted"
        if lies.answers == "and disappears":
            await server.client.stop.wait()
        else:
            await server.answer(turn)
            liar.catch_up()
            await server.turn(session_id, "look again")
            read = server.facts("tool/result")[-1]["content"]
        true = liar.documents[uri].text
    return compare(true, facts_of(server.state), read, lies), true


def compare(true: str, facts: list[Json], read: str, lies: Lies) -> str | None:
    """What stands, what the log tells of it, and what was read afterwards; the result's code."""
    results = {f["data"]["callId"]: f["data"] for f in facts if f["type"] == "tool/result"}
    (outcome,) = {f["data"]["outcome"] for f in facts if f["type"] == "edit/applied"} or {None}
    bare, code = true.replace(TYPED, ""), results["2"].get("code")
    assert bare.count("TWO") <= 1
    assert bare.count("EIGHT") <= 1
    assert (code is None) == (outcome == "applied")
    if code is None:
        assert bare == NEW
    elif bare != OLD:
        assert code in CODES or LOOK in results["2"]["content"]
    if read and "not known for sure" not in read and not undetectable(lies):
        assert read.partition("\n")[2] == true
    return None if code is None else str(code)


def undetectable(lies: Lies) -> bool:
    """Without versions that move, a change that is told twice is the same change made twice."""
    return lies.tells == "twice" and lies.counts == "never"


async def test_an_honest_editor_is_believed_by_what_it_shows(tmp_path: Path) -> None:
    code, true = await judged(tmp_path, Lies(), Limits(opening=0.0))
    assert (code, true) == (None, NEW)


@pytest.mark.parametrize("lies", Lies.each(), ids=str)
async def test_a_lie_is_neither_believed_nor_answered_by_a_second_edit(
    tmp_path: Path, lies: Lies
) -> None:
    await judged(tmp_path, lies)


@pytest.mark.parametrize("seed", range(40))
async def test_lies_together_are_neither_believed_nor_answered_by_a_second_edit(
    tmp_path: Path, seed: int
) -> None:
    await judged(tmp_path, Lies.drawn(seed))
