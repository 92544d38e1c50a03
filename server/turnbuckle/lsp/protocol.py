"""The names and types of our own messages; docs/protocol.md and the JSON Schema come from here."""

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from turnbuckle.lsp.names import (
    APPROVE,
    CANCEL,
    MODELS,
    SESSION_CLOSE,
    SESSION_EVENTS,
    SESSION_EVENTS_STOP,
    SESSION_OPEN,
    TURN,
)

Token: TypeAlias = int | str
WhenBusy: TypeAlias = Literal["queue", "steer", "reject"]


class Wire(BaseModel):
    """A message's params or result: camelCase, absent rather than null, unknown fields skipped."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="ignore", frozen=True
    )


def refuse(data: object, *names: str) -> object:
    """Refuse parameters that this version does not have, rather than take and ignore them.

    Raises:
        ValueError: one of them is there.
    """
    for name in names:
        if isinstance(data, dict) and data.get(name) is not None:
            raise ValueError(f"{name} is not supported by this version of the server")
    return data


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
    off and can be resumed.
    """

    session_id: str
    seq: int
    read_only: bool
    title: str | None = None
    # Any: the effective configuration is an open object; unknown keys are to be skipped.
    config: dict[str, Any]
    interrupted: bool | None = None


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


class ModelEntry(Wire):
    """A configured model; `window` in tokens, `unavailable` says why it cannot be used."""

    name: str
    provider: str
    window: int | None = None
    current: bool
    unavailable: str | None = None


class ModelsResult(Wire):
    """The models that are configured."""

    models: tuple[ModelEntry, ...]


REQUESTS: dict[str, tuple[type[Wire], type[Wire]]] = {
    SESSION_OPEN: (SessionOpenParams, SessionOpenResult),
    SESSION_EVENTS: (SessionEventsParams, SessionEventsResult),
    SESSION_EVENTS_STOP: (SessionEventsStopParams, Nothing),
    SESSION_CLOSE: (SessionParams, Nothing),
    TURN: (TurnParams, TurnResult),
    CANCEL: (CancelParams, Nothing),
    APPROVE: (ApproveParams, ApproveResult),
    MODELS: (Nothing, ModelsResult),
}
"""Every request of ours, client to server: method → params, result."""
