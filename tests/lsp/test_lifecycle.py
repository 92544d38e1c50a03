"""Sessions forked, taken back, taken over and deleted, as a client sees it."""

from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest

from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.rpc import INVALID_PARAMS
from turnbuckle.model.port import Emit, Reply, Request
from turnbuckle.session.store import read_lines
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.tools.hooks import Allow, Execution, PreExecute
from turnbuckle.workspace.paths import uri_of

# Any: values on the wire are JSON.
Json = dict[str, Any]

LOOK = say("", ("look", "read_file", {"path": "a.txt"}))
EDIT = say("", ("e", "edit_file", {"path": "a.txt", "edits": [{"old": "one", "new": "1"}]}))
MAKE = say("", ("w", "write_file", {"path": "b.txt", "content": "made\n"}))


def allow(ctx: PluginContext) -> None:
    """Ask nobody."""

    async def yes(_: Execution, _next: Next[Execution, PreExecute]) -> PreExecute:
        return Allow()

    ctx.hooks.pre_execute.use(yes)


async def request(server: Served, verb: str, session_id: str, **more: object) -> Any:
    """The answer to one of our requests. Any: its model."""
    return await server.client.request(
        f"turnbuckle/session/{verb}", {"sessionId": session_id} | more
    )


async def refused(server: Served, verb: str, session_id: str, **more: object) -> Json:
    with pytest.raises(ServerRefused) as caught:
        await request(server, verb, session_id, **more)
    assert isinstance(caught.value.data, dict)
    return caught.value.data


def log_of(server: Served, session_id: str) -> Path:
    (path,) = (server.state / "sessions").glob(f"**/{session_id}.jsonl")
    return path


class Holding:
    """A model whose answer takes until it is let go."""

    window = None

    def __init__(self) -> None:
        self.begun, self.go = anyio.Event(), anyio.Event()

    async def __call__(self, _: Request, _emit: Emit) -> Reply:
        self.begun.set()
        await self.go.wait()
        return say("at last")


# Forks.


async def test_a_fork_can_be_opened_and_goes_on_by_itself(tmp_path: Path) -> None:
    async with served(Scripted([say("a"), say("b"), say("c")]), tmp_path) as server:
        parent = await server.open()
        await server.turn(parent, "one")
        await server.turn(parent, "two")
        child = (await request(server, "fork", parent, turn=1)).session_id
        assert child != parent
        assert await server.open(child) == child
        await server.watch(child)
        await server.fact("live")
        assert [f["content"] for f in server.facts("user/message")] == ["one"]
        assert server.facts("session/created")[0]["parent"] == parent
        assert (await server.turn(child, "other")).turn == 2
        assert await refused(server, "fork", parent, turn=3) == {
            "kind": "noSuchTurn", "retryable": False,
        }  # fmt: skip
        assert (await refused(server, "fork", "nothing", turn=0))["kind"] == "sessionNotFound"


async def test_a_damaged_session_is_forked_as_its_message_says(tmp_path: Path) -> None:
    async with served(Scripted([say("a"), say("b"), say("on")]), tmp_path) as server:
        parent = await server.open()
        await server.turn(parent, "one")
        await server.turn(parent, "two")
        await request(server, "close", parent)
        path = log_of(server, parent)
        lines, _ = read_lines(path)
        path.write_bytes(b"".join([*lines[:-2], b"{}\n", lines[-1]]))
        opened = await request(server, "open", parent)
        assert opened.read_only
        assert f"line {len(lines) - 1} is damaged" in opened.damaged
        assert "Fork it at turn 1" in opened.damaged
        child = (await request(server, "fork", parent, turn=1)).session_id
        again = await request(server, "open", child)
        assert not again.read_only
        assert again.damaged is None
        assert (await server.turn(child, "go on")).end == {"kind": "completed"}


# Taking back.


async def test_a_turn_is_taken_back_with_its_files_and_that_is_undone(tmp_path: Path) -> None:
    model = Scripted([LOOK, EDIT, MAKE, say("done")])
    async with served(model, tmp_path, plugins=[allow]) as server:
        a, b = server.work / "a.txt", server.work / "b.txt"
        a.write_bytes(b"one\r\ntwo\r\n")
        session_id = await server.open()
        await server.watch(session_id)
        await server.turn(session_id, "go")
        assert a.read_bytes() == b"1\r\ntwo\r\n"
        came = await request(server, "rewind", session_id, turn=1, files="restore")
        assert came.restored == (uri_of(a), uri_of(b))
        assert came.skipped == ()
        assert a.read_bytes() == b"one\r\ntwo\r\n"
        assert not b.exists()
        await server.fact("edit/undone", 2)
        assert len(server.facts("context/rewound")) == 1
        came = await request(server, "rewind", session_id, undo=True)
        assert len(came.restored) == 2
        assert (a.read_bytes(), b.read_bytes()) == (b"1\r\ntwo\r\n", b"made\n")
        assert await refused(server, "rewind", session_id, undo=True) == {
            "kind": "noSuchTurn", "retryable": False,
        }  # fmt: skip


async def test_an_open_buffer_counts_and_is_put_back_by_the_editor(tmp_path: Path) -> None:
    model = Scripted([LOOK, EDIT, say("done"), LOOK, EDIT, say("done")])
    async with served(model, tmp_path, plugins=[allow]) as server:
        a = server.work / "a.txt"
        a.write_bytes(b"one\ntwo\n")
        server.editor.open(uri_of(a), "one\ntwo\nunsaved\n")
        session_id = await server.open()
        await server.turn(session_id, "go")
        document = server.editor.documents[uri_of(a)]
        assert document.text == "1\ntwo\nunsaved\n"
        came = await request(server, "rewind", session_id, turn=1, files="restore")
        assert came.restored == (uri_of(a),)
        assert document.text == "one\ntwo\nunsaved\n"
        assert a.read_bytes() == b"one\ntwo\n"
        # What the person types afterwards is theirs.
        await server.turn(session_id, "again")
        server.editor.type(uri_of(a), 0, 0, "mine ")
        came = await request(server, "rewind", session_id, turn=2, files="restore")
        assert came.restored == ()
        assert [(f.uri, f.why) for f in came.skipped] == [
            (uri_of(a), "it was changed since the agent wrote it")
        ]
        assert document.text == "mine 1\ntwo\nunsaved\n"


async def test_nothing_is_taken_back_while_a_turn_runs(tmp_path: Path) -> None:
    model = Holding()
    async with served(model, tmp_path) as server:
        session_id = await server.open()
        turn = server.send(session_id, "go")
        await model.begun.wait()
        assert await refused(server, "rewind", session_id, turn=1) == {
            "kind": "busy", "retryable": True,
        }  # fmt: skip
        model.go.set()
        await server.answer(turn)
        await request(server, "rewind", session_id, turn=1)


async def test_a_rewind_names_a_turn_or_undoes_and_not_both(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        session_id = await server.open()
        for wrong in ({}, {"turn": 1, "undo": True}, {"turn": 0}, {"turn": 1, "files": "some"}):
            with pytest.raises(ServerRefused) as caught:
                await server.client.ask(
                    "turnbuckle/session/rewind", {"sessionId": session_id} | wrong
                ).answer()
            assert caught.value.code == INVALID_PARAMS


# The command.


async def said(server: Served, count: int = 1) -> str:
    """The last message that was shown, once there are so many."""
    messages = await server.editor.screen.until(
        lambda: (of := server.editor.screen.messages)[count - 1 :] and of
    )
    return messages[-1]


async def test_the_command_takes_the_last_turn_back_with_its_files(tmp_path: Path) -> None:
    model = Scripted([say("a"), MAKE, say("b"), say("c")])
    async with served(model, tmp_path, plugins=[allow]) as server:
        session_id = await server.open()
        await server.turn(session_id, "one")
        await server.turn(session_id, "two")
        outcome = await server.editor.execute("turnbuckle.undoTurn")
        assert outcome == {"outcome": "undone", "message": "turn 2 was taken back"}
        assert "turn 2 was taken back; put back: b.txt" in await said(server)
        assert not (server.work / "b.txt").exists()
        # The next message waits until the files are back, and the model knows of one turn.
        await server.turn(session_id, "three")
        assert [getattr(m, "content", "") for m in model.requests[-1].messages] == [
            "one", "a", "three",
        ]  # fmt: skip
        outcome = await server.editor.execute("turnbuckle.undoTurn", {"turn": 1})
        assert outcome["message"] == "turn 1 was taken back"
        outcome = await server.editor.execute("turnbuckle.undoTurn")
        assert outcome == {"outcome": "nothing", "message": "there is no turn to take back"}


async def test_the_command_asks_for_a_name_where_several_sessions_have_turns(
    tmp_path: Path,
) -> None:
    async with served(Scripted([say("a"), say("b")]), tmp_path) as server:
        first, second = await server.open(), await server.open()
        await server.turn(first, "one")
        await server.turn(second, "two")
        outcome = await server.editor.execute("turnbuckle.undoTurn")
        assert outcome["outcome"] == "ambiguous"
        outcome = await server.editor.execute("turnbuckle.undoTurn", {"sessionId": second})
        assert outcome["outcome"] == "undone"
        outcome = await server.editor.execute("turnbuckle.undoTurn")
        assert outcome["outcome"] == "undone"
        assert server.opened(first).session.projection.messages == []


async def test_the_command_is_refused_while_a_turn_runs(tmp_path: Path) -> None:
    model = Holding()
    async with served(model, tmp_path) as server:
        session_id = await server.open()
        turn = server.send(session_id, "go")
        await model.begun.wait()
        outcome = await server.editor.execute("turnbuckle.undoTurn")
        assert outcome["outcome"] == "refused"
        assert "a turn runs" in outcome["message"]
        model.go.set()
        await server.answer(turn)


# Deleting.


async def test_a_deleted_session_is_gone_and_its_subscription_ends(tmp_path: Path) -> None:
    async with served(Scripted([say("a")]), tmp_path) as server:
        session_id = await server.open()
        await server.turn(session_id, "one")
        await server.watch(session_id)
        path = log_of(server, session_id)
        await request(server, "delete", session_id)
        assert not path.exists()
        assert [f["content"] for f in server.facts("assistant/message")] == ["a"]
        assert (await refused(server, "open", session_id))["kind"] == "sessionNotFound"
        assert (await refused(server, "delete", session_id))["kind"] == "sessionNotFound"


async def test_what_another_window_writes_is_not_deleted(tmp_path: Path) -> None:
    async with served(Scripted([say("a")]), tmp_path) as first:
        session_id = await first.open()
        await first.turn(session_id, "one")
        async with served(Scripted([]), tmp_path) as second:
            assert await refused(second, "delete", session_id) == {
                "kind": "readOnly", "retryable": True,
            }  # fmt: skip
            assert log_of(first, session_id).exists()


# The window that is left.


async def test_a_second_window_takes_over_with_the_next_message(tmp_path: Path) -> None:
    async with served(Scripted([say("b")]), tmp_path) as second:
        async with served(Scripted([say("a")]), tmp_path) as first:
            session_id = await first.open()
            await first.turn(session_id, "one", key="one")
            opened = await request(second, "open", session_id)
            assert opened.read_only
            await second.watch(session_id)
            await second.fact("live")
            await first.client.request("turnbuckle/session/close", {"sessionId": session_id})
        end = await second.turn(session_id, "two", key="two")
        assert (end.turn, end.end) == (2, {"kind": "completed"})
        await second.fact("turn/end", 2)
        assert [f["content"] for f in second.facts("assistant/message")] == ["a", "b"]
        lines, _ = read_lines(log_of(second, session_id))
        assert [orjson.loads(line)["seq"] for line in lines] == list(range(len(lines)))
