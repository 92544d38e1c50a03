"""A bad message costs no more than a good one, however long or deep it is."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from process.memory import within
from turnbuckle.lsp import names
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.rpc import INVALID_PARAMS, BadMessage
from turnbuckle.lsp.rpc.bounds import DEEPEST, LONGEST, require_shallow, require_short
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served

# Any: JSON.
Json = Any

LENGTH = 300_000
LIMIT = 30.0
"""Seconds that all of them may take together, on a machine that does much else; each alone took as
long, and a gigabyte, when every wrong entry was an error of its own."""

MEMORY = 256 * 1024 * 1024

NOWHERE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
HERE = {"uri": "file:///a.txt"}

LONG: list[tuple[str, Json]] = [
    (names.TURN, {"sessionId": "s", "key": "k", "input": [0] * LENGTH}),
    (names.APPROVE, {"approvalId": "a", "hunks": {str(n): "x" for n in range(LENGTH)}}),
    (names.REVIEW_RESOLVE, {"decisions": [{}] * LENGTH}),
    ("textDocument/codeAction", {"textDocument": HERE, "range": NOWHERE, "context": {"diagnostics": "y" * LENGTH}}),
    ("textDocument/codeAction", {"textDocument": HERE, "range": NOWHERE, "context": {"diagnostics": [{}] * LENGTH}}),
    ("workspace/executeCommand", {"command": "turnbuckle.ask", "arguments": [{"diagnostics": [0] * LENGTH}]}),
    ("workspace/executeCommand", {"command": [0] * LENGTH}),
]  # fmt: skip

NOTES: list[tuple[str, Json]] = [
    ("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": "y" * LENGTH}}),
    ("textDocument/didChange", {"textDocument": {"uri": "a", "version": 1}, "contentChanges": [0] * LENGTH}),
]  # fmt: skip


def nested(levels: int) -> Json:
    value: Json = 0
    for _ in range(levels):
        value = [value]
    return value


async def refusal(server: Served, method: str, params: Json) -> str:
    with pytest.raises(ServerRefused) as refused:
        await server.client.ask(method, params).answer()
    assert refused.value.code == INVALID_PARAMS
    return refused.value.message


async def test_what_is_long_and_wrong_is_refused_as_quickly_as_what_is_short(
    tmp_path: Path,
) -> None:
    async with served(Scripted([say("here")]), tmp_path) as server:
        session_id = await server.open()
        with within(MEMORY), anyio.fail_after(LIMIT):
            for method, params in LONG:
                assert len(await refusal(server, method, params)) < 1000
            for method, params in NOTES:
                server.client.notify(method, params)
            assert (await server.turn(session_id, "still there?")).end == {"kind": "completed"}


async def test_what_is_deep_is_refused_wherever_it_stands(tmp_path: Path) -> None:
    deep = nested(DEEPEST)
    diagnostic = {"range": NOWHERE, "message": "m", "data": deep}
    context = {"diagnostics": [diagnostic]}
    places: list[tuple[str, Json]] = [
        ("textDocument/codeAction", {"textDocument": HERE, "range": NOWHERE, "context": context}),
        ("textDocument/hover", {"textDocument": HERE, "position": deep}),
        ("workspace/executeCommand", {"command": "turnbuckle.ask", "arguments": [deep]}),
        (names.TURN, {"sessionId": deep}),
        (names.MODELS, {"anything": deep}),
    ]
    async with served(Scripted([]), tmp_path) as server:
        server.editor.open(HERE["uri"], "text\n")
        for method, params in places:
            assert "nested" in await refusal(server, method, params)


def test_depth_and_length_are_counted_to_the_last_that_is_allowed() -> None:
    require_shallow(nested(DEEPEST), "params")
    with pytest.raises(BadMessage, match="nested more than"):
        require_shallow(nested(DEEPEST + 1), "params")
    with pytest.raises(BadMessage, match="nested more than"):
        require_shallow({"a": nested(100_000)}, "params")
    require_short({"a": [[0] * LONGEST]}, "params")
    with pytest.raises(BadMessage, match="more than 10,000"):
        require_short({"a": [[0] * (LONGEST + 1)]}, "params")


async def test_what_is_wrong_far_down_a_list_is_refused_too(tmp_path: Path) -> None:
    good = {"range": NOWHERE, "message": "m"}
    context = {"diagnostics": [*[good] * 100, {"message": "no range"}]}
    params = {"textDocument": HERE, "range": NOWHERE, "context": context}
    async with served(Scripted([]), tmp_path) as server:
        assert "shape" in await refusal(server, "textDocument/codeAction", params)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("textDocument/hover", {"textDocument": {"uri": ["a"]}, "position": NOWHERE["start"]}),
        ("textDocument/hover", {"textDocument": {"uri": 5}, "position": NOWHERE["start"]}),
        ("textDocument/hover", {"textDocument": HERE, "position": {"line": "1", "character": 0}}),
        ("textDocument/hover", {"textDocument": HERE, "position": {"line": 1.5, "character": 0}}),
        ("textDocument/hover", {"textDocument": HERE, "position": {"line": True, "character": 0}}),
        ("textDocument/hover", {"textDocument": HERE, "position": {"line": 1e400, "character": 0}}),
        ("workspace/executeCommand", {"command": 5}),
        ("workspace/executeCommand", {"command": {}}),
    ],
)
async def test_nothing_is_taken_for_what_it_is_not(
    tmp_path: Path, method: str, params: Json
) -> None:
    async with served(Scripted([]), tmp_path) as server:
        await refusal(server, method, params)


async def test_a_whole_number_may_be_written_with_a_point(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        server.editor.open(HERE["uri"], "text\n")
        place = {"textDocument": HERE, "position": {"line": 0.0, "character": 1.0}}
        assert await server.client.request("textDocument/hover", place) is None


@pytest.mark.parametrize("token", [{}, [], 1.5, True])
async def test_a_token_is_an_integer_or_a_string(tmp_path: Path, token: Json) -> None:
    async with served(Scripted([]), tmp_path) as server:
        for method in ("workspace/executeCommand", "textDocument/hover"):
            params = {"command": "turnbuckle.newSession", "textDocument": HERE}
            params |= {"position": NOWHERE["start"], "workDoneToken": token}
            assert "workDoneToken" in await refusal(server, method, params)


async def test_shutdown_cannot_be_cancelled(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        await server.open()
        question = server.client.ask("shutdown")
        question.cancel()
        assert await question.answer() is None
