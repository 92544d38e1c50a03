"""The order that every whole log has, whatever happened to the session."""

from collections import Counter

from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    AssistantMessage,
    Fact,
    InboxDropped,
    Message,
    StepEnd,
    StepStart,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.projection import project


def assert_pairs(messages: list[Message]) -> None:
    owed: list[str] = []
    for message in messages:
        if isinstance(message, ToolResult):
            assert owed
            assert owed.pop(0) == message.call_id
            continue
        assert not owed
        if isinstance(message, AssistantMessage):
            owed = [call.call_id for call in message.tool_calls]
    assert not owed


class Order:
    """The order that every whole log has, whatever happened."""

    def __init__(self, stats: Counter[str]) -> None:
        self.stats = stats
        self.turn: int | None = None
        self.step: int | None = None
        self.owed: list[str] = []
        self.called: set[str] = set()
        self.asked: set[str] = set()
        self.entered: Counter[str] = Counter()

    def feed(self, fact: Fact) -> None:
        match fact:
            case TurnStart(turn=turn):
                assert self.turn is None
                self.turn = turn
            case TurnEnd(turn=turn, end=end):
                assert (self.turn, self.step) == (turn, None)
                self.turn = None
                self.stats[f"end {end.kind}"] += 1
            case StepStart(step=step):
                assert self.turn
                assert self.step is None
                self.step = step
            case StepEnd(step=step):
                assert self.step == step
                assert not self.owed
                self.step = None
            case UserMessage(key=str(key)):
                assert self.step
                self.entered[key] += 1
            case InboxDropped(keys=keys):
                assert not [key for key in keys if self.entered[key]]
            case _:
                self.feed_call(fact)

    def feed_call(self, fact: Fact) -> None:
        match fact:
            case AssistantMessage(tool_calls=calls):
                assert self.step
                self.owed = [call.call_id for call in calls]
            case ToolCall(call_id=call_id):
                assert call_id not in self.called
                self.called.add(call_id)
            case ToolResult(call_id=call_id, code=code):
                assert call_id in self.called
                assert self.owed.pop(0) == call_id
                self.stats[f"result {code or 'ok'}"] += 1
            case ApprovalAsked(approval_id=approval_id):
                self.asked.add(approval_id)
            case ApprovalDecided(approval_id=approval_id):
                self.asked.remove(approval_id)
            case _:
                pass


def check_log(entries: list[Entry], stats: Counter[str]) -> None:
    assert [entry.seq for entry in entries] == list(range(len(entries)))
    order = Order(stats)
    for entry in entries:
        order.feed(entry.fact)
    assert (order.turn, order.step, order.asked) == (None, None, set())
    assert set(order.entered.values()) <= {1}
    assert_pairs(project(entries).messages)
