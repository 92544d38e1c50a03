"""Notes about all sessions of a client: at once, on every change, and no more than that."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from turnbuckle.lsp import names
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.watching import MOST, Watch
from turnbuckle.model.port import Emit, Reply, Request
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.testing.tools import COMMAND, tool
from turnbuckle.testing.wire import memory_pair
from turnbuckle.tools.tool import Go
from turnbuckle.workspace.paths import uri_of

# Any: values on the wire are JSON.
Json = dict[str, Any]


async def make(_: object, go: Go) -> str:
    return "made"


MAKE = tool("make", make, subject=COMMAND)


async def watch(server: Served, token: int | str = "badge") -> None:
    await server.client.request(names.WATCH, {"token": token})


def told(server: Served, token: int | str = "badge") -> list[Json]:
    return server.facts("session/changed", token)


async def until(server: Served, **wanted: object) -> Json:
    """Wait for a note that says this."""
    return await server.editor.screen.until(
        lambda: next((n for n in told(server) if wanted.items() <= n.items()), None)
    )


async def test_all_open_sessions_are_told_at_once(tmp_path: Path) -> None:
    async with served(Scripted([say("one")]), tmp_path) as server:
        first, second = await server.open(), await server.open()
        await server.turn(first, "Fix it")
        await watch(server)
        await server.editor.screen.until(lambda: len(told(server)) == 2)
    idle = {"state": "idle", "approvals": 0, "hunks": 0}
    assert told(server) == [
        {"sessionId": first, "title": "Fix it", **idle},
        {"sessionId": second, **idle},
    ]


async def test_a_turn_is_told_from_its_start_to_its_end(tmp_path: Path) -> None:
    hold = anyio.Event()

    async def slow(_: Request, _emit: Emit) -> Reply:
        await hold.wait()
        return say("done")

    async with served(Scripted([slow]), tmp_path) as server:
        await watch(server)
        session_id = await server.open()
        await until(server, sessionId=session_id, state="idle")
        turn = server.send(session_id, "Fix it")
        await until(server, sessionId=session_id, state="running", title="Fix it")
        hold.set()
        await server.answer(turn)
        await server.editor.screen.until(lambda: told(server)[-1]["state"] == "idle")
    states = [note["state"] for note in told(server)]
    assert states == ["idle", "running", "idle"] or states == ["idle", "idle", "running", "idle"]


async def test_a_question_is_told_until_it_is_answered(tmp_path: Path) -> None:
    model = Scripted([say("", ("1", "make", {})), say("done")])
    async with served(model, tmp_path, tools=[MAKE], events=True) as server:
        session_id = await server.open()
        await server.watch(session_id)
        await watch(server)
        turn = server.send(session_id, "make it")
        asked = await server.fact("approval/asked")
        await until(server, state="waiting", approvals=1, hunks=0)
        await server.approve(asked["approvalId"], decision="allow")
        await server.answer(turn)
        last = await server.editor.screen.until(
            lambda: told(server)[-1]["state"] == "idle" and told(server)[-1]
        )
    assert (last["approvals"], last["hunks"]) == (0, 0)


async def test_open_hunks_are_counted(tmp_path: Path) -> None:
    edits = {"path": "a.txt", "content": "one\n2\nthree\nfour\n5\n"}
    model = Scripted(
        [say("", ("1", "read_file", {"path": "a.txt"}), ("2", "write_file", edits)), say("done")]
    )
    async with served(model, tmp_path, events=True) as server:
        path = server.work / "a.txt"
        path.write_text("one\ntwo\nthree\nfour\nfive\n")
        session_id = await server.open(cwd=server.work)
        await server.watch(session_id)
        await watch(server)
        turn = server.send(session_id, f"edit {uri_of(path)}")
        asked = await server.fact("approval/asked")
        await until(server, state="waiting", approvals=1, hunks=2)
        first, second = (h["hunkId"] for h in asked["subject"]["files"][0]["hunks"])
        await server.approve(asked["approvalId"], hunks={first: True})
        await until(server, state="waiting", approvals=1, hunks=1)
        await server.approve(asked["approvalId"], hunks={second: False})
        await server.answer(turn)
        await server.editor.screen.until(lambda: told(server)[-1]["state"] == "idle")


async def test_a_session_that_is_closed_is_told_once(tmp_path: Path) -> None:
    async with served(Scripted([say("one")]), tmp_path) as server:
        await watch(server)
        session_id = await server.open()
        await server.turn(session_id, "Fix it")
        await server.client.request(names.SESSION_CLOSE, {"sessionId": session_id})
        await until(server, sessionId=session_id, state="closed", title="Fix it")
        other = await server.open()
        await until(server, sessionId=other)
        assert [n["state"] for n in told(server) if n["sessionId"] == session_id].count(
            "closed"
        ) == 1
        await server.open(session_id)
        await server.editor.screen.until(lambda: told(server)[-1]["sessionId"] == session_id)
        assert told(server)[-1]["state"] == "idle"


async def test_nothing_is_told_twice(tmp_path: Path) -> None:
    async with served(Scripted([say("one"), say("two")]), tmp_path) as server:
        await watch(server)
        session_id = await server.open()
        for prompt in ("first", "second"):
            await server.turn(session_id, prompt)
        await server.editor.screen.until(
            lambda: told(server) and told(server)[-1]["state"] == "idle"
        )
    pairs = zip(told(server), told(server)[1:], strict=False)
    assert all(one != other for one, other in pairs)


async def test_two_watches_are_told_the_same_and_each_token_is_one(tmp_path: Path) -> None:
    async with served(Scripted([say("one")]), tmp_path) as server:
        session_id = await server.open()
        await watch(server, 1)
        await watch(server, 2)
        for token in (1, 2):
            await server.fact("session/changed", token=token)
            assert told(server, token)[0]["sessionId"] == session_id
            with pytest.raises(ServerRefused) as caught:
                await watch(server, token)
            assert caught.value.code == -32602
            with pytest.raises(ServerRefused):
                await server.watch(session_id, token)
        await server.watch(session_id, "events")
        with pytest.raises(ServerRefused):
            await watch(server, "events")


async def test_a_stop_ends_a_watch_and_frees_its_token(tmp_path: Path) -> None:
    async with served(Scripted([say("one")]), tmp_path) as server:
        session_id = await server.open()
        await watch(server)
        await until(server, sessionId=session_id)
        await server.client.request(names.SESSION_EVENTS_STOP, {"token": "badge"})
        count = len(told(server))
        await server.turn(session_id, "Fix it")
        assert len(told(server)) == count
        await watch(server)
        await until(server, title="Fix it")


async def test_reviews_of_files_are_told(tmp_path: Path) -> None:
    async with served(None, tmp_path) as server:
        await watch(server)
        server.wirings[0].watching.review_changed("file:///a.py")
        await server.editor.screen.until(lambda: server.facts("review/changed", "badge"))
        assert server.facts("review/changed", "badge") == [{"uri": "file:///a.py"}]


async def test_what_waits_for_a_client_that_does_not_read_is_the_latest_of_each(
    tmp_path: Path,
) -> None:
    async with served(Scripted([say("one")] * 20), tmp_path, capacity=0) as server:
        session_id = await server.open()
        await watch(server)
        await until(server, sessionId=session_id)
        (one,) = server.wirings[0].watching._editor.watching.values()
        assert isinstance(one, Watch)
        server.held.hold()
        for number in range(20):
            opened = server.opened(session_id)
            opened.driver.send(f"k{number}", f"prompt {number}")
            await opened.driver.idle()
        assert len(one._waiting) <= 1
        before = len(told(server))
        server.held.let_go()
        await server.editor.screen.until(
            lambda: len(told(server)) > before and told(server)[-1]["state"] == "idle"
        )
        assert len(told(server)) <= before + 3


async def test_notes_that_wait_are_bounded() -> None:
    async with memory_pair() as (left, _):
        one = Watch(left, "badge")
        for number in range(MOST * 2):
            one.tell("review/changed", str(number), dict)
        assert len(one._waiting) == MOST


async def test_who_comes_in_the_middle_is_told_that_a_turn_runs(tmp_path: Path) -> None:
    async def hang(_: Request, _emit: Emit) -> Reply:
        await anyio.sleep_forever()
        raise AssertionError

    async with served(Scripted([hang]), tmp_path) as server:
        session_id = await server.open()
        await server.watch(session_id)
        server.send(session_id, "Fix it")
        await server.fact("llm/stream")
        await watch(server)
        await until(server, sessionId=session_id, state="running")
