"""What goes on now, and for how long: the status line, from facts and notes."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from turnbuckle.cli.calls import label
from turnbuckle.cli.lines import Line, line, seconds
from turnbuckle.cli.values import Event, Note
from turnbuckle.cli.visible import harmless, one_line
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    AssistantChunk,
    AssistantMessage,
    LlmFailed,
    LlmStream,
    StepEnd,
    ToolCall,
    ToolResult,
    ToolStart,
    TurnEnd,
    TurnStart,
)

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAMES_A_SECOND = 10

OUTPUT = 4_000
"""How many characters of a command's output are kept to show its end."""


@dataclass(frozen=True, slots=True)
class _Doing:
    what: str
    since: float


class Activity:
    """A fold; `clock` gives seconds and need not start anywhere.

    `rows` is how many lines of a command's output are shown.
    """

    def __init__(self, clock: Callable[[], float], rows: int = 1) -> None:
        self._clock = clock
        self._rows = rows
        self._phase: _Doing | None = None
        self._calls: dict[str, _Doing] = {}
        self._running: dict[str, _Doing] = {}
        self._asked: dict[str, _Doing] = {}
        self._output = ""

    def begin(self, what: str) -> None:
        """Something is done that no event tells of, such as starting the server."""
        self._phase = _Doing(what, self._clock())

    def end(self) -> None:
        """Nothing is done any more."""
        self._phase = None
        self._calls, self._running, self._asked, self._output = {}, {}, {}, ""

    def feed(self, event: Event) -> None:
        """Take the next event."""
        match event:
            case TurnStart():
                self.begin("starting")
            case TurnEnd():
                self.end()
            case StepEnd():
                self.begin("working")
            case Note(type="status", data={"text": str(text)}):
                self._become(one_line(text))
            case Note(type="tool/output", data={"callId": str(call_id), "text": str(text)}):
                if call_id in self._running:
                    self._output = (self._output + text)[-OUTPUT:]
            case LlmStream() | LlmFailed() | AssistantChunk() | AssistantMessage():
                self._feed_model(event)
            case _:
                self._feed_call(event)

    def _feed_model(self, event: LlmStream | LlmFailed | AssistantChunk | AssistantMessage) -> None:
        match event:
            case LlmStream(why=str()):
                self.begin("summing up the older part of the conversation")
            case LlmStream(model=model, attempt=attempt):
                again = f" again, attempt {attempt}" if attempt > 1 else ""
                self.begin(f"asking {one_line(model, 40)}{again}")
            case LlmFailed():
                self.begin("waiting before the model is asked again")
            case AssistantChunk():
                if what := _saying(event):
                    self._become(what)
            case AssistantMessage():
                self.begin("working")

    def _feed_call(self, event: Event) -> None:
        match event:
            case ToolCall(call_id=call_id, name=name, arguments=arguments):
                self._calls[call_id] = _Doing(label(name, arguments), self._clock())
            case ToolStart(call_id=call_id) if call_id in self._calls:
                self._running[call_id] = replace(self._calls[call_id], since=self._clock())
            case ToolResult(call_id=call_id):
                self._calls.pop(call_id, None)
                self._running.pop(call_id, None)
                self._output = ""
                if not self._calls:
                    self.begin("working")
            case ApprovalAsked(approval_id=approval_id):
                self._asked[approval_id] = _Doing("waiting for you", self._clock())
            case ApprovalDecided(approval_id=approval_id):
                self._asked.pop(approval_id, None)
            case _:
                pass

    def _become(self, what: str) -> None:
        """Go on to something, whose time runs on if it goes on already."""
        if self._phase is None or self._phase.what != what:
            self.begin(what)

    def _now(self) -> _Doing | None:
        """What the person should know first."""
        if self._asked:
            return next(iter(self._asked.values()))
        if self._running:
            doing, *others = self._running.values()
            more = f" and {len(others)} more" if others else ""
            return replace(doing, what=f"running {doing.what}{more}")
        if self._calls:
            doing = next(iter(self._calls.values()))
            return replace(doing, what=f"preparing {doing.what}")
        return self._phase

    def lines(self) -> list[Line]:
        """The status line with the time that it takes already, and the last lines of output."""
        doing = self._now()
        if doing is None:
            return []
        now = self._clock()
        frame = _FRAMES[int(now * FRAMES_A_SECOND) % len(_FRAMES)]
        status: Line = (
            (f"{frame} ", "you"),
            (doing.what, ""),
            (f"  {seconds(now - doing.since)}", "dim"),
        )
        rows = [row for row in harmless(self._output).splitlines() if row.strip()]
        return [status, *(line(f"  {one_line(row, 120)}", "dim") for row in rows[-self._rows :])]


def _saying(chunk: AssistantChunk) -> str | None:
    """What the model is doing, by the last thing it said."""
    names = [call.name for call in chunk.tool_calls or () if call.name]
    if names:
        return f"writing a call of {one_line(names[-1], 40)}"
    if chunk.text:
        return "writing"
    return "thinking" if chunk.reasoning else None
