"""The facts that close what a broken-off log left open. Pure."""

from collections.abc import Sequence

from turnbuckle.session.codec import Entry
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
)
from turnbuckle.session.parts import Call, End

_WHY = {
    "TOOL_NOT_STARTED": "the session ended before it was started; repeat it if it is still needed",
    "TOOL_OUTCOME_UNKNOWN": "the session ended while it ran; look at what it did before repeating",
    "PARTLY": "the session ended in the middle; some of the approved hunks are applied, look first",
}


class _Open:
    """What of the last turn is still open; a fold."""

    def __init__(self) -> None:
        self.turn: int | None = None
        self.step: int | None = None
        self.said: list[str] = []
        self.answer: AssistantMessage | None = None
        self.owed: dict[str, Call] = {}
        self.called: set[str] = set()
        self.started: set[str] = set()
        self.applied: set[str] = set()
        self.asked: dict[str, None] = {}

    def feed(self, fact: Fact) -> None:
        match fact:
            case TurnStart(turn=turn):
                self.turn = turn
            case TurnEnd():
                self.turn = None
            case StepStart(step=step):
                self.step, self.said, self.answer = step, [], None
                self.owed, self.called = {}, set()
            case StepEnd():
                self.step = None
            case LlmStream(why=None):
                self.said = []
            case AssistantChunk(text=str(text)):
                self.said.append(text)
            case AssistantMessage():
                self.said, self.answer = [], fact
                self.owed = {call.call_id: call for call in fact.tool_calls}
            case _:
                self._feed_call(fact)

    def _feed_call(self, fact: Fact) -> None:
        match fact:
            case ToolCall(call_id=call_id):
                self.called.add(call_id)
            case ToolStart(call_id=call_id):
                self.started.add(call_id)
            case EditApplied(call_id=call_id, outcome="applied"):
                self.applied.add(call_id)
            case ToolResult(call_id=call_id):
                self.owed.pop(call_id, None)
            case ApprovalAsked(approval_id=approval_id):
                self.asked[approval_id] = None
            case ApprovalDecided(approval_id=approval_id):
                self.asked.pop(approval_id, None)
            case _:
                pass

    @property
    def unfinished(self) -> AssistantMessage | None:
        """What the last attempt had said, as the message that it did not become."""
        if self.turn is None or self.step is None or not self.said:
            return None
        return AssistantMessage(
            turn=self.turn, step=self.step, content="".join(self.said), finish="interrupted",
            interrupted=True,
        )  # fmt: skip

    def code(self, call_id: str) -> str:
        if call_id in self.applied:
            return "PARTLY"
        return "TOOL_OUTCOME_UNKNOWN" if call_id in self.started else "TOOL_NOT_STARTED"


def closing(entries: Sequence[Entry]) -> list[Fact]:
    """What to append to a log so that nothing in it is open; nothing for a closed one."""
    state = _Open()
    for entry in entries[open_from(entries) :]:
        state.feed(entry.fact)
    if state.turn is None:
        return []
    facts: list[Fact] = []
    if said := state.unfinished:
        facts.append(said)
    facts += [
        ApprovalDecided(approval_id=i, outcome="cancelled", by="recovery") for i in state.asked
    ]
    if state.step is not None:
        facts += _step(state, state.turn, state.step)
    return [*facts, TurnEnd(turn=state.turn, end=End(kind="interrupted"))]


def open_from(entries: Sequence[Entry]) -> int:
    """Where the open turn begins; after the last fact where none is open."""
    for index in range(len(entries) - 1, -1, -1):
        match entries[index].fact:
            case TurnStart():
                return index
            case TurnEnd():
                return len(entries)
            case _:
                pass
    return len(entries)


def _step(state: _Open, turn: int, step: int) -> list[Fact]:
    facts: list[Fact] = []
    for call in state.owed.values():
        facts += _call(state, turn, step, call)
    calls = len(state.answer.tool_calls) if state.answer else 0
    return [*facts, StepEnd(turn=turn, step=step, tool_calls=calls)]


def _call(state: _Open, turn: int, step: int, call: Call) -> list[Fact]:
    code = state.code(call.call_id)
    result = ToolResult(
        turn=turn, step=step, call_id=call.call_id, content=f"<tool error: {_WHY[code]}>",
        is_error=True, code=code,
    )  # fmt: skip
    if call.call_id in state.called:
        return [result]
    taken_up = ToolCall(
        turn=turn, step=step, call_id=call.call_id, name=call.name, arguments=call.arguments
    )
    return [taken_up, result]
