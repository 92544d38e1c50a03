"""Every fact there is: frozen dataclasses in one closed union.

A fact is durable. What is only shown (live output, a status line) is a note and never stands here.
The types and their data follow the event tables of the two documents that this project is built on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, cast, dataclass_transform

from turnbuckle.session.parts import (
    READING,
    ApprovalOutcome,
    Call,
    CallDelta,
    Context,
    End,
    Failure,
    Image,
    JsonObject,
    Patch,
    Pruned,
    Source,
    Target,
    TodoItem,
    Usage,
)

FORMAT = 1
"""The version of a session's log, in its first fact."""

C = TypeVar("C", bound=type)

FACTS: dict[str, type["Fact"]] = {}
"""The class of each type; a plugin's facts are under `plugin/*`."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def fact(tag: str, *, free: bool = False) -> Callable[[C], C]:
    """Make a class a fact of type `tag`; `free` says that a field holds JSON of any shape."""

    def decorate(cls: C) -> C:
        # Any: attributes are added that a class object does not declare.
        made: Any = dataclass(frozen=True, slots=True, kw_only=True)(cls)
        made.type, made.free, made.__pydantic_config__ = tag, free, READING
        FACTS[tag] = made
        return cast("C", made)

    return decorate


class Tagged:
    """What every fact's class carries beside its data."""

    __slots__ = ()
    type: ClassVar[str]
    free: ClassVar[bool]


@fact("session/created")
class SessionCreated(Tagged):
    """The first fact, at seq 0; `cwd` and what else is a place is a URI."""

    version: int
    id: str
    cwd: str | None = None
    parent: str | None = None


@fact("session/title")
class SessionTitle(Tagged):
    """What lists call the session."""

    title: str


@fact("turn/start")
class TurnStart(Tagged):
    """A turn opens; turns count from 1 and never go back."""

    turn: int


@fact("turn/end")
class TurnEnd(Tagged):
    """A turn is over."""

    turn: int
    end: End


@fact("step/start")
class StepStart(Tagged):
    """One model request and its calls begin; steps count from 1 in each turn."""

    turn: int
    step: int


@fact("step/end")
class StepEnd(Tagged):
    """The step is over; `tool_calls` is how many calls it ran."""

    turn: int
    step: int
    tool_calls: int


@fact("inbox/added", free=True)
class InboxAdded(Tagged):
    """A message waits: for a turn of its own, or for the next step."""

    key: str
    target: Target
    input: str
    context: tuple[Context, ...] = ()
    source: Source = "user"


@fact("inbox/changed")
class InboxChanged(Tagged):
    """A message that still waits was edited."""

    key: str
    input: str


@fact("inbox/dropped")
class InboxDropped(Tagged):
    """Messages that will not enter any more."""

    keys: tuple[str, ...]
    why: str


@fact("user/message")
class UserMessage(Tagged):
    """Input that the model sees, with a picture at most; `key` names the inbox message it was."""

    turn: int
    step: int
    key: str | None = None
    content: str
    source: Source = "user"
    image: Image | None = None


@fact("request/header", free=True)
class RequestHeader(Tagged):
    """What stands before the messages of a request; written only when it changes."""

    config: JsonObject
    system: str
    tools: tuple[JsonObject, ...]
    why: Literal["initial", "change", "resume"]


@fact("llm/stream", free=True)
class LlmStream(Tagged):
    """A request goes out now; `window` in tokens, `why` only for summary requests.

    `digest` is that of the request as it was sent, so that a rebuild from the log can be proven.
    """

    turn: int
    step: int
    attempt: int
    model: str
    window: int | None = None
    why: str | None = None
    patch: Patch | None = None
    digest: str


@fact("llm/failed")
class LlmFailed(Tagged):
    """An attempt failed; `retry_at` in milliseconds since 1970.

    `usage` is there where an answer came and was paid for, but was of no use.
    """

    attempt: int
    failure: Failure
    retry_at: int | None = None
    usage: Usage | None = None


@fact("assistant/chunk")
class AssistantChunk(Tagged):
    """What the model said in one turn of the event loop."""

    turn: int
    step: int
    text: str | None = None
    reasoning: str | None = None
    tool_calls: tuple[CallDelta, ...] | None = None


@fact("assistant/message")
class AssistantMessage(Tagged):
    """A whole answer; `finish` is the provider's word, or `truncated`."""

    turn: int
    step: int
    content: str
    reasoning: str | None = None
    tool_calls: tuple[Call, ...] = ()
    finish: str
    usage: Usage | None = None
    interrupted: bool | None = None


@fact("tool/call")
class ToolCall(Tagged):
    """A call is taken up; nothing of it has run yet."""

    turn: int
    step: int
    call_id: str
    name: str
    arguments: str


@fact("tool/start")
class ToolStart(Tagged):
    """The body starts right after this; `session_id` is that of a child."""

    call_id: str
    attempt: int
    session_id: str | None = None


@fact("tool/result", free=True)
class ToolResult(Tagged):
    """What a call came to; every call has exactly one. `code` only where `is_error`."""

    turn: int
    step: int
    call_id: str
    content: str
    is_error: bool
    code: str | None = None
    meta: JsonObject | None = None


@fact("approval/asked", free=True)
class ApprovalAsked(Tagged):
    """A question to the person; `digest` binds the answer to exactly this subject."""

    approval_id: str
    call_id: str
    path: tuple[str, ...] = ()
    subject: JsonObject
    digest: str
    choices: tuple[str, ...]


@fact("approval/hunk")
class ApprovalHunk(Tagged):
    """One hunk of a change was decided; the rest stays open."""

    approval_id: str
    hunk_id: str
    decision: Literal["accepted", "rejected"]


@fact("approval/decided")
class ApprovalDecided(Tagged):
    """Nothing of the question is open any more."""

    approval_id: str
    outcome: ApprovalOutcome
    by: str
    note: str | None = None
    answer: str | None = None
    remember: str | None = None


@fact("grant/added", free=True)
class GrantAdded(Tagged):
    """Something is allowed from now on, for the session."""

    grant_id: str
    subject: JsonObject


@fact("grant/revoked")
class GrantRevoked(Tagged):
    """A grant holds no longer."""

    grant_id: str


@fact("edit/applying")
class EditApplying(Tagged):
    """Hunks are about to be applied; `before` is the digest of the kept before-image, if any."""

    call_id: str
    uri: str
    before: str | None = None
    hunks: tuple[str, ...]


@fact("edit/applied")
class EditApplied(Tagged):
    """What came of it, as seen by looking; `after` is the digest of the text that stands now."""

    call_id: str
    uri: str
    after: str | None = None
    hunks: tuple[str, ...]
    outcome: str


@fact("edit/undone")
class EditUndone(Tagged):
    """Hunks that had been applied are gone again; `by` is `person` or `rewind`.

    `before` is the digest of the kept text that stood there until then, `after` that of the text
    that stands now; either is absent where there is no file, or where it is not known.
    """

    call_id: str
    uri: str
    hunks: tuple[str, ...]
    by: str
    before: str | None = None
    after: str | None = None


@fact("context/pruned")
class ContextPruned(Tagged):
    """Old tool results are shown shortened from now on."""

    results: tuple[Pruned, ...]


@fact("context/summary")
class ContextSummary(Tagged):
    """A summary stands for the messages with seq in `covers`, both ends included."""

    covers: tuple[int, int]
    text: str
    usage: Usage | None = None


@fact("context/rewound")
class ContextRewound(Tagged):
    """The model is shown what it was shown at seq `to`; undone by a later one."""

    to: int


@fact("todo/write")
class TodoWrite(Tagged):
    """The agent's list, whole."""

    items: tuple[TodoItem, ...]


@fact("plugin/*", free=True)
class PluginFact(Tagged):
    """A plugin's own fact, of type `plugin/<name>`; readers that do not know it skip it."""

    name: str
    data: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignFact(Tagged):
    """A fact of a type that this version does not know and may skip; kept as it was written.

    `data` is whatever JSON it holds.
    """

    type: ClassVar[str] = "*"
    free: ClassVar[bool] = True

    tag: str
    # Any: JSON of a shape that nobody here knows.
    data: Any


Fact: TypeAlias = (
    SessionCreated | SessionTitle | TurnStart | TurnEnd | StepStart | StepEnd
    | InboxAdded | InboxChanged | InboxDropped | UserMessage | RequestHeader | LlmStream | LlmFailed
    | AssistantChunk | AssistantMessage | ToolCall | ToolStart | ToolResult
    | ApprovalAsked | ApprovalHunk | ApprovalDecided | GrantAdded | GrantRevoked
    | EditApplying | EditApplied | EditUndone
    | ContextPruned | ContextSummary | ContextRewound | TodoWrite | PluginFact | ForeignFact
)  # fmt: skip

Message: TypeAlias = UserMessage | AssistantMessage | ToolResult | ContextSummary
"""What the model can be shown; a message is its fact."""
