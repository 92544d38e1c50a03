"""A log as a short text that people read: what tests compare."""

from collections.abc import Iterable

import orjson

from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    ApprovalHunk,
    AssistantMessage,
    ContextPruned,
    ContextSummary,
    EditApplied,
    Fact,
    InboxDropped,
    LlmFailed,
    ToolCall,
    ToolResult,
    TurnEnd,
    UserMessage,
)
from turnbuckle.session.parts import End


def transcript(entries: Iterable[Entry]) -> str:
    """One line a fact that the model or the person sees; ids that are random are left out."""
    lines = (_line(entry.fact) for entry in entries)
    return "".join(f"{line}\n" for line in lines if line is not None)


def _line(fact: Fact) -> str | None:
    match fact:
        case UserMessage(source=source, content=content):
            return f"{source:<9} {_short(content)}"
        case AssistantMessage(content=content, interrupted=interrupted):
            mark = " (interrupted)" if interrupted else ""
            return f"assistant {_short(content)}{mark}" if content else None
        case LlmFailed(failure=failure):
            return f"failed    {failure.kind}: {failure.message}"
        case InboxDropped(keys=keys, why=why):
            return f"dropped   {', '.join(keys)}: {why}"
        case TurnEnd(end=end):
            return f"end       {_end(end)}"
        case ContextPruned(results=results):
            return f"pruned    {len(results)}"
        case ContextSummary(text=text):
            return f"summary   {_short(text)}"
        case _:
            return _call_line(fact)


def _call_line(fact: Fact) -> str | None:
    match fact:
        case ToolCall(call_id=call_id, name=name, arguments=arguments):
            return f"  call    {call_id} {name}({_arguments(arguments)})"
        case ToolResult(call_id=call_id, content=content, code=code):
            mark = f"{code} " if code else ""
            return f"  result  {call_id} {mark}{_short(content)}"
        case ApprovalAsked(call_id=call_id, subject=subject):
            return f"  asked   {call_id} {subject['kind']}: {subject['reason']}"
        case ApprovalHunk(decision=decision):
            return f"  hunk    {decision}"
        case ApprovalDecided(outcome=outcome, by=by, note=note):
            return f"  decided {outcome} by {by}" + (f": {note}" if note else "")
        case EditApplied(call_id=call_id, hunks=hunks, outcome=outcome):
            return f"  edit    {call_id} {outcome}, hunks: {len(hunks)}"
        case _:
            return None


def _end(end: End) -> str:
    why = end.reason or end.cause or (end.failure and f"{end.failure.kind}: {end.failure.message}")
    return f"{end.kind} ({why})" if why else end.kind


def _short(text: str) -> str:
    line = text.replace("\n", "⏎")
    return line if len(line) <= 200 else f"{line[:200]}…"


def _arguments(raw: str) -> str:
    try:
        value = orjson.loads(raw or "{}")
    except orjson.JSONDecodeError:
        return _short(raw)
    if not isinstance(value, dict):
        return _short(raw)
    return ", ".join(f"{key}={item!r}" for key, item in value.items())
