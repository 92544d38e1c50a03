"""A session told in lines, fact by fact: what a terminal shows, live and afterwards."""

from collections.abc import Iterator, Sequence

from turnbuckle.cli.calls import result_lines
from turnbuckle.cli.lines import Line, Said, Shown, counted, line, seconds
from turnbuckle.cli.places import shown_place
from turnbuckle.cli.subjects import subject_lines
from turnbuckle.cli.values import Event
from turnbuckle.cli.visible import harmless, one_line
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    AssistantChunk,
    AssistantMessage,
    ContextRewound,
    ContextSummary,
    EditUndone,
    InboxDropped,
    LlmFailed,
    LlmStream,
    SessionCreated,
    TodoWrite,
    ToolCall,
    ToolResult,
    TurnEnd,
    UserMessage,
)
from turnbuckle.session.parts import End, Failure, TodoItem

_DECISIONS = {
    "allowed": "allowed once",
    "rejected": "rejected",
    "cancelled": "not decided: cancelled",
    "unavailable": "not decided: nobody could be asked",
}
_TODO = {"open": "☐", "active": "▸", "done": "☑"}
TODO_LINES = 20
"""How many lines of a list are shown."""

_ADVICE = {
    "auth": "check the key; `turnbuckle doctor` says where it came from",
    "quota": "check the account of the provider",
    "transport": "check the endpoint and the network (`turnbuckle doctor` tries them), then go on",
    "timeout": "send the message again",
    "rate-limit": "send the message again later",
    "server": "send the message again later",
    "overflow": "start a new session, or ask for less at once",
    "model": "`turnbuckle doctor` says which models there are",
    "store": "`turnbuckle doctor` looks at that folder; TURNBUCKLE_STATE_DIR names another",
}


class Narration:
    """Tells each event once.

    `echo` tells the person's own messages too, `subjects` what was asked for; a live terminal has
    shown both in its own way. `cwd` is the session's folder, as a URI.
    """

    def __init__(self, *, echo: bool, subjects: bool = False, cwd: str | None = None) -> None:
        self._echo = echo
        self._subjects = subjects
        self._cwd = cwd
        self._said = 0  # characters of the current answer
        self._begun = False
        self._apart = True  # whether text may follow without an empty line
        self._todo: tuple[str, ...] = ()
        self._calls: dict[str, ToolCall] = {}
        self._asked: set[str] = set()

    def feed(self, event: Event, *, past: bool = False) -> list[Shown]:
        """What to print for the next event; with `past` also what was asked for."""
        shown = self._tell(event)
        if past and not self._subjects and isinstance(event, ApprovalAsked):
            shown += subject_lines(event.subject, self._cwd)
        if not shown:
            return []
        apart = self._apart if isinstance(shown[0], Said) else not isinstance(event, UserMessage)
        if self._begun and not apart:
            shown.insert(0, line(""))
        self._begun, self._apart = True, isinstance(shown[-1], Said)
        return shown

    def _tell(self, event: Event) -> list[Shown]:
        match event:
            case SessionCreated(cwd=str(cwd)):
                self._cwd = cwd
            case LlmStream():
                self._said = 0
            case AssistantChunk(text=str(text)):
                self._said += len(text)
                return [Said(harmless(text))]
            case AssistantMessage():
                return self._rest(event)
            case UserMessage(source="user", content=content) if self._echo:
                return list(_prompt(content))
            case _:
                return [*self._of_call(event), *_of_turn(event), *_of_context(event, self._cwd)]
        return []

    def _rest(self, message: AssistantMessage) -> list[Shown]:
        """What of an answer did not come as chunks, and its end."""
        rest, self._said = message.content[self._said :], 0
        shown: list[Shown] = [Said(harmless(rest))] if rest else []
        if message.content and not message.content.endswith("\n"):
            shown.append(Said("\n"))
        return shown

    def _of_call(self, event: Event) -> list[Shown]:
        match event:
            case ToolCall(call_id=call_id):
                self._calls[call_id] = event
            case ToolResult(call_id=call_id):
                call = self._calls.pop(call_id, None)
                name, arguments = (call.name, call.arguments) if call else ("a tool", "")
                if name != "todo_write" or event.is_error:  # the list itself tells more
                    return [*result_lines(name, arguments, event)]
            case ApprovalAsked(approval_id=approval_id, subject=subject):
                self._asked.add(approval_id)
                return [*subject_lines(subject, self._cwd)] if self._subjects else []
            case ApprovalDecided(approval_id=approval_id):
                if approval_id in self._asked:
                    self._asked.remove(approval_id)
                    return [_decision(event)]
            case TodoWrite(items=items):
                known, self._todo = self._todo, tuple(item.text for item in items)
                return [*(_progress(items) if known == self._todo else _list(items))]
            case _:
                pass
        return []


def _list(items: Sequence[TodoItem]) -> Iterator[Line]:
    for item in items[:TODO_LINES]:
        yield line(f"{_TODO[item.state]} {one_line(item.text, 120)}", "todo")
    if len(items) > TODO_LINES:
        yield line(f"… {len(items) - TODO_LINES} more", "dim")


def _progress(items: Sequence[TodoItem]) -> Iterator[Line]:
    """Where in the list the agent is now."""
    done = sum(item.state == "done" for item in items)
    now = next((item for item in items if item.state == "active"), None)
    what = f"▸ {one_line(now.text, 120)}" if now else "☑ the list"
    yield ((what, "todo"), (f"  {done} of {len(items)} done", "dim"))


def _prompt(content: str) -> Iterator[Line]:
    for number, row in enumerate(harmless(content).rstrip("\n").split("\n")):
        yield (("› " if not number else "  ", "you"), (row, "you"))


def _decision(decided: ApprovalDecided) -> Line:
    note = f": {one_line(decided.note, 200)}" if decided.note else ""
    words = _DECISIONS.get(decided.outcome, decided.outcome)
    return line(f"  {words}{note}", "dim" if decided.outcome == "allowed" else "warn")


def _of_turn(event: Event) -> list[Shown]:
    match event:
        case LlmFailed(failure=failure, retry_at=retry_at):
            again = "; it is asked again" if retry_at is not None else ""
            return [line(f"  the model did not answer: {_why(failure)}{again}", "warn")]
        case InboxDropped(keys=keys, why=why):
            return [line(f"  {counted(len(keys), 'message')} dropped: {one_line(why)}", "warn")]
        case TurnEnd(end=end):
            return list(end_lines(end))
        case _:
            return []


def _of_context(event: Event, cwd: str | None) -> list[Shown]:
    match event:
        case ContextSummary():
            return [line("  the older part of the conversation is summed up for the model", "dim")]
        case ContextRewound():
            return [line("  the conversation went back to an earlier point", "dim")]
        case EditUndone(uri=uri, hunks=hunks, by=by):
            where = harmless(shown_place(uri, cwd))
            return [line(f"  {counted(len(hunks), 'change')} of {where} undone by {by}", "warn")]
        case _:
            return []


def end_lines(end: End) -> Iterator[Line]:
    """How a turn ended, for the person; nothing for one that completed."""
    match end:
        case End(kind="completed"):
            return
        case End(kind="error", failure=Failure() as failure):
            yield line(f"failed: {_why(failure)}", "bad")
            if advice := _ADVICE.get(failure.kind):
                yield line(f"  {advice}", "dim")
        case End(kind="aborted"):
            why = f" ({one_line(end.cause, 200)})" if end.cause not in (None, "user") else ""
            yield line(f"cancelled{why}", "warn")
        case End(kind="max-tokens"):
            yield line("cut off: the answer reached the model's limit of tokens", "warn")
        case End(kind="interrupted"):
            yield line("interrupted: the server ended in the middle of the turn", "warn")
        case _:
            why = f": {one_line(end.reason, 400)}" if end.reason else ""
            yield line(f"{end.kind}{why}", "warn")


def _why(failure: Failure) -> str:
    wait = f", wait {seconds(failure.retry_after)}" if failure.retry_after is not None else ""
    status = f" {failure.status}" if failure.status is not None else ""
    return f"{one_line(failure.message, 400)} ({failure.kind}{status}{wait})"
