"""Recorded sessions that the tests of the VS Code client read: they are what the server says now.

With `RECORD_FIXTURES=1` in the environment they are written anew.
"""

import json
import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from turnbuckle.lsp import names
from turnbuckle.model.port import Model, ModelRefused
from turnbuckle.session.parts import Usage
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.workspace.paths import uri_of

FIXTURES = Path(__file__).parents[2] / "vscode-client" / "test" / "fixtures"

# Any: values on the wire are JSON.
Json = dict[str, Any]
Play = Callable[[Served, str], Awaitable[None]]

STATS = """\
import os

def total(items):
    return sum(items)


def mean(items):
    x = total(items)
    return x / len(items)
"""
TEST = """\
import unittest

from stats import mean


class Mean(unittest.TestCase):
    def test_an_empty_list_has_no_mean(self):
        with self.assertRaises(ValueError):
            mean([])
"""
EDITS = [
    {"old": "import os\n\n", "new": '"""Small statistics."""\n\n'},
    {
        "old": "    x = total(items)\n    return x / len(items)\n",
        "new": "    if not items:\n"
        '        raise ValueError("no items")\n'
        "    return total(items) / len(items)\n",
    },
]
USAGE = Usage(input=900, output=80, total=980, cached=200)


def read(call_id: str, path: str) -> tuple[str, str, Json]:
    return call_id, "read_file", {"path": path}


def run(call_id: str, command: str) -> tuple[str, str, Json]:
    return call_id, "run_command", {"command": command}


def plan(call_id: str, *states: str) -> tuple[str, str, Json]:
    texts = ("Reproduce the failure", "Guard the empty list", "Run the tests again")
    items = [{"text": t, "state": s} for t, s in zip(texts, states, strict=True)]
    return call_id, "todo_write", {"items": items}


def fixing() -> Model:
    failing = 'sh -c "echo 1 failed; exit 1"'
    return Scripted(
        [
            say(
                "The test expects `ValueError`, but `mean([])` divides by zero. I will look at"
                " both files and run the test first.",
                plan("p1", "active", "open", "open"),
                read("r1", "stats.py"),
                read("r2", "test_stats.py"),
                usage=USAGE,
                reasoning="An empty list has no mean.\nLook first.",
            ),
            say("", run("c1", failing), usage=USAGE),
            say(
                "It fails as you say.\n\n```python\nmean([])  # ZeroDivisionError\n```\n\n"
                "| case | now |\n|---|---|\n| empty | error |\n\n- guard the empty list\n- keep the"
                " rest, see [stats.py](stats.py:7)\n",
                plan("p2", "done", "active", "open"),
                ("e1", "edit_file", {"path": "stats.py", "edits": EDITS}),
                usage=USAGE,
            ),
            say("`mean` now refuses an empty list.", plan("p3", "done", "done", "done")),
            say("Done.", usage=USAGE),
        ],
        window=8_000,
    )


async def fix(it: Served, session: str) -> None:
    pointed = [
        {
            "kind": "selection",
            "uri": uri_of(it.work / "stats.py"),
            "range": {
                "start": {"line": 6, "character": 0},
                "end": {"line": 8, "character": 0},
            },
        },
        {"kind": "file", "uri": uri_of(it.work / "test_stats.py")},
    ]
    prompt = "The test for an empty list fails. Fix `mean`, keep the API."
    turn = it.send(session, prompt, context=pointed)
    command = await it.fact("approval/asked")
    await it.approve(command["approvalId"], decision="allow")
    change = await it.fact("approval/asked", 2)
    first, second = change["subject"]["files"][0]["hunks"]
    await it.approve(change["approvalId"], hunks={first["hunkId"]: False})
    await it.approve(change["approvalId"], hunks={second["hunkId"]: True})
    await it.answer(turn)


async def deny(it: Served, session: str) -> None:
    turn = it.send(session, "Clean up.")
    asked = await it.fact("approval/asked")
    await it.approve(asked["approvalId"], decision="reject", note="Not the build folder.")
    question = await it.fact("approval/asked", 2)
    await it.approve(question["approvalId"], answer="Only caches")
    await it.answer(turn)


async def stop(it: Served, session: str) -> None:
    turn = it.send(session, "Read my notes.")
    await it.fact("approval/asked")
    it.send(session, "And then sum them up.")
    await it.fact("inbox/added", 2)
    await it.client.request(names.CANCEL, {"sessionId": session, "keepQueue": True})
    await it.answer(turn)


async def fail(it: Served, session: str) -> None:
    await it.turn(session, "Hello?")


def denied() -> Model:
    choices = ["Everything", "Only caches"]
    question = ("q1", "ask_user", {"question": "What may be deleted?", "choices": choices})
    return Scripted([say("", run("c1", "rm -r build")), say("", question), say("Only caches.")])


def outside() -> Model:
    return Scripted([say("Let me see.", read("r1", "/etc/hostname"))])


def refusing() -> Model:
    return Scripted([ModelRefused("auth", "The provider refused the key.")] * 3)


SESSIONS: dict[str, tuple[Callable[[], Model], Play]] = {
    "fix": (fixing, fix),
    "denied": (denied, deny),
    "stopped": (outside, stop),
    "failed": (refusing, fail),
}


@pytest.mark.parametrize("name", SESSIONS)
def test_the_fixtures_of_the_client_are_what_the_server_says(name: str, tmp_path: Path) -> None:
    model, play = SESSIONS[name]
    recorded = anyio.run(record, model(), play, tmp_path)
    path = FIXTURES / f"{name}.json"
    text = json.dumps(recorded, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("RECORD_FIXTURES"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, (
        f"{path.name} is out of date: run this test with RECORD_FIXTURES=1 and look at the change"
    )


async def record(model: Model, play: Play, folder: Path) -> list[Json]:
    """Play a session and give its values as a client sees them, without what chance decides."""
    work = folder / "work"
    work.mkdir()
    (work / "stats.py").write_text(STATS)
    (work / "test_stats.py").write_text(TEST)
    async with served(model, folder, events=True) as it:
        session = await it.open()
        await it.watch(session)
        await play(it, session)
        values = it.editor.screen.progress("events")
    return settled(values, folder)


ID = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{32}|\d{8}-\d{6}-[0-9a-f]{8})\b")


def settled(values: list[Json], folder: Path) -> list[Json]:
    """Values without times, ids, folders and the places where chunks were cut."""
    kept: list[Json] = []
    for value in values:
        if value["type"] in ("tool/output", "status"):
            continue  # when they come is up to chance
        if value["type"] == "assistant/chunk" and merged(kept, value):
            continue
        kept.append(json.loads(json.dumps(value)))
    for number, value in enumerate(value for value in kept if "seq" in value):
        value |= {"seq": number, "time": 1_700_000_000_000 + 1_000 * number}
    known: dict[str, str] = {}

    def name(match: re.Match[str]) -> str:
        kind = "digest" if len(match[0]) == 64 else "id"
        return known.setdefault(match[0], f"{kind}-{len(known)}")

    text = json.dumps(kept, ensure_ascii=False)
    text = text.replace(uri_of(folder / "work"), "file:///work")
    text = ID.sub(name, text.replace(str(folder / "work"), "/work"))
    found: list[Json] = json.loads(text)
    return found


def merged(kept: list[Json], value: Json) -> bool:
    """Take a chunk into the one before it, if both are text of the same kind."""
    if not kept or kept[-1]["type"] != "assistant/chunk":
        return False
    last, data = kept[-1]["data"], value["data"]
    kinds = {"text", "reasoning"}
    if set(last) & kinds != set(data) & kinds or "toolCalls" in last or "toolCalls" in data:
        return False
    for kind in kinds & set(data):
        last[kind] += data[kind]
    return True
