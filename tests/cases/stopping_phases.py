"""The phases of a turn in which it can be stopped: what the model plays, and how one is reached."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from turnbuckle.lsp import names
from turnbuckle.lsp.protocol import TurnResult
from turnbuckle.testing.completions import answer, chunk, failure
from turnbuckle.testing.modelserver import ModelServer, Play, Response
from turnbuckle.testing.served import Served, served

WINDOW = 4000
"""Tokens that the model holds: one long answer is too much for it already."""

STUBBORN = "trap '' TERM INT HUP; echo begun; sleep 300 & while :; do sleep 300; done"
"""A command that does not want to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A session of a real server whose model is asked over HTTP."""

    server: Served
    model: ModelServer
    session_id: str

    def stop(self) -> None:
        """Stop the turn as a person does, and wait for nothing."""
        self.server.client.ask(names.CANCEL, {"sessionId": self.session_id})

    async def allow(self, count: int = 1, **more: str) -> None:
        """Answer an approval as soon as it is asked."""
        asked = await self.server.fact("approval/asked", count)
        assert await self.server.approve(asked["approvalId"], decision="allow", **more)

    async def shown(self, text: str) -> None:
        """Wait until a command has written something."""
        await self.server.editor.screen.until(
            lambda: any(text in note["text"] for note in self.server.facts("tool/output")) or None
        )

    async def said(self, text: str) -> None:
        """Wait until the model has begun to say something."""
        await self.server.editor.screen.until(
            lambda: (
                any(text in c.get("text", "") for c in self.server.facts("assistant/chunk")) or None
            )
        )

    async def turn(self, prompt: str, **more: object) -> TurnResult:
        """Send a message and wait for its turn."""
        return await self.server.turn(self.session_id, prompt, **more)

    def ends(self) -> list[tuple[str, str | None]]:
        """How the turns ended, and why."""
        told = [fact["end"] for fact in self.server.facts("turn/end")]
        return [(end["kind"], end.get("cause")) for end in told]


@asynccontextmanager
async def talk(script: Sequence[Play], folder: Path, window: int = 0) -> AsyncIterator[Talk]:
    """Open a session whose model plays a script."""
    async with ModelServer(script) as model:
        env = {"TURNBUCKLE_BASE_URL": model.url, "TURNBUCKLE_MODEL": "scripted"}
        if window:
            env["TURNBUCKLE_CONTEXT_WINDOW"] = str(window)
        async with served(None, folder, env=env, events=True) as server:
            session_id = await server.open()
            await server.watch(session_id)
            yield Talk(server=server, model=model, session_id=session_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """`plays` until it is stopped, once it is `reached`; before that there are so many turns."""

    plays: Sequence[Play]
    reached: Callable[[Talk], Awaitable[object]]
    before: int = 0
    window: int = 0


def hanging(*chunks: bytes) -> Response:
    """An answer that never ends."""
    return Response(chunks=chunks, end="hang")


def command(line: str, call_id: str = "c1") -> Response:
    """An answer that runs a command."""
    return answer("", (call_id, "run_command", {"command": line}))


async def _in_a_tool(talk: Talk) -> None:
    await talk.allow()
    await talk.shown("begun")


async def _asked(talk: Talk, count: int) -> None:
    await talk.model.received(count)


HALF_A_CALL = {
    "index": 0, "id": "c1", "type": "function",
    "function": {"name": "run_command", "arguments": '{"command": "ec'},
}  # fmt: skip

PHASES = {
    "before the head of the answer": Phase(
        plays=[Response(chunks=[asyncio.Event()])], reached=lambda talk: _asked(talk, 1)
    ),
    "before its first byte": Phase(plays=[hanging()], reached=lambda talk: _asked(talk, 1)),
    "in its text": Phase(
        plays=[hanging(chunk({"content": "I was"}))],
        reached=lambda talk: talk.server.fact("assistant/chunk"),
    ),
    "in arguments": Phase(
        plays=[hanging(chunk({"tool_calls": [HALF_A_CALL]}))],
        reached=lambda talk: talk.server.fact("assistant/chunk"),
    ),
    "in a tool": Phase(plays=[command("echo begun; sleep 300")], reached=_in_a_tool),
    "in a tool that ignores it": Phase(plays=[command(STUBBORN)], reached=_in_a_tool),
    "in an approval": Phase(
        plays=[command("make")], reached=lambda talk: talk.server.fact("approval/asked")
    ),
    "before another attempt": Phase(
        plays=[failure(429, {"message": "later"}, {"retry-after": "30"})],
        reached=lambda talk: talk.server.fact("llm/failed"),
    ),
    "in a summary": Phase(
        plays=[answer("word " * 2600), hanging()],
        reached=lambda talk: _asked(talk, 2),
        before=1,
        window=WINDOW,
    ),
}
