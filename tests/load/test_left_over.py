"""What a server keeps of what was begun and ended on it: no object, no task, no descriptor, no module."""

import asyncio
import gc
import os
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from turnbuckle.lsp import names
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.model.port import Emit, Reply, Request
from turnbuckle.session.events import UserMessage
from turnbuckle.testing.scripted import say, stream
from turnbuckle.testing.served import Served, served
from turnbuckle.testing.strategies import soak
from turnbuckle.workspace.paths import uri_of

WARM, ROUNDS = 4, soak(12)
"""How often each thing is done before what there is is counted, and how often after that."""

KEPT_BY_TESTS = ("turnbuckle.testing.", "turnbuckle.lsp.client", "load.")

Doing: TypeAlias = Callable[[Served, int], Awaitable[None]]


class Helpful:
    """A model that edits or runs what its prompt says, and then says that it did."""

    window = None

    def __init__(self) -> None:
        self.calls = 0

    async def __call__(self, request: Request, emit: Emit) -> Reply:
        """Answer."""
        last = request.messages[-1]
        prompts = [m.content for m in request.messages if isinstance(m, UserMessage)]
        self.calls += 1
        reply = say("hello to you")
        if isinstance(last, UserMessage) and prompts[-1] == "edit":
            edits = {"path": "a.txt", "edits": [{"old": "one", "new": "two"}]}
            read = (f"r{self.calls}", "read_file", {"path": "a.txt"})
            reply = say("", read, (f"e{self.calls}", "edit_file", edits))
        elif isinstance(last, UserMessage) and prompts[-1] == "run":
            reply = say("", (f"c{self.calls}", "run_command", {"command": "true"}))
        await stream(reply, emit)
        return reply


async def subscribed(server: Served, number: int) -> None:
    session = server.wirings[0].sessions.open_sessions[0].session.id
    await server.watch(session, f"told {number}")
    await stopped(server, f"told {number}")


async def watched(server: Served, number: int) -> None:
    await server.client.request(names.WATCH, {"token": f"watch {number}"})
    await stopped(server, f"watch {number}")


async def stopped(server: Served, token: str) -> None:
    await server.client.request(names.SESSION_EVENTS_STOP, {"token": token})


async def in_a_session(server: Served, prompt: str, **more: object) -> None:
    """One turn in a session of its own, which is closed then."""
    session = await server.open()
    assert (await server.turn(session, prompt, **more)).end == {"kind": "completed"}
    await server.client.request(names.SESSION_CLOSE, {"sessionId": session})


async def with_tokens(server: Served, number: int) -> None:
    await in_a_session(
        server, "hello", partialResultToken=f"part {number}", workDoneToken=f"work {number}"
    )


async def ran(server: Served, _number: int) -> None:
    await in_a_session(server, "run")


async def edited(server: Served, _number: int) -> None:
    (server.work / "a.txt").write_text("one\n", encoding="utf-8")
    await in_a_session(server, "edit")
    assert (server.work / "a.txt").read_text(encoding="utf-8") == "two\n"


async def called_off(server: Served, _number: int) -> None:
    session = await server.open()
    question = server.send(session, "hello")
    question.cancel()
    with pytest.raises(ServerRefused):
        await question.answer()
    await server.client.request(names.SESSION_CLOSE, {"sessionId": session})


async def taken_back(server: Served, _number: int) -> None:
    session = await server.open()
    await server.turn(session, "hello")
    rewound = {"sessionId": session, "turn": 1, "files": "restore"}
    await server.client.request(names.SESSION_REWIND, rewound)
    await server.client.request(names.SESSION_CLOSE, {"sessionId": session})


async def forked(server: Served, _number: int) -> None:
    session = server.wirings[0].sessions.open_sessions[0].session.id
    forked = await server.client.request(names.SESSION_FORK, {"sessionId": session, "turn": 1})
    await server.open(forked.session_id)
    await server.client.request(names.SESSION_CLOSE, {"sessionId": forked.session_id})
    await server.client.request(names.SESSION_DELETE, {"sessionId": forked.session_id})


async def listed(server: Served, _number: int) -> None:
    session = server.wirings[0].sessions.open_sessions[0].session.id
    for method, params in (
        (names.SESSION_LIST, {"query": "hello"}),
        (names.SESSION_EXPORT, {"sessionId": session}),
        (names.MODELS, {}),
        (names.REVIEW_LIST, {"sessionId": session}),
    ):
        await server.client.request(method, params)


async def refused(server: Served, _number: int) -> None:
    for method in ("no/such/thing", names.TURN, names.APPROVE, names.SESSION_OPEN):
        with pytest.raises(ServerRefused):
            await server.client.request(method, {"sessionId": "there-is-none"})


async def documents(server: Served, number: int) -> None:
    uri = uri_of(server.work / f"{number}.txt")
    server.editor.open(uri, "one\n")
    server.editor.type(uri, 0, 3, "# agent: do it")
    await server.editor.code_actions(uri, 0, 3)
    await server.client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    server.client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


async def loaded_again(server: Served, number: int) -> None:
    code = f"def install(ctx):\n    ctx.prompt.section('number', 'say {number}')\n"
    plugin(server.work.parent).write_text(code, encoding="utf-8")
    await server.editor.execute("turnbuckle.reloadPlugins")


DOINGS: dict[str, Doing] = {
    "subscribed": subscribed,
    "watched": watched,
    "with tokens": with_tokens,
    "ran": ran,
    "edited": edited,
    "called off": called_off,
    "taken back": taken_back,
    "forked": forked,
    "listed": listed,
    "refused": refused,
    "documents": documents,
    "loaded again": loaded_again,
}


@pytest.mark.parametrize("doing", DOINGS)
async def test_nothing_is_kept_of_what_was_begun_and_ended(doing: str, tmp_path: Path) -> None:
    plugin(tmp_path).write_text("def install(ctx): pass\n", encoding="utf-8")
    config = f"plugins = ['{plugin(tmp_path)}']\n"
    (tmp_path / "config.toml").write_text(config, encoding="utf-8")
    async with served(Helpful(), tmp_path, answer=allow) as server:
        await server.turn(await server.open(), "hello")
        for number in range(WARM):
            await DOINGS[doing](server, number)
        before = await there_is(server)
        for number in range(WARM, WARM + ROUNDS):
            await DOINGS[doing](server, number)
        more = await there_is(server) - before
        assert not {what: many for what, many in more.items() if many >= ROUNDS // 2}


def plugin(folder: Path) -> Path:
    return folder / "number.py"


def allow(_message: str, titles: list[str]) -> str | None:
    return next((title for title in ("Allow once", "Show…") if title in titles), None)


async def there_is(server: Served) -> Counter[str]:
    """How many there are of everything of ours, once what was on its way is over."""
    await server.client.request(names.MODELS, {})
    server.held.seen.clear()
    server.editor.screen.seen.clear()
    gc.collect()
    found = Counter(
        name
        for one in gc.get_objects()
        if (name := f"{type(one).__module__}.{type(one).__qualname__}").startswith("turnbuckle.")
        and not name.startswith(KEPT_BY_TESTS)
    )
    found["tasks"] = len(asyncio.all_tasks())
    found["modules"] = len(sys.modules)
    if sys.platform == "linux":
        found["descriptors"] = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names are enough
    return found
