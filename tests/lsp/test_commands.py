"""What any editor can run: a command submits or decides, and tells the outcome as a result."""

from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from turnbuckle.agent.agent import Agent
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.rpc import INVALID_PARAMS
from turnbuckle.model.port import Delta, Emit, ModelRefused, Reply, Request
from turnbuckle.session.events import UserMessage
from turnbuckle.testing.editor import HANG
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.testing.tools import COMMAND, tool
from turnbuckle.tools.tool import Go
from turnbuckle.workspace.paths import path_of, uri_of

# Any: values on the wire are JSON.
Json = dict[str, Any]

PLAIN: Json = {"window": {"showMessage": {}}}
"""The capabilities of a client that shows messages and nothing else."""


def hang(_message: str, _titles: list[str]) -> str:
    return HANG


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


def said(request: Request) -> list[str]:
    return [m.content for m in request.messages if isinstance(m, UserMessage)]


async def shown(server: Served, count: int = 1) -> str:
    """The text of the document that was shown last, once so many were."""
    documents = await server.editor.screen.until(
        lambda: (of := server.editor.screen.of("window/showDocument"))[count - 1 :] and of
    )
    path = path_of(documents[-1]["uri"])
    assert path is not None
    return path.read_text(encoding="utf-8")


async def wrong(server: Served, command: str, *arguments: object) -> str:
    """What a command says to bad parameters."""
    with pytest.raises(ServerRefused) as caught:
        await server.editor.execute(command, *arguments)
    assert caught.value.code == INVALID_PARAMS
    return caught.value.message


async def pending(server: Served, count: int = 1) -> list[str]:
    """The ids of all open questions, once they are so many."""

    def open_now() -> list[str]:
        agents: list[Agent] = [opened.agent for opened in server.wirings[0].sessions.open_sessions]
        return [one.approval_id for agent in agents for one in agent.approvals.pending]

    while len(open_now()) < count:
        await anyio.lowlevel.checkpoint()
    return open_now()


# Asking.


async def test_ask_returns_at_once_and_the_answer_is_shown_as_a_document(tmp_path: Path) -> None:
    async with served(Scripted([say("It is **fine**.")]), tmp_path) as server:
        asked = await server.editor.ask("What of it?")
        assert set(asked) == {"sessionId", "key"}
        assert await shown(server) == "# What of it?\n\n> What of it?\n\nIt is **fine**.\n"
        assert server.editor.screen.messages == []


async def test_a_client_without_documents_gets_the_answer_as_a_message(tmp_path: Path) -> None:
    model = Scripted([say("One."), ModelRefused("auth", "The key is wrong.")])
    async with served(model, tmp_path, capabilities=PLAIN) as server:
        screen = server.editor.screen
        await server.editor.ask("first")
        assert await screen.until(lambda: screen.messages) == ["One."]
        await server.editor.ask("second")
        await screen.until(lambda: screen.messages[1:])
        assert screen.messages[1] == "error: The key is wrong."


async def test_commands_go_on_in_one_session(tmp_path: Path) -> None:
    model = Scripted([say("one"), say("two")])
    async with served(model, tmp_path) as server:
        await server.open()
        sessions = server.wirings[0].sessions
        async with sessions._opening:  # so that both are there before the first has one
            asked = [
                server.client.ask("workspace/executeCommand", ask(text)) for text in ("a", "b")
            ]
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
        answers: list[Any] = [await one.answer() for one in asked]
        assert answers[0]["sessionId"] == answers[1]["sessionId"]
        await shown(server, 2)
        assert said(model.requests[1]) == ["a", "b"]
        # A session that is closed is not gone on with.
        await server.client.request(
            "turnbuckle/session/close", {"sessionId": answers[0]["sessionId"]}
        )
        assert (await server.editor.ask("c"))["sessionId"] != answers[0]["sessionId"]


def ask(prompt: str, **more: object) -> Json:
    return {"command": "turnbuckle.ask", "arguments": [{"prompt": prompt, **more}]}


async def test_what_is_pointed_at_is_as_it_stood_when_it_was_asked(tmp_path: Path) -> None:
    model = Scripted([say("one")])
    async with served(model, tmp_path) as server:
        uri = uri_of(server.work / "a.py")
        server.editor.open(uri, "before\n")
        span = server.editor.documents.range("before\n", 0, 6)
        question = server.client.ask("workspace/executeCommand", ask("x", uri=uri, range=span))
        server.editor.type(uri, 0, 6, "after!")
        await question.answer()
        await shown(server)
        head = f"The person has selected {uri}, line 1:"
        assert said(model.requests[0])[0] == f"{head}\n\n```\nbefore\n```"


async def test_diagnostics_are_told_in_words(tmp_path: Path) -> None:
    span = {"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 4}}
    diagnostics: list[Json] = [
        {"range": span, "severity": 2, "source": "ruff", "code": "E501", "message": "too long"},
        {"range": span, "message": {"kind": "markdown", "value": "no *such* name"}},
        {"message": "somewhere", "severity": [1], "code": {"x": 1}, "source": ""},
        {"range": "?", "message": 5},
    ]
    model = Scripted([say("one")])
    async with served(model, tmp_path) as server:
        await server.editor.execute(
            "turnbuckle.ask", {"uri": "file:///a.py", "diagnostics": diagnostics}
        )
        await shown(server)
        assert said(model.requests[0]) == [
            "The person points at the file file:///a.py.",
            (
                "The editor reports file:///a.py:\n\n```\n"
                "line 3: warning (ruff E501): too long\n"
                "line 3: error: no *such* name\n"
                "error: somewhere\n"
                "error: (no message)\n```"
            ),
            "Look at this, and help.",
        ]


async def test_what_cannot_be_asked_is_an_outcome_and_is_told_once(tmp_path: Path) -> None:
    slow = Slow()
    async with served(Scripted([slow]), tmp_path) as server:
        await server.editor.ask("one")
        await slow.begun.wait()
        outcome = await server.editor.ask("two", whenBusy="reject")
        assert outcome == {"outcome": "refused", "message": "a turn runs in this session already"}
        assert server.editor.screen.messages == ["Turnbuckle: a turn runs in this session already"]


async def test_a_wrong_command_is_named(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        assert "turnbuckle.ask" in await wrong(server, "turnbuckle.fly")
        assert await wrong(server, "turnbuckle.ask", {}) == (
            "prompt: say what to do, or point at something"
        )
        assert "one object" in await wrong(server, "turnbuckle.ask", {"prompt": "a"}, {})
        assert await wrong(server, "turnbuckle.ask", "a") == "arguments.0: must be an object"
        assert "arguments.0.prompt: " in await wrong(server, "turnbuckle.ask", {"prompt": 5})
        assert "arguments.0.range.end: " in await wrong(
            server, "turnbuckle.ask", {"range": {"start": {"line": 0, "character": 0}}}
        )
        assert "arguments.0.approvalId: " in await wrong(
            server, "turnbuckle.approve", {"approvalId": 1}
        )


# Deciding.


async def test_a_question_is_decided_by_its_id(tmp_path: Path) -> None:
    replies = [say("", ("1", "act", {})), say("", ("2", "act", {})), say("done")]
    async with served(Scripted(replies), tmp_path, tools=[ACT], answer=hang) as server:
        session_id = await server.open()
        question = server.send(session_id, "go")
        (first,) = await pending(server)
        allowed = await server.editor.execute("turnbuckle.approve", {"approvalId": first})
        assert allowed == {"outcome": "allowed", "message": ""}
        while (second := (await pending(server))[0]) == first:
            await anyio.lowlevel.checkpoint()
        about = {"approvalId": second, "note": "once is enough"}
        assert (await server.editor.execute("turnbuckle.reject", about))["outcome"] == "rejected"
        await server.answer(question)
        for command in ("turnbuckle.approve", "turnbuckle.reject"):
            late = await server.editor.execute(command, {"approvalId": first})
            assert late == {"outcome": "settled", "message": "that question is settled already"}
        assert len(server.editor.screen.messages) == 2


async def test_without_an_id_only_a_single_question_is_rejected(tmp_path: Path) -> None:
    replies = [say("", ("1", "act", {})), say("", ("2", "act", {})), say("a"), say("b")]
    async with served(Scripted(replies), tmp_path, tools=[ACT], answer=hang) as server:
        assert (await server.editor.execute("turnbuckle.reject"))["outcome"] == "nothing"
        assert (await server.editor.execute("turnbuckle.approve"))["outcome"] == "nothing"
        questions = [server.send(await server.open(), "go") for _ in range(2)]
        ids = await pending(server, 2)
        outcome = await server.editor.execute("turnbuckle.reject", {})
        assert outcome["outcome"] == "ambiguous"
        assert "2 questions are open; name one: run: make; run: make" in outcome["message"]
        outcome = await server.editor.execute("turnbuckle.approve", {})
        assert outcome["outcome"] == "shown"
        assert (
            "the oldest of 2 open questions is shown again: run: make; run: make"
            in outcome["message"]
        )
        await server.editor.execute("turnbuckle.reject", {"approvalId": ids[0]})
        assert (await server.editor.execute("turnbuckle.reject"))["outcome"] == "rejected"
        for question in questions:
            assert (await server.answer(question)).end["kind"] == "completed"


# Cancelling.


async def test_cancel_stops_the_only_turn_that_runs(tmp_path: Path) -> None:
    slow = Slow()
    async with served(Scripted([slow]), tmp_path) as server:
        assert (await server.editor.execute("turnbuckle.cancel"))["outcome"] == "nothing"
        question = server.send(await server.open(), "go")
        await slow.begun.wait()
        assert (await server.editor.execute("turnbuckle.cancel"))["outcome"] == "cancelled"
        assert (await server.answer(question)).end == {"kind": "aborted", "cause": "user"}


async def test_cancel_wants_a_name_where_several_run(tmp_path: Path) -> None:
    slow = [Slow(), Slow()]
    async with served(Scripted(slow), tmp_path) as server:
        sessions = [await server.open() for _ in slow]
        questions = []
        for session_id, one in zip(sessions, slow, strict=True):
            questions.append(server.send(session_id, "go"))
            await one.begun.wait()
        assert (await server.editor.execute("turnbuckle.cancel"))["outcome"] == "ambiguous"
        about = {"sessionId": sessions[1]}
        assert (await server.editor.execute("turnbuckle.cancel", about))["outcome"] == "cancelled"
        assert (await server.answer(questions[1])).end["kind"] == "aborted"
        assert (await server.editor.execute("turnbuckle.cancel"))["outcome"] == "cancelled"
        assert (await server.answer(questions[0])).end["kind"] == "aborted"
