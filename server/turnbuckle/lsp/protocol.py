"""The names and types of our own messages; docs/protocol.md and the JSON Schema come from here."""

from typing import Any, Literal, TypeAlias

from pydantic import Field, model_validator

from turnbuckle.lsp.choosing import (
    CredentialsParams,
    EffectiveConfig,
    ModelsParams,
    ModelsResult,
)
from turnbuckle.lsp.names import (
    APPROVE,
    CANCEL,
    CREDENTIALS,
    MODELS,
    SESSION_CLOSE,
    SESSION_EVENTS,
    SESSION_EVENTS_STOP,
    SESSION_OPEN,
    TURN,
)
from turnbuckle.lsp.wire import Wire as Wire
from turnbuckle.lsp.wire import refuse

Token: TypeAlias = int | str
WhenBusy: TypeAlias = Literal["queue", "steer", "reject"]


class Text(Wire):
    """A piece of what the person wrote."""

    type: Literal["text"]
    text: str


class Range(Wire):
    """An LSP range, as the client sends it, in the negotiated position encoding."""

    class Position(Wire):
        """A zero-based line and character."""

        line: int = Field(ge=0)
        character: int = Field(ge=0)

    start: Position
    end: Position


class ContextItem(Wire):
    """Something the person points at; the text of an open document is taken from the mirror."""

    kind: Literal["file", "selection", "diagnostics", "terminal", "text"]
    uri: str | None = None
    range: Range | None = None
    version: int | None = None
    text: str | None = None


class SessionOpenParams(Wire):
    """Open a session: a new one, or with `sessionId` one from disk; `cwd` is a folder's URI."""

    session_id: str | None = None
    cwd: str | None = None


class SessionOpenResult(Wire):
    """The open session; `seq` is its last fact, −1 while it has none.

    `readOnly` says that another process writes it. `interrupted` says that its last turn was cut
    off and can be resumed. `usage` are the tokens of the whole session up to `seq`, `context` those
    of the last request and its answer: where a client begins to count.
    """

    session_id: str
    seq: int
    read_only: bool
    title: str | None = None
    config: EffectiveConfig
    interrupted: bool | None = None
    # Any: the same open object as in the facts.
    usage: dict[str, Any] | None = None
    context: int | None = None


class SessionEventsParams(Wire):
    """Subscribe: replay after `after` (a seq), or only the last `turns` turns, then live."""

    session_id: str
    token: Token
    after: int | None = None
    turns: int | None = Field(default=None, ge=0)


class SessionEventsResult(Wire):
    """`from` is the first fact that will be sent, `seq` the last one there is now."""

    from_: int = Field(alias="from")
    seq: int


class SessionEventsStopParams(Wire):
    """End the subscription that uses this token; nothing travels on it after the answer."""

    token: Token


class SessionParams(Wire):
    """Names one session."""

    session_id: str


class Nothing(Wire):
    """No data."""


class TurnParams(Wire):
    """Send a message; answered when its turn has ended.

    `key` is the client's own id of the message: sending it again joins the same turn.
    `resume: true`, instead of input, continues an interrupted turn.
    """

    session_id: str
    key: str = Field(min_length=1, max_length=200)
    input: tuple[Text, ...] = ()
    context: tuple[ContextItem, ...] = ()
    resume: bool = False
    when_busy: WhenBusy = "queue"
    partial_result_token: Token | None = None
    work_done_token: Token | None = None

    @model_validator(mode="after")
    def _something_to_do(self) -> "TurnParams":
        if self.resume == bool(self.input):
            raise ValueError("give either input with at least one part, or resume: true")
        return self


class TurnResult(Wire):
    """How the turn ended; it carries no text. `end` and `usage` as in the `turn/end` fact."""

    turn: int
    # Any: the same open objects as in the facts.
    end: dict[str, Any]
    usage: dict[str, Any] | None = None
    seq: int


class CancelParams(Wire):
    """Cancel the running turn; what waits is dropped too, unless `keepQueue`."""

    session_id: str
    keep_queue: bool = False


class ApproveParams(Wire):
    """Answer an approval; the first answer wins.

    With `hunks` only the named hunks are decided and the others stay open.
    """

    approval_id: str
    decision: Literal["allow", "reject"] | None = None
    hunks: dict[str, bool] | None = None
    note: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _refuse_later(cls, data: object) -> object:
        return refuse(data, "edits", "answer", "remember")

    @model_validator(mode="after")
    def _something_decided(self) -> "ApproveParams":
        if (self.decision is None) == (not self.hunks):
            raise ValueError("give either decision or hunks")
        return self


class ApproveResult(Wire):
    """`accepted` is false when it was settled already."""

    accepted: bool


REQUESTS: dict[str, tuple[type[Wire], type[Wire]]] = {
    SESSION_OPEN: (SessionOpenParams, SessionOpenResult),
    SESSION_EVENTS: (SessionEventsParams, SessionEventsResult),
    SESSION_EVENTS_STOP: (SessionEventsStopParams, Nothing),
    SESSION_CLOSE: (SessionParams, Nothing),
    TURN: (TurnParams, TurnResult),
    CANCEL: (CancelParams, Nothing),
    APPROVE: (ApproveParams, ApproveResult),
    MODELS: (ModelsParams, ModelsResult),
    CREDENTIALS: (CredentialsParams, Nothing),
}
"""Every request of ours, client to server: method → params, result."""
