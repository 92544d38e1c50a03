"""A whole session to hand on: as Markdown for people, as one JSON object for programs.

Ids of questions and of hunks, which could answer something, are not in the Markdown.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson

from turnbuckle.session.asked import asked_for
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    AssistantMessage,
    ContextRewound,
    ContextSummary,
    EditApplied,
    EditUndone,
    Fact,
    InboxAdded,
    LlmFailed,
    SessionCreated,
    SessionTitle,
    TodoWrite,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.markdown import code, fenced, folded, plain, prose, quoted
from turnbuckle.session.parts import End, Usage
from turnbuckle.session.reading import Stored, first_line
from turnbuckle.session.usage import UsageFold

FORMAT = "turnbuckle/session"
"""What a session as JSON says that it is."""

_WORDS = {
    "allowed": "Allowed",
    "rejected": "Rejected",
    "cancelled": "Not decided, it was withdrawn",
    "unavailable": "Not decided, nobody could be asked",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What stands above the facts; `damaged` says why there are no more."""

    session_id: str
    title: str | None = None
    cwd: str | None = None
    parent: str | None = None
    damaged: str | None = None


def head_of(session_id: str, stored: Stored) -> Head:
    """The head of a session, as its facts say it."""
    created: SessionCreated | None = None
    title: str | None = None
    for entry in stored.entries:
        match entry.fact:
            case SessionCreated() as created:
                pass
            case SessionTitle(title=title):
                pass
            case InboxAdded(source="user", input=prompt) if title is None:
                title = first_line(prompt)
            case _:
                pass
    return Head(
        session_id=session_id,
        title=title,
        cwd=created.cwd if created else None,
        parent=created.parent if created else None,
        damaged=stored.damaged,
    )


def as_json(head: Head, lines: Iterable[bytes]) -> bytes:
    """The head, and in `events` the facts exactly as they are stored."""
    known = {
        "format": FORMAT,
        "version": 1,
        "sessionId": head.session_id,
        "title": head.title,
        "cwd": head.cwd,
        "parent": head.parent,
        "damaged": head.damaged,
    }
    first = orjson.dumps({name: value for name, value in known.items() if value is not None})
    events = b",\n".join(line.rstrip(b"\n") for line in lines)
    return first[:-1] + b',"events":[\n' + events + b"\n]}\n"


def as_markdown(head: Head, entries: Iterable[Entry]) -> str:
    """The conversation, with what was done, asked and decided; nothing in it is fetched."""
    teller = _Teller()
    body = [part for entry in entries for part in teller.tell(entry) if part]
    parts = [f"# {plain(head.title or 'Turnbuckle')}", "\n".join(_about(head, teller)), *body]
    if head.damaged:
        parts.append(f"*The session's file is damaged; the rest is missing: {code(head.damaged)}*")
    return "\n\n".join(parts) + "\n"


def _about(head: Head, teller: "_Teller") -> Iterator[str]:
    yield f"- session {code(head.session_id)}"
    if head.parent:
        yield f"- forked from {code(head.parent)}"
    if head.cwd:
        yield f"- in {code(head.cwd)}"
    if teller.began is not None:
        yield f"- begun {_when(teller.began)}"
    if used := _tokens(teller.usage.session):
        yield f"- used {used}"


class _Teller:
    """Tells each fact once, as blocks of Markdown."""

    def __init__(self) -> None:
        self.usage = UsageFold()
        self.began: int | None = None
        self._names: dict[str, str] = {}

    def tell(self, entry: Entry) -> Iterator[str]:
        if self.began is None:
            self.began = entry.time
        self.usage.feed(entry)
        match entry.fact:
            case TurnStart(turn=turn):
                yield f"## Turn {turn}"
            case TurnEnd(end=end):
                used = _tokens(self.usage.turn)
                yield f"*{_ended(end)}{f'; {used}' if used else ''}*"
            case UserMessage(source="user", content=content):
                yield quoted(content)
            case UserMessage(source=source, content=content):
                yield folded(_SOURCES.get(source, source), fenced(content))
            case AssistantMessage(content=content, interrupted=interrupted):
                yield prose(content)
                yield "*(interrupted)*" if interrupted else ""
            case _:
                yield from self._of_call(entry.fact)

    def _of_call(self, fact: Fact) -> Iterator[str]:
        match fact:
            case ToolCall(call_id=call_id, name=name, arguments=arguments):
                self._names[call_id] = name
                yield f"**{code(name[:100])}**"
                yield folded("arguments", fenced(_pretty(arguments), "json"))
            case ToolResult(call_id=call_id, content=content, is_error=is_error, code=why):
                said = f"failed: {why or 'error'}" if is_error else "result"
                called = self._names.pop(call_id, "")[:100]
                yield folded(f"{said} of {called}" if called else said, fenced(content))
            case _:
                yield from (*_of_questions(fact), *_of_context(fact))


_SOURCES = {"context": "pointed at", "plugin": "added by a plugin"}


def _of_questions(fact: Fact) -> Iterator[str]:
    """What was asked and decided, and what came of it."""
    match fact:
        case ApprovalAsked(subject=subject):
            yield from asked_for(subject)
        case ApprovalDecided(outcome=outcome, by=by, note=note, answer=answer):
            said = f"*{_WORDS.get(outcome, outcome)}, by {plain(by)}*"
            yield "\n\n".join([said, *(quoted(text) for text in (answer, note) if text)])
        case EditApplied(uri=uri, hunks=hunks, outcome=outcome):
            yield f"*{_counted(len(hunks), 'change')} of {code(uri)}: {plain(outcome)}*"
        case EditUndone(uri=uri, hunks=hunks, by=by):
            yield f"*{_counted(len(hunks), 'change')} of {code(uri)} undone by {plain(by)}*"
        case _:
            pass


def _of_context(fact: Fact) -> Iterator[str]:
    match fact:
        case LlmFailed(failure=failure, retry_at=again):
            yield f"*The model did not answer{', and was asked again' if again else ''}:*"
            yield fenced(failure.message)
        case ContextSummary(text=text):
            yield folded("summary of what stands above, for the model", prose(text))
        case ContextRewound():
            yield "*The conversation went back to an earlier point.*"
        case TodoWrite(items=items):
            marks = {"done": "x"}
            yield "\n".join(f"- [{marks.get(i.state, ' ')}] {code(i.text)}" for i in items)
        case _:
            pass


def _pretty(arguments: str) -> str:
    """Arguments as the model wrote them, indented where they are JSON."""
    try:
        value = orjson.loads(arguments)
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except (ValueError, TypeError):  # no JSON, or nested deeper than can be written
        return arguments


def _ended(end: End) -> str:
    why = end.reason or end.cause or (end.failure.message if end.failure else None)
    return plain(" ".join(f"{end.kind}: {why}".split())) if why else end.kind


def _tokens(usage: Usage | None) -> str:
    return f"{usage.input:,} tokens in, {usage.output:,} out" if usage else ""


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _when(milliseconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, OSError, ValueError):  # a clock was far out
        return "at an unknown time"
