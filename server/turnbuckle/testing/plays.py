"""A server that plays what a prompt names, also badly: what the terminal client is tested on."""

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel

from turnbuckle.lsp import lives, names, protocol
from turnbuckle.lsp.choosing import EffectiveConfig
from turnbuckle.lsp.rpc import Connection, Refused
from turnbuckle.lsp.serve import serve_stdio
from turnbuckle.session.codec import jsonable
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    AssistantChunk,
    AssistantMessage,
    LlmStream,
    StepEnd,
    StepStart,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.parts import End, EndKind, Failure
from turnbuckle.testing.played import CHANGE, COMMAND, PlayedSession

Json = dict[str, Any]  # Any: JSON


class FakeApp:
    """Serves one session whose turns are plays.

    `FAKE_PID` in the environment names a file for the process id; `FAKE_START` may be `die` or
    `stranger`.
    """

    def __init__(self, connection: Connection) -> None:
        self.session = PlayedSession(connection)
        self._connection = connection

    def initialize(self, params: Json) -> Json:
        if path := os.environ.get("FAKE_PID"):
            Path(path).write_text(str(os.getpid()), encoding="ascii")
        if os.environ.get("FAKE_START") == "stranger":
            return {"capabilities": {}}
        if os.environ.get("FAKE_START") == "die":
            print("ImportError: no module named anything", file=sys.stderr)  # noqa: T201
            os._exit(7)
        assert params["capabilities"]["experimental"]["turnbuckle"]["events"] == {}
        return {"capabilities": {"experimental": {"turnbuckle": {"protocolVersion": 1}}}}

    async def load(self) -> None:
        connection = self._connection
        connection.know(protocol.REQUESTS)
        connection.on_request(names.SESSION_OPEN, self._open)
        connection.on_request(names.SESSION_EVENTS, self._events)
        connection.on_request(names.TURN, self._turn)
        connection.on_request(names.APPROVE, self._approve)
        connection.on_request(names.CANCEL, self._cancel)

    async def serving(self) -> None:
        await anyio.sleep_forever()

    async def _open(self, params: lives.SessionOpenParams) -> lives.SessionOpenResult:
        if params.session_id not in (None, "s-1"):
            raise Refused(f"there is no session {params.session_id!r}", kind="not-found")
        config = EffectiveConfig()
        return lives.SessionOpenResult(session_id="s-1", seq=-1, read_only=False, config=config)

    async def _events(self, params: lives.SessionEventsParams) -> lives.SessionEventsResult:
        self.session.token = params.token
        return lives.SessionEventsResult.model_validate({"from": 0, "seq": -1})

    async def _approve(self, params: protocol.ApproveParams) -> protocol.ApproveResult:
        return protocol.ApproveResult(accepted=self.session.approve(params))

    async def _cancel(self, _: protocol.CancelParams) -> protocol.Nothing:
        self.session.cancel()
        return protocol.Nothing()

    async def _turn(self, params: protocol.TurnParams) -> protocol.TurnResult:
        prompt = params.text
        if (play := PLAYS.get(prompt)) is None:
            raise Refused(f"no play is called {prompt!r}", kind="busy", retryable=True)
        s = self.session
        s.cancelled = False
        s.turn += 1
        s.tell(TurnStart(turn=s.turn), StepStart(turn=s.turn, step=1))
        s.tell(UserMessage(turn=s.turn, step=1, content=prompt))
        end = await play(s)
        s.tell(StepEnd(turn=s.turn, step=1, tool_calls=0), TurnEnd(turn=s.turn, end=end))
        return protocol.TurnResult(
            turn=s.turn, end=jsonable(end), usage={"total": 12}, seq=len(s.facts) - 1
        )


def _end(kind: EndKind, **more: Any) -> End:  # Any: fields of an end
    return End(kind=kind, **more)


async def _hello(s: PlayedSession) -> End:
    s.say("Hello, here I am.")
    return _end("completed")


async def _greet(s: PlayedSession) -> End:
    """Text that few encodings have."""
    s.say("Grüße, 日本 😀")
    return _end("completed")


async def _run(s: PlayedSession) -> End:
    s.say("I run the tests.")
    allowed = await s.call("run_command", '{"command":"python3 -m unittest"}', COMMAND)
    if s.cancelled:
        return _end("aborted", cause="user")
    s.say("They pass." if allowed else "I may not.")
    return _end("completed")


async def _edit(s: PlayedSession) -> End:
    s.say("I change it.")
    await s.call("edit_file", '{"path":"calc.py"}', CHANGE)
    return _end("completed")


async def _elsewhere(s: PlayedSession) -> End:
    """The question is settled by someone else while it is on the screen."""
    call_id, approval_id = "c", "a"
    s.tell(ToolCall(turn=1, step=1, call_id=call_id, name="run_command", arguments="{}"))
    s.tell(
        ApprovalAsked(
            approval_id=approval_id, call_id=call_id, subject=COMMAND, digest="d", choices=()
        )
    )
    await s.settled_elsewhere.wait()
    s.tell(ApprovalDecided(approval_id=approval_id, outcome="rejected", by="editor"))
    s.tell(ToolResult(turn=1, step=1, call_id=call_id, content="no", is_error=True))
    return _end("completed")


async def _wait(s: PlayedSession) -> End:
    """Nothing happens until the turn is cancelled."""
    s.tell(LlmStream(turn=1, step=1, attempt=1, model="fake", digest="d"))
    s.tell(AssistantChunk(turn=1, step=1, text="Let me"))
    await s.until_cancelled()
    s.tell(AssistantMessage(turn=1, step=1, content="Let me", finish="x", interrupted=True))
    return _end("aborted", cause="user")


async def _deaf(s: PlayedSession) -> End:
    """Cancelling does nothing."""
    s.tell(LlmStream(turn=1, step=1, attempt=1, model="fake", digest="d"))
    with anyio.CancelScope(shield=True):
        await anyio.sleep_forever()
    raise AssertionError


async def _die(s: PlayedSession) -> End:
    s.say("One moment.")
    print("Fatal: the disk is on fire", file=sys.stderr, flush=True)  # noqa: T201
    await s.connection.writer.flush()
    os._exit(3)


async def _fail(s: PlayedSession) -> End:
    failure = Failure(kind="auth", message="invalid api key", status=401)
    return _end("error", failure=failure)


async def _huge(s: PlayedSession) -> End:
    """A change that is too large to be shown whole."""
    hunks = [{"hunkId": "h", "line": 1, "truncated": True}]
    files = [{"uri": "file:///work/a", "kind": "edit", "digest": "d", "hunks": hunks}]
    await s.call("edit_file", '{"path":"a"}', {"kind": "change", "files": files})
    return _end("completed")


async def _two(s: PlayedSession) -> End:
    """Two questions at once."""
    async with anyio.create_task_group() as group:
        group.start_soon(s.call, "run_command", '{"command":"one"}', COMMAND)
        group.start_soon(s.call, "edit_file", '{"path":"calc.py"}', CHANGE)
    return _end("completed")


async def _flood(s: PlayedSession) -> End:
    """Much text, in many small chunks."""
    words = [f"word-{number} " for number in range(5_000)]
    s.tell(LlmStream(turn=1, step=1, attempt=1, model="fake", digest="d"))
    for word in words:
        s.tell(AssistantChunk(turn=1, step=1, text=word))
        await anyio.lowlevel.checkpoint()
    s.tell(AssistantMessage(turn=1, step=1, content="".join(words), finish="stop"))
    return _end("completed")


PLAYS: dict[str, Callable[[PlayedSession], Awaitable[End]]] = {
    "hello": _hello,
    "greet": _greet,
    "run": _run,
    "edit": _edit,
    "elsewhere": _elsewhere,
    "wait": _wait,
    "deaf": _deaf,
    "die": _die,
    "fail": _fail,
    "huge": _huge,
    "two": _two,
    "flood": _flood,
}

if __name__ == "__main__":
    sys.exit(anyio.run(serve_stdio, FakeApp))
