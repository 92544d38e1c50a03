"""What an answer may do to a panel: the cases I."""

from pathlib import Path

import anyio.lowlevel

from cases.case import Case, Run, elsewhere
from turnbuckle.model.port import Delta, Emit, Reply, Request
from turnbuckle.session.events import AssistantChunk, TurnEnd
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import served

PANEL = elsewhere("vscode-client/test/webview/cases.test.tsx")

FRAMES = 40
"""Frames that may carry any number of deltas that wait for a client."""


async def long_chat(case: Case, folder: Path) -> None:
    """Very many deltas reach a client whole, and in few frames where it is slower than the model.

    Not so many a second: a client that reads as fast as the model speaks is shown each word when it
    comes. There is one frame on its way at most, and what waits meanwhile becomes the next one.
    """
    count, words = case.data["deltas"], [f"w{number} " for number in range(case.data["deltas"])]

    async def speak(_: Request, emit: Emit) -> Reply:
        for number, word in enumerate(words):
            emit(Delta(text=word))
            if number % 20 == 0:
                await anyio.lowlevel.checkpoint()
        return say("".join(words))

    before = [say("fine")] * 20
    async with served(Scripted([*before, speak]), folder, events=True, capacity=0) as server:
        session_id = await server.open()
        for _ in before:
            await server.turn(session_id, "go")
        await server.watch(session_id)
        server.held.hold()
        turn = server.send(session_id, "speak")
        entries = server.opened(session_id).session.log.entries
        while not (isinstance(entries[-1].fact, TurnEnd) and entries[-1].fact.turn > len(before)):
            await anyio.lowlevel.checkpoint()
        server.held.let_go()
        await server.answer(turn)
        # What was sent of it is its beginning; the message itself, which is last, has all of it.
        shown = "".join(chunk["text"] for chunk in server.facts("assistant/chunk"))
        message = server.facts("assistant/message")[-1]["content"]
        assert (message == "".join(words)) is case.data["expect"]["text_equal"]
        assert shown.endswith(tuple(words)) or not shown
        assert message.startswith(shown[shown.find(words[0]) :])
        frames = server.facts("assistant/chunk")
        assert len(frames) <= FRAMES, len(frames)
        kept = [entry.fact for entry in entries if isinstance(entry.fact, AssistantChunk)]
        assert (
            count / 20 < len(kept) < count
        )  # the log has what came, the client what it could take


RUN: dict[str, Run] = {
    "I01": PANEL,
    "I02": PANEL,
    "I04": long_chat,
    "I06": PANEL,
    "I07": PANEL,
    "I08": PANEL,
    "I09": PANEL,
    "I11": PANEL,
    "I13": PANEL,
}
