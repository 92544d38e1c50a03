"""A server that plays what a prompt names, also badly: what the terminal client is tested on."""

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel

from turnbuckle.lsp import names, protocol
from turnbuckle.lsp.rpc import Connection, Refused
from turnbuckle.lsp.serve import serve_stdio
from turnbuckle.session.codec import jsonable
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    AssistantChunk,
    AssistantMessage,
    EditApplied,
    Fact,
    LlmStream,
    StepEnd,
    StepStart,
    ToolCall,
    ToolResult,
    ToolStart,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.parts import ApprovalOutcome, Call, End, EndKind, Failure, JsonObject, Usage

Json = dict[str, Any]  # Any: JSON

COMMAND: JsonObject = {
    "kind": "command",
    "command": "python3 -m unittest",
    "cwd": "file:///work",
    "timeout": 120,
    "reason": "commands are asked for",
}
CHANGE: JsonObject = {
    "kind": "change",
    "reason": "changes are asked for",
    "files": [
        {
            "uri": "file:///work/calc.py",
            "kind": "edit",
            "digest": "d",
            "hunks": [
                {
                    "hunkId": "h1",
                    "line": 1,
                    "oldText": "    return a - b\n",
                    "newText": "    return a + b\n",
                }
            ],
        }
    ],
}


class FakeApp:
    """Serves one session whose turns are plays."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.facts: list[Fact] = []
        self.approvals: dict[str, protocol.ApproveParams] = {}
        self.changed = anyio.Event()
        self.cancelled = False
        self.settled_elsewhere = anyio.Event()
        self._token: protocol.Token = 0
        self._turns = 0

    def initialize(self, params: Json) -> Json:
        if path := os.environ.get("FAKE_PID"):
            Path(path).write_text(str(os.getpid()))
        if os.environ.get("FAKE_START") == "stranger":
            return {"capabilities": {}}
        if os.environ.get("FAKE_START") == "die":
            print("ImportError: no module named anything", file=sys.stderr)  # noqa: T201
            os._exit(7)
        assert params["capabilities"]["experimental"]["turnbuckle"]["events"] == {}
        return {"capabilities": {"experimental": {"turnbuckle": {"protocolVersion": 1}}}}

    async def load(self) -> None:
        connection = self.connection
        connection.know(protocol.REQUESTS)
        connection.on_request(names.SESSION_OPEN, self._open)
        connection.on_request(names.SESSION_EVENTS, self._events)
        connection.on_request(names.TURN, self._turn)
        connection.on_request(names.APPROVE, self._approve)
        connection.on_request(names.CANCEL, self._cancel)

    async def serving(self) -> None:
        await anyio.sleep_forever()

    async def _open(self, params: protocol.SessionOpenParams) -> protocol.SessionOpenResult:
        if params.session_id not in (None, "s-1"):
            raise Refused(f"there is no session {params.session_id!r}", kind="not-found")
        return protocol.SessionOpenResult(session_id="s-1", seq=-1, read_only=False, config={})

    async def _events(self, params: protocol.SessionEventsParams) -> protocol.SessionEventsResult:
        self._token = params.token
        return protocol.SessionEventsResult.model_validate({"from": 0, "seq": -1})

    async def _approve(self, params: protocol.ApproveParams) -> protocol.ApproveResult:
        if params.approval_id in self.approvals:
            return protocol.ApproveResult(accepted=False)
        self.approvals[params.approval_id] = params
        self._change()
        return protocol.ApproveResult(accepted=True)

    async def _cancel(self, _: protocol.CancelParams) -> protocol.Nothing:
        self.cancelled = True
        self._change()
        return protocol.Nothing()

    def _change(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()

    async def _turn(self, params: protocol.TurnParams) -> protocol.TurnResult:
        prompt = params.input[0].text
        play = PLAYS.get(prompt)
        if play is None:
            raise Refused(f"no play is called {prompt!r}", kind="busy", retryable=True)
        self.cancelled = False
        self._turns += 1
        self.tell(TurnStart(turn=self._turns), StepStart(turn=self._turns, step=1))
        self.tell(UserMessage(turn=self._turns, step=1, content=prompt))
        end = await play(self)
        self.tell(
            StepEnd(turn=self._turns, step=1, tool_calls=0), TurnEnd(turn=self._turns, end=end)
        )
        return protocol.TurnResult(
            turn=self._turns, end=jsonable(end), usage={"total": 12}, seq=len(self.facts) - 1
        )

    def tell(self, *facts: Fact) -> None:
        """Append facts and send them."""
        for fact in facts:
            seq = len(self.facts)
            self.facts.append(fact)
            value = {"seq": seq, "time": 1000 + seq, "type": fact.type, "data": jsonable(fact)}
            self.connection.notify("$/progress", {"token": self._token, "value": value})

    def note(self, type_: str, data: JsonObject) -> None:
        """Send a note."""
        value = {"type": type_, "data": data}
        self.connection.notify("$/progress", {"token": self._token, "value": value})

    async def decided(self, approval_id: str) -> tuple[bool, str | None]:
        """Wait for an answer, or for a cancel of the turn."""
        while approval_id not in self.approvals and not self.cancelled:
            await self.changed.wait()
        if (answer := self.approvals.get(approval_id)) is None:
            return False, None
        return answer.decision == "allow", answer.note

    async def call(self, name: str, arguments: str, subject: JsonObject | None = None) -> bool:
        """Play one call; false if it was not allowed."""
        call_id = f"c{len(self.facts)}"
        self.tell(
            ToolCall(turn=self._turns, step=1, call_id=call_id, name=name, arguments=arguments)
        )
        if subject is not None and not await self._ask(call_id, subject):
            self._result(call_id, "<tool error: denied>", "DENIED")
            return False
        self.tell(ToolStart(call_id=call_id, attempt=1))
        self.note("tool/output", {"callId": call_id, "text": "...\nOK\n"})
        if subject is CHANGE:
            self.tell(
                EditApplied(
                    call_id=call_id, uri="file:///work/calc.py", hunks=("h1",), outcome="applied"
                )
            )
        self._result(call_id, "...\nOK\nexit code 0", None)
        return True

    async def _ask(self, call_id: str, subject: JsonObject) -> bool:
        approval_id = f"a-{call_id}"
        self.tell(
            ApprovalAsked(
                approval_id=approval_id,
                call_id=call_id,
                subject=subject,
                digest="d",
                choices=("allow", "reject"),
            )
        )
        allowed, note = await self.decided(approval_id)
        outcome: ApprovalOutcome = "allowed" if allowed else "rejected"
        if self.cancelled:
            outcome = "cancelled"
        self.tell(ApprovalDecided(approval_id=approval_id, outcome=outcome, by="person", note=note))
        return allowed

    def _result(self, call_id: str, content: str, code: str | None) -> None:
        self.tell(
            ToolResult(
                turn=self._turns,
                step=1,
                call_id=call_id,
                content=content,
                is_error=code is not None,
                code=code,
                meta=None if code else {"exitCode": 0},
            )
        )

    def say(self, text: str, *calls: Call) -> None:
        """Play an answer, in two chunks."""
        turn = self._turns
        self.tell(LlmStream(turn=turn, step=1, attempt=1, model="fake", digest="d"))
        half = len(text) // 2
        self.tell(
            AssistantChunk(turn=turn, step=1, text=text[:half]),
            AssistantChunk(turn=turn, step=1, text=text[half:]),
            AssistantMessage(
                turn=turn,
                step=1,
                content=text,
                tool_calls=calls,
                finish="stop",
                usage=Usage(input=10, output=2, total=12),
            ),
        )


def _end(kind: EndKind, **more: Any) -> End:  # Any: fields of an end
    return End(kind=kind, **more)


async def _hello(app: FakeApp) -> End:
    app.say("Hello, here I am.")
    return _end("completed")


async def _run(app: FakeApp) -> End:
    app.say("I run the tests.")
    allowed = await app.call("run_command", '{"command":"python3 -m unittest"}', COMMAND)
    if app.cancelled:
        return _end("aborted", cause="user")
    app.say("They pass." if allowed else "I may not.")
    return _end("completed")


async def _edit(app: FakeApp) -> End:
    app.say("I change it.")
    await app.call("edit_file", '{"path":"calc.py"}', CHANGE)
    return _end("completed")


async def _elsewhere(app: FakeApp) -> End:
    """The question is settled by someone else while it is on the screen."""
    call_id, approval_id = "c", "a"
    app.tell(ToolCall(turn=1, step=1, call_id=call_id, name="run_command", arguments="{}"))
    app.tell(
        ApprovalAsked(
            approval_id=approval_id, call_id=call_id, subject=COMMAND, digest="d", choices=()
        )
    )
    await app.settled_elsewhere.wait()
    app.tell(ApprovalDecided(approval_id=approval_id, outcome="rejected", by="editor"))
    app.tell(ToolResult(turn=1, step=1, call_id=call_id, content="no", is_error=True))
    return _end("completed")


async def _wait(app: FakeApp) -> End:
    """Nothing happens until the turn is cancelled."""
    app.tell(LlmStream(turn=1, step=1, attempt=1, model="fake", digest="d"))
    app.tell(AssistantChunk(turn=1, step=1, text="Let me"))
    while not app.cancelled:
        await app.changed.wait()
    app.tell(AssistantMessage(turn=1, step=1, content="Let me", finish="x", interrupted=True))
    return _end("aborted", cause="user")


async def _deaf(app: FakeApp) -> End:
    """Cancelling does nothing."""
    app.tell(LlmStream(turn=1, step=1, attempt=1, model="fake", digest="d"))
    with anyio.CancelScope(shield=True):
        await anyio.sleep_forever()
    raise AssertionError


async def _die(app: FakeApp) -> End:
    app.say("One moment.")
    print("Fatal: the disk is on fire", file=sys.stderr, flush=True)  # noqa: T201
    await app.connection.writer.flush()
    os._exit(3)


async def _fail(app: FakeApp) -> End:
    failure = Failure(kind="auth", message="invalid api key", status=401)
    return _end("error", failure=failure)


async def _huge(app: FakeApp) -> End:
    """A change that is too large to be shown whole."""
    hunks = [{"hunkId": "h", "line": 1, "truncated": True}]
    files = [{"uri": "file:///work/a", "kind": "edit", "digest": "d", "hunks": hunks}]
    await app.call("edit_file", '{"path":"a"}', {"kind": "change", "files": files})
    return _end("completed")


async def _two(app: FakeApp) -> End:
    """Two questions at once."""
    async with anyio.create_task_group() as group:
        group.start_soon(app.call, "run_command", '{"command":"one"}', COMMAND)
        group.start_soon(app.call, "edit_file", '{"path":"calc.py"}', CHANGE)
    return _end("completed")


async def _flood(app: FakeApp) -> End:
    """Much text, in many small chunks."""
    words = [f"word-{number} " for number in range(5_000)]
    app.tell(LlmStream(turn=1, step=1, attempt=1, model="fake", digest="d"))
    for word in words:
        app.tell(AssistantChunk(turn=1, step=1, text=word))
        await anyio.lowlevel.checkpoint()
    app.tell(AssistantMessage(turn=1, step=1, content="".join(words), finish="stop"))
    return _end("completed")


PLAYS: dict[str, Callable[[FakeApp], Awaitable[End]]] = {
    "hello": _hello,
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
