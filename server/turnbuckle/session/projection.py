"""What the model is shown: a fold over the facts."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    AssistantMessage,
    ContextPruned,
    ContextRewound,
    ContextSummary,
    Message,
    ToolResult,
    UserMessage,
)

OUTCOME_UNKNOWN = "<tool error: the outcome is unknown; look before you repeat it>"

_BEARING = frozenset(
    (UserMessage, AssistantMessage, ToolResult, ContextSummary, ContextPruned, ContextRewound)
)
"""The facts that bear on what the model is shown."""


class Projection:
    """The messages of the next request, kept in step with the log; `seqs` are those of their facts.

    An answer with tool calls is held back until it has all their results, so that a pair is never
    split; where results are missing for good, the model is told that their outcome is unknown.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.seqs: list[int] = []
        self._open: tuple[int, AssistantMessage] | None = None
        self._results: dict[str, tuple[int, ToolResult]] = {}

    def feed(self, entry: Entry, history: Sequence[Entry]) -> None:
        """Take the next fact; `history` is the log up to it."""
        if type(entry.fact) in _BEARING:
            self._feed(entry, history)

    def _feed(self, entry: Entry, history: Sequence[Entry]) -> None:
        fact = entry.fact
        match fact:
            case UserMessage():
                self._settle()
                self._push(entry.seq, fact)
            case AssistantMessage():
                self._settle()
                self._answer(entry.seq, fact)
            case ToolResult():
                self._result(entry.seq, fact)
            case ContextSummary(covers=(first, last)):
                self._settle()
                self._replace(first, last, fact)
            case ContextPruned(results=results):
                for pruned in results:
                    self._shorten(pruned.seq, pruned.content)
            case ContextRewound(to=to):
                self._rewind(min(to, entry.seq - 1), history)
            case _:
                pass

    def _push(self, seq: int, message: Message) -> None:
        self.messages.append(message)
        self.seqs.append(seq)

    def _answer(self, seq: int, answer: AssistantMessage) -> None:
        if answer.tool_calls:
            self._open = (seq, answer)
        elif answer.content:
            self._push(seq, answer)

    def _result(self, seq: int, result: ToolResult) -> None:
        if self._open is None or result.call_id in self._results:
            return
        calls = self._open[1].tool_calls
        if any(call.call_id == result.call_id for call in calls):
            self._results[result.call_id] = (seq, result)
            if len(self._results) == len(calls):
                self._settle()

    def _settle(self) -> None:
        if self._open is None:
            return
        at, answer = self._open
        results, self._open, self._results = self._results, None, {}
        self._push(at, answer)
        for call in answer.tool_calls:
            self._push(*(results.get(call.call_id) or (at, _missing(answer, call.call_id))))

    def _replace(self, first: int, last: int, summary: ContextSummary) -> None:
        covered = [i for i, seq in enumerate(self.seqs) if first <= seq <= last]
        if covered:
            start, end = covered[0], covered[-1] + 1
            # Whole pairs: what begins or ends within one takes it all.
            while start and isinstance(self.messages[start], ToolResult):
                start -= 1
            while end < len(self.messages) and isinstance(self.messages[end], ToolResult):
                end += 1
            self.messages[start:end] = [summary]
            self.seqs[start:end] = [last]

    def _shorten(self, seq: int, content: str) -> None:
        for index, message in enumerate(self.messages):
            if self.seqs[index] == seq and isinstance(message, ToolResult):
                self.messages[index] = replace(message, content=content)

    def _rewind(self, to: int, history: Sequence[Entry]) -> None:
        self.messages, self.seqs, self._open, self._results = [], [], None, {}
        for entry in leading_to(to, history):
            self.feed(entry, history)


def _missing(answer: AssistantMessage, call_id: str) -> ToolResult:
    return ToolResult(
        turn=answer.turn,
        step=answer.step,
        call_id=call_id,
        content=OUTCOME_UNKNOWN,
        is_error=True,
        code="TOOL_OUTCOME_UNKNOWN",
    )


def leading_to(to: int, history: Sequence[Entry]) -> list[Entry]:
    """What made the state at seq `to`: the facts up to it, without those that were taken back."""
    chain: list[Entry] = []
    for entry in reversed(history):
        if entry.seq > to:
            continue
        if isinstance(entry.fact, ContextRewound):
            to = min(entry.fact.to, entry.seq - 1)
        else:
            chain.append(entry)
    return chain[::-1]


def project(entries: Iterable[Entry]) -> Projection:
    """The projection of a whole log, from scratch."""
    projection, history = Projection(), list(entries)
    for entry in history:
        projection.feed(entry, history)
    return projection
