"""A turn as standard work-done progress: begin, lines, end; and its cancel button."""

from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from turnbuckle.lsp.rpc import NoAnswer, Refused
from turnbuckle.model.port import Delta, Emit, ModelRefused, Reply, Request
from turnbuckle.testing.editor import HANG
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.testing.tools import COMMAND, tool
from turnbuckle.tools.tool import Go

# Any: values on the wire are JSON.
Json = dict[str, Any]

QUIET_CLIENT: Json = {"window": {}}


async def act(_arguments: Json, _: Go) -> str:
    return "acted"


ACT = tool("act", act, subject=COMMAND, mode="exclusive")


class Slow:
    def __init__(self) -> None:
        self.begun = anyio.Event()

    async def __call__(self, _: Request, emit: Emit) -> Reply:
        emit(Delta(text="so far"))
        self.begun.set()
        await anyio.sleep_forever()
        raise AssertionError


async def settled() -> None:
    for _ in range(200):
        await anyio.lowlevel.checkpoint()


def lines(server: Served, token: int | str) -> list[str]:
    """What was said on a token, with the kind where it is no mere report."""
    values = server.editor.screen.progress(token)
    return [
        value["message"] if value["kind"] == "report" else f"{value['kind']}: {value['message']}"
        for value in values
    ]


async def ended(server: Served, token: int | str) -> list[str]:
    return await server.editor.screen.until(
        lambda: said if (said := lines(server, token)) and said[-1].startswith("end") else None
    )


def cancel(server: Served, token: object) -> None:
    server.client.notify("window/workDoneProgress/cancel", {"token": token})


async def test_a_turn_is_told_in_lines_on_the_clients_token(tmp_path: Path) -> None:
    model = Scripted([say("I will act", ("1", "act", {})), say("a long story")])
    async with served(model, tmp_path, tools=[ACT], answer=lambda _m, _t: None) as server:
        question = server.send(await server.open(), "go", workDoneToken=7)
        await server.answer(question)
        said = await ended(server, 7)
        assert said[0] == "begin: waiting"
        assert said[-1] == "end: completed"
        assert said[2:5] == ["act", "waiting for you", "rejected"]
        assert said[1] == said[5]
        assert said[1].startswith("asking ")
        (begin, *reports, _) = server.editor.screen.progress(7)
        assert begin == {
            "kind": "begin", "title": "Turnbuckle", "cancellable": True, "message": "waiting",
        }  # fmt: skip
        assert "story" not in str(reports)
        assert server.editor.screen.of("window/workDoneProgress/create") == []


async def test_a_failed_turn_ends_its_progress_too(tmp_path: Path) -> None:
    model = Scripted([ModelRefused("auth", "no")])
    async with served(model, tmp_path) as server:
        server.send(await server.open(), "go", workDoneToken="w")
        assert (await ended(server, "w"))[-1] == "end: error"


async def test_a_command_makes_a_token_of_ours_where_the_client_shows_progress(
    tmp_path: Path,
) -> None:
    async with served(Scripted([say("one"), say("two")]), tmp_path) as server:
        await server.editor.ask("one")
        await server.editor.ask("two")
        screen = server.editor.screen
        created = await screen.until(
            lambda: (of := screen.of("window/workDoneProgress/create"))[1:] and of
        )
        tokens = [params["token"] for params in created]
        assert len(set(tokens)) == 2
        for token in tokens:
            assert (await ended(server, token))[-1] == "end: completed"


async def test_nothing_is_told_to_a_client_that_shows_no_progress(tmp_path: Path) -> None:
    async with served(Scripted([say("one")]), tmp_path, capabilities=QUIET_CLIENT) as server:
        await server.editor.ask("one")
        await server.editor.screen.until(lambda: server.editor.screen.messages)
        assert server.editor.screen.of("window/workDoneProgress/create") == []
        assert server.editor.screen.of("$/progress") == []


async def test_nothing_is_told_on_a_token_that_the_client_refused(tmp_path: Path) -> None:
    async def refuse(_: object) -> None:
        raise Refused("no room")

    async with served(Scripted([say("one")]), tmp_path) as server:
        server.client.on_request("window/workDoneProgress/create", refuse)
        await server.editor.ask("one")
        await server.editor.screen.until(lambda: server.editor.screen.of("window/showDocument"))
        await settled()
        assert server.editor.screen.of("$/progress") == []


async def test_the_button_cancels_a_turn_and_keeps_the_queue(tmp_path: Path) -> None:
    slow = Slow()
    async with served(Scripted([slow, say("two"), say("three")]), tmp_path) as server:
        session_id = await server.open()
        first = server.send(session_id, "one", workDoneToken="a")
        await slow.begun.wait()
        second = server.send(session_id, "two", workDoneToken="b")
        await settled()
        cancel(server, "a")
        assert (await server.answer(first)).end == {"kind": "aborted", "cause": "user"}
        assert (await ended(server, "a"))[-1] == "end: aborted"
        await server.turn(session_id, "three")
        assert (await server.answer(second)).turn == 2


async def test_the_button_drops_a_message_that_waits(tmp_path: Path) -> None:
    slow = Slow()
    async with served(Scripted([slow]), tmp_path) as server:
        session_id = await server.open()
        first = server.send(session_id, "one", workDoneToken="a")
        await slow.begun.wait()
        second = server.send(session_id, "two", workDoneToken="b")
        await settled()
        cancel(server, "b")
        assert await ended(server, "b") == ["begin: waiting", "end: dropped: cancelled"]
        with pytest.raises(NoAnswer, match="cancelled"):
            await second.answer()
        assert "end" not in " ".join(lines(server, "a"))
        first.cancel()


async def test_a_button_of_nothing_changes_nothing(tmp_path: Path) -> None:
    async with served(Scripted([say("one"), say("two")]), tmp_path) as server:
        session_id = await server.open()
        await server.turn(session_id, "one", workDoneToken="a")
        for token in ("a", "never", 5):
            cancel(server, token)
        assert (await server.turn(session_id, "two")).end["kind"] == "completed"


async def test_progress_ends_with_its_session(tmp_path: Path) -> None:
    slow = Slow()
    async with served(Scripted([slow]), tmp_path, answer=lambda _m, _t: HANG) as server:
        session_id = await server.open()
        server.send(session_id, "one", workDoneToken="a")
        await slow.begun.wait()
        server.send(session_id, "two", workDoneToken="b")
        await settled()
        await server.client.request("turnbuckle/session/close", {"sessionId": session_id})
        assert (await ended(server, "a"))[-1] == "end: aborted"
        assert (await ended(server, "b"))[-1].startswith(
            "end: dropped: the session was closed; it waits there"
        )
