"""The names and types of our own messages; docs/protocol.md and the JSON Schema come from here."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, StrictBool, model_validator

from turnbuckle.lsp.choosing import (
    CredentialsParams,
    EffectiveConfig,
    ModelsParams,
    ModelsResult,
)
from turnbuckle.lsp.lives import (
    GrantsResult,
    GrantsRevokeParams,
    GrantsRevokeResult,
    SessionCompactResult,
    SessionConfigureParams,
    SessionEventsParams,
    SessionEventsResult,
    SessionEventsStopParams,
    SessionExportParams,
    SessionExportResult,
    SessionForkParams,
    SessionForkResult,
    SessionListParams,
    SessionListResult,
    SessionOpenParams,
    SessionOpenResult,
    SessionParams,
    SessionReadParams,
    SessionReadResult,
    SessionRewindParams,
    SessionRewindResult,
    Token,
    WatchParams,
)
from turnbuckle.lsp.names import (
    APPROVE,
    CANCEL,
    CREDENTIALS,
    GRANTS,
    GRANTS_REVOKE,
    INBOX_EDIT,
    MODELS,
    REVIEW_LIST,
    REVIEW_RESOLVE,
    SAVE,
    SESSION_CLOSE,
    SESSION_COMPACT,
    SESSION_CONFIGURE,
    SESSION_DELETE,
    SESSION_EVENTS,
    SESSION_EVENTS_STOP,
    SESSION_EXPORT,
    SESSION_FORK,
    SESSION_LIST,
    SESSION_OPEN,
    SESSION_READ,
    SESSION_REWIND,
    TURN,
    WATCH,
)
from turnbuckle.lsp.positions import Range
from turnbuckle.lsp.reviewing import (
    ReviewListParams,
    ReviewListResult,
    ReviewResolveParams,
    ReviewResolveResult,
    SaveParams,
    SaveResult,
)
from turnbuckle.lsp.wire import Wire as Wire

WhenBusy: TypeAlias = Literal["queue", "steer", "reject"]


class Text(Wire):
    """A piece of what the person wrote."""

    type: Literal["text"]
    text: str


class ImagePart(Wire):
    """A picture: either its bytes in base64 as `data` with their type, or, where this session was
    shown it before, its `digest` as the facts name it.
    """

    type: Literal["image"]
    mime_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"] | None = None
    data: str | None = None
    digest: str | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> "ImagePart":
        if (self.data is None) == (self.digest is None):
            raise ValueError("give either data or digest")
        if self.data is not None and self.mime_type is None:
            raise ValueError("give mimeType with data")
        return self


Content: TypeAlias = Annotated[Text | ImagePart, Field(discriminator="type")]


class ContextItem(Wire):
    """Something the person points at; the text of an open document is taken from the mirror."""

    kind: Literal["file", "selection", "diagnostics", "terminal", "text"]
    uri: str | None = None
    range: Range | None = None
    version: int | None = None
    text: str | None = None


class Nothing(Wire):
    """No data."""


class TurnParams(Wire):
    """Send a message; answered when its turn has ended.

    `key` is the client's own id of the message: sending it again joins the same turn.
    `resume: true`, instead of input, continues an interrupted turn.
    """

    session_id: str
    key: str = Field(min_length=1, max_length=200)
    input: tuple[Content, ...] = ()
    context: tuple[ContextItem, ...] = ()
    resume: StrictBool = False
    when_busy: WhenBusy = "queue"
    partial_result_token: Token | None = None
    work_done_token: Token | None = None

    @model_validator(mode="after")
    def _something_to_do(self) -> "TurnParams":
        if self.resume == bool(self.input):
            raise ValueError("give either input with at least one part, or resume: true")
        return self

    @property
    def text(self) -> str:
        """All words of the message."""
        return "\n\n".join(part.text for part in self.input if isinstance(part, Text))


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
    keep_queue: StrictBool = False


class InboxEditParams(Wire):
    """Change the words of a message that still waits, or take it out with `remove: true`."""

    session_id: str
    key: str
    input: tuple[Text, ...] = ()
    remove: StrictBool = False

    @model_validator(mode="after")
    def _one_of_them(self) -> "InboxEditParams":
        if self.remove == bool(self.input):
            raise ValueError("give either input with at least one part, or remove: true")
        return self


class InboxEditResult(Wire):
    """`changed` is false when the message waits no longer; it is as it was sent then."""

    changed: bool


class ApproveParams(Wire):
    """Answer an approval; the first answer wins.

    With `hunks` only the named hunks are decided and the others stay open. `edits` are whole texts
    of files, by URI, that the person changed in a proposed change; they count where it is allowed.
    `answer` is that to a question. `remember` allows the same subject for the rest of the session.
    """

    approval_id: str
    decision: Literal["allow", "reject"] | None = None
    hunks: dict[str, StrictBool] | None = None
    edits: dict[str, str] | None = None
    answer: str | None = None
    note: str | None = None
    remember: Literal["session"] | None = None

    @model_validator(mode="after")
    def _something_decided(self) -> "ApproveParams":
        if sum((self.decision is not None, bool(self.hunks), self.answer is not None)) != 1:
            raise ValueError("give one of decision, hunks and answer")
        if self.decision != "allow" and (self.edits or self.remember):
            raise ValueError("edits and remember need decision: allow")
        return self


class ApproveResult(Wire):
    """`accepted` is false when it was settled already."""

    accepted: bool


REQUESTS: dict[str, tuple[type[Wire], type[Wire]]] = {
    SESSION_OPEN: (SessionOpenParams, SessionOpenResult),
    SESSION_LIST: (SessionListParams, SessionListResult),
    SESSION_EVENTS: (SessionEventsParams, SessionEventsResult),
    SESSION_EVENTS_STOP: (SessionEventsStopParams, Nothing),
    SESSION_READ: (SessionReadParams, SessionReadResult),
    SESSION_FORK: (SessionForkParams, SessionForkResult),
    SESSION_REWIND: (SessionRewindParams, SessionRewindResult),
    SESSION_CONFIGURE: (SessionConfigureParams, EffectiveConfig),
    SESSION_COMPACT: (SessionParams, SessionCompactResult),
    SESSION_CLOSE: (SessionParams, Nothing),
    SESSION_DELETE: (SessionParams, Nothing),
    SESSION_EXPORT: (SessionExportParams, SessionExportResult),
    WATCH: (WatchParams, Nothing),
    TURN: (TurnParams, TurnResult),
    CANCEL: (CancelParams, Nothing),
    INBOX_EDIT: (InboxEditParams, InboxEditResult),
    APPROVE: (ApproveParams, ApproveResult),
    GRANTS: (SessionParams, GrantsResult),
    GRANTS_REVOKE: (GrantsRevokeParams, GrantsRevokeResult),
    REVIEW_LIST: (ReviewListParams, ReviewListResult),
    REVIEW_RESOLVE: (ReviewResolveParams, ReviewResolveResult),
    MODELS: (ModelsParams, ModelsResult),
    CREDENTIALS: (CredentialsParams, Nothing),
}
"""Every request of ours, client to server: method → params, result."""

ASKED: dict[str, tuple[type[Wire], type[Wire]]] = {SAVE: (SaveParams, SaveResult)}
"""Every request of ours, server to client; asked only of a client that announced it."""
