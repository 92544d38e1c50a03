"""What may outlive a cancel on the wire: the cases E06 and E07."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest

from cases.case import Case, Run
from turnbuckle.lsp import names
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.rpc import CANCELLED, Question
from turnbuckle.model.port import Delta, Emit, Reply, Request
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.testing.tools import COMMAND, tool
from turnbuckle.tools.tool import Go

# Any: values on the wire are JSON.
Json = dict[str, Any]

LIMIT = 30.0
"""Seconds after which something counts as never happening, on a machine that does much else."""

QUIET: Json = {"window": {"workDoneProgress": True}}
"""A client that shows progress and nothing else."""


class Working:
    """A model that goes on calling a tool, and is stopped in the middle of its second answer."""

    def __init__(self) -> None:
        self.requests = 0
        self.begun = anyio.Event()

    async def __call__(self, _: Request, emit: Emit) -> Reply:
        self.requests += 1
        if self.requests == 1:
            return say("", ("c1", "work", {}))
        emit(Delta(text="I was"))
        self.begun.set()
        await anyio.sleep_forever()
        raise AssertionError


async def nothing_after_the_answer(case: Case, folder: Path) -> None:
    """Once a cancel is answered, no request, tool or event follows; so is that of a command."""
    _, _, cancel, _, silence, log = case.data["steps"]
    for number, begin in enumerate((as_request, as_command)):
        model = Working()
        ran: list[int] = []

        async def work(_arguments: Json, _: Go, ran: list[int] = ran) -> str:
            ran.append(1)
            return "worked"

        async with served(
            Scripted([model] * 9),
            folder / str(number),
            tools=[tool("work", work)],
            capabilities=QUIET,
        ) as server:
            session_id, question, stop = await begin(server)
            await server.watch(session_id)
            await model.begun.wait()
            stop()
            assert cancel["send"] == "$/cancelRequest"
            await stopped(question)
            await server.fact("turn/end")
            await server.client.request(names.MODELS, {})  # all that was sent before it has come
            before = len(server.held.seen)
            await quiet(server, before, silence["expect_silence_s"])
            assert (model.requests, len(ran)) == (2, 1)
            assert log["expect_log"] == "turn cancelled, no later step"
            entries = server.opened(session_id).session.log.entries
            assert entries[-1].fact.type == "turn/end"
            assert entries[-1].fact.end.kind == "aborted"  # type: ignore[union-attr] # it is one
    await cancelled_at_once(folder / "at once")


Begun: TypeAlias = tuple[str, Question, Callable[[], None]]
"""The session of a turn, the request that began it, and what stops it."""


async def as_request(server: Served) -> Begun:
    """A turn as a request of ours: cancelling that cancels the turn."""
    session_id = await server.open()
    question = server.send(session_id, "go")
    return session_id, question, question.cancel


async def as_command(server: Served) -> Begun:
    """A turn by command is submitted once that is answered, and cancelled where it is shown."""
    arguments = [{"prompt": "go"}]
    question = server.client.ask(
        "workspace/executeCommand", {"command": "turnbuckle.ask", "arguments": arguments}
    )
    asked: Any = await question.answer()
    screen = server.editor.screen
    (created,) = await screen.until(lambda: screen.of("window/workDoneProgress/create"))

    def stop() -> None:
        server.client.notify("$/cancelRequest", {"id": question.id})  # nobody waits for it
        server.client.notify("window/workDoneProgress/cancel", created)

    return asked["sessionId"], question, stop


async def stopped(question: Question) -> bool:
    """Whether a request is answered as cancelled; it may have been answered before, once."""
    code = CANCELLED
    with anyio.fail_after(LIMIT):
        try:
            await question.answer()
        except ServerRefused as refused:
            code = refused.code
        else:
            return False
    assert code == CANCELLED
    return True


async def quiet(server: Served, before: int, seconds: float) -> None:
    """Wait so long, and fail at the first message."""
    with anyio.move_on_after(seconds):
        await server.editor.screen.until(
            lambda: server.held.seen[before:] or None, limit=seconds + 1
        )
    assert server.held.seen[before:] == []


async def cancelled_at_once(folder: Path) -> None:
    """A command that is answered as cancelled has submitted nothing, whenever that was."""
    async with served(Scripted([say("ran")] * 20), folder, capabilities=QUIET) as server:
        cancelled = submitted = 0
        for number in range(10):
            question = server.client.ask(
                "workspace/executeCommand",
                {"command": "turnbuckle.ask", "arguments": [{"prompt": f"go {number}"}]},
            )
            for _ in range(number):
                await anyio.lowlevel.checkpoint()
            question.cancel()
            if await stopped(question):
                cancelled += 1
            else:
                submitted += 1
        messages = 0
        for opened in server.wirings[0].sessions.open_sessions:
            with anyio.fail_after(LIMIT):
                await opened.driver.idle()
            messages += sum(e.fact.type == "inbox/added" for e in opened.session.log.entries)
        assert messages == submitted, f"{cancelled} were answered as cancelled"


async def late_answer(case: Case, folder: Path) -> None:
    """A prompt that is answered after its turn was cancelled changes nothing and harms nothing."""
    prompt, cancel, _, reply, absent, alive = case.data["steps"]
    assert (prompt["expect_request"], cancel["send"]) == (
        "window/showMessageRequest",
        "$/cancelRequest",
    )
    ran: list[int] = []
    asked, late, told = anyio.Event(), anyio.Event(), anyio.Event()

    async def act(_arguments: Json, _: Go) -> str:
        ran.append(1)
        return "acted"

    async def click(_: object) -> Json:
        """Stay on the screen, as real editors do, and be clicked in the end."""
        asked.set()
        with anyio.CancelScope(shield=True):
            await late.wait()
        told.set()
        return dict(reply["reply_to_server_request"])

    script = [say("", ("c1", "act", {})), say("here")]
    tools = [tool("act", act, subject=COMMAND, mode="exclusive")]
    async with served(Scripted(script), folder, tools=tools) as server:
        server.client.on_request(prompt["expect_request"], click)
        session_id = await server.open()
        await server.watch(session_id)
        turn = server.send(session_id, "go")
        await asked.wait()
        turn.cancel()
        with pytest.raises(ServerRefused) as refused, anyio.fail_after(LIMIT):
            await turn.answer()
        assert refused.value.code == CANCELLED
        facts = len(server.opened(session_id).session.log.entries)
        late.set()
        await told.wait()
        await server.client.request(names.MODELS, {})
        assert alive == {"expect": "alive"}
        # It was ignored, and only a click on what does something is told so, without an alarm.
        assert ran == []
        assert len(server.opened(session_id).session.log.entries) == facts
        messages = server.editor.screen.of(absent["expect_no"])
        assert [m for m in messages if m["type"] < 3] == []
        assert (await server.turn(session_id, "still there?")).end == {"kind": "completed"}


RUN: dict[str, Run] = {"E06": nothing_after_the_answer, "E07": late_answer}
