"""The messages about sessions: open, list, read, fork, rewind, configure, export, delete, watch."""

from typing import Any, Literal, TypeAlias

from pydantic import Field, StrictBool, model_validator

from turnbuckle.lsp.choosing import EffectiveConfig
from turnbuckle.lsp.wire import Wire

Token: TypeAlias = int | str


class SessionOpenParams(Wire):
    """Open a session: a new one, or with `sessionId` one from disk; `cwd` is a folder's URI."""

    session_id: str | None = None
    cwd: str | None = None


class SessionOpenResult(Wire):
    """The open session; `seq` is its last fact, −1 while it has none.

    `readOnly` says that another process writes it, or that its file is `damaged`, which then says
    where. `interrupted` says that its last turn was cut off and can be resumed. `usage` are the
    tokens of the whole session up to `seq`, `context` those of the last request and its answer:
    where a client begins to count.
    """

    session_id: str
    seq: int
    read_only: bool
    damaged: str | None = None
    title: str | None = None
    config: EffectiveConfig
    interrupted: bool | None = None
    # Any: the same open object as in the facts.
    usage: dict[str, Any] | None = None
    context: int | None = None


class SessionParams(Wire):
    """Names one session."""

    session_id: str


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


class SessionListParams(Wire):
    """The sessions on disk, newest first: those of a folder, those that hold all words of `query`.

    `query` is looked for in titles and in what the person and the model said. `cursor` is that of
    the page before.
    """

    cwd: str | None = None
    query: str | None = None
    cursor: str | None = None


class SessionEntry(Wire):
    """One stored session; `updated` in milliseconds since 1970, `match` the line that was found.

    `damaged` says that its file cannot be read to the end.
    """

    session_id: str
    title: str | None = None
    cwd: str | None = None
    parent: str | None = None
    updated: int
    turns: int
    match: str | None = None
    damaged: bool | None = None


class SessionListResult(Wire):
    """One page of sessions; `cursor` is there while more follow."""

    sessions: tuple[SessionEntry, ...]
    cursor: str | None = None


class SessionReadParams(Wire):
    """Facts with `from` ≤ seq ≤ `to`, for older pages."""

    session_id: str
    from_: int = Field(alias="from", ge=0)
    to: int = Field(ge=0)

    @model_validator(mode="after")
    def _in_order(self) -> "SessionReadParams":
        if self.from_ > self.to:
            raise ValueError("from: must not be after to")
        return self


class SessionReadResult(Wire):
    """The facts as they travel on a token, in order; fewer than asked for where they are large.

    The next page begins after the last one's seq.
    """

    # Any: facts, whose types are listed with their data.
    events: tuple[dict[str, Any], ...]


class SessionForkParams(Wire):
    """A child with the log up to the end of this turn; 0 is the beginning."""

    session_id: str
    turn: int = Field(ge=0)


class SessionForkResult(Wire):
    """The child, which is not open yet."""

    session_id: str


class SessionRewindParams(Wire):
    """Take the model's view back to before this turn; `undo` takes the last rewind back, files too.

    With `files: "restore"` the files that the agent wrote since then are put back, too.
    """

    session_id: str
    turn: int | None = Field(default=None, ge=1)
    undo: StrictBool = False
    files: Literal["keep", "restore"] = "keep"

    @model_validator(mode="after")
    def _one_of_them(self) -> "SessionRewindParams":
        if self.undo == (self.turn is not None):
            raise ValueError("give either turn or undo: true")
        return self


class SkippedFile(Wire):
    """A file that was left as it is, and why."""

    uri: str
    why: str


class SessionRewindResult(Wire):
    """The files that were put back, and those that were not."""

    restored: tuple[str, ...]
    skipped: tuple[SkippedFile, ...]


class SessionConfigureParams(Wire):
    """Choose for one session, from its next request on; what is absent stays.

    In mode `ask`, the only one, nothing changes before it is accepted.
    """

    session_id: str
    model: str | None = None
    mode: Literal["ask"] | None = None


class SessionCompactResult(Wire):
    """What compaction came to; tokens as they are estimated.

    `outcome` is `compacted`, or `nothing` with the reason in `message`.
    """

    outcome: Literal["compacted", "nothing"]
    message: str
    before: int
    after: int


class SessionGrant(Wire):
    """Something that is allowed for the session; `since` in milliseconds since 1970.

    `subject` is `{kind: "command", command, cwd}`, `{kind: "change", uri}` or
    `{kind: "read", uri}`.
    """

    grant_id: str
    # Any: the same open object as in the facts.
    subject: dict[str, Any]
    since: int


class GrantsResult(Wire):
    """What is allowed for the session, oldest first."""

    grants: tuple[SessionGrant, ...]


class GrantsRevokeParams(Wire):
    """Ask about it again from now on."""

    session_id: str
    grant_id: str


class GrantsRevokeResult(Wire):
    """`revoked` is false when it held no longer."""

    revoked: bool


class SessionExportParams(Wire):
    """A whole session as text for people (`markdown`) or for programs (`json`)."""

    session_id: str
    format: Literal["markdown", "json"] = "markdown"


class SessionExportResult(Wire):
    """The text, and a name that a file with it could have."""

    text: str
    name: str


class WatchParams(Wire):
    """Notes about all sessions and files of this client come on this token from now on.

    `session/changed {sessionId, parent?, title, state, approvals, hunks}` with `state` idle,
    running or waiting, and `review/changed {uri}`. `turnbuckle/session/events/stop` ends them.
    """

    token: Token
