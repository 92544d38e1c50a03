"""A session that is played: facts are sent as a server would, approvals and cancels awaited."""

import anyio

from turnbuckle.lsp.lives import Token
from turnbuckle.lsp.protocol import ApproveParams
from turnbuckle.lsp.rpc import Connection
from turnbuckle.session.codec import jsonable
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    AssistantChunk,
    AssistantMessage,
    EditApplied,
    Fact,
    LlmStream,
    ToolCall,
    ToolResult,
    ToolStart,
)
from turnbuckle.session.parts import ApprovalOutcome, Call, JsonObject, Usage

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


class PlayedSession:
    """What a play acts with; `turn` is the number of the one that runs."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.token: Token = 0
        self.turn = 0
        self.facts: list[Fact] = []
        self.approvals: dict[str, ApproveParams] = {}
        self.cancelled = False
        self.settled_elsewhere = anyio.Event()
        self._changed = anyio.Event()

    def approve(self, answer: ApproveParams) -> bool:
        """Take an answer; false for a second one."""
        first = self.approvals.setdefault(answer.approval_id, answer) is answer
        self._change()
        return first

    def cancel(self) -> None:
        """Cancel the turn, if its play heeds it."""
        self.cancelled = True
        self._change()

    async def until_cancelled(self) -> None:
        """Wait for a cancel."""
        while not self.cancelled:
            await self._changed.wait()

    def tell(self, *facts: Fact) -> None:
        """Append facts and send them."""
        for fact in facts:
            seq = len(self.facts)
            self.facts.append(fact)
            value = {"seq": seq, "time": 1000 + seq, "type": fact.type, "data": jsonable(fact)}
            self.connection.notify("$/progress", {"token": self.token, "value": value})

    def note(self, type_: str, data: JsonObject) -> None:
        """Send a note."""
        value = {"type": type_, "data": data}
        self.connection.notify("$/progress", {"token": self.token, "value": value})

    async def decided(self, approval_id: str) -> tuple[bool, str | None]:
        """Wait for an answer, or for a cancel of the turn."""
        while approval_id not in self.approvals and not self.cancelled:
            await self._changed.wait()
        if (answer := self.approvals.get(approval_id)) is None:
            return False, None
        return answer.decision == "allow", answer.note

    async def call(self, name: str, arguments: str, subject: JsonObject | None = None) -> bool:
        """Play one call; false if it was not allowed."""
        call_id = f"c{len(self.facts)}"
        self.tell(ToolCall(turn=self.turn, step=1, call_id=call_id, name=name, arguments=arguments))
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

    def _change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def _result(self, call_id: str, content: str, code: str | None) -> None:
        self.tell(
            ToolResult(
                turn=self.turn,
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
        turn = self.turn
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
