"""What the commands take and give; part of the generated reference."""

from typing import Any, Literal

from pydantic import Field

from turnbuckle.lsp.names import (
    ACCEPT_ALL_COMMAND,
    ACCEPT_FILE_COMMAND,
    ACCEPT_HUNK_COMMAND,
    APPROVE_COMMAND,
    ASK_COMMAND,
    CANCEL_COMMAND,
    NEW_SESSION_COMMAND,
    REJECT_COMMAND,
    REJECT_FILE_COMMAND,
    REJECT_HUNK_COMMAND,
    RELOAD_PLUGINS_COMMAND,
    RESUME_COMMAND,
    SHOW_DIFF_COMMAND,
    SHOW_TRANSCRIPT_COMMAND,
    UNDO_HUNK_COMMAND,
    UNDO_TURN_COMMAND,
)
from turnbuckle.lsp.positions import Range
from turnbuckle.lsp.protocol import WhenBusy
from turnbuckle.lsp.wire import Wire


class AskParams(Wire):
    """`turnbuckle.ask`: submit and return at once; `diagnostics` as the client has them."""

    prompt: str | None = None
    uri: str | None = None
    range: Range | None = None
    # Any: LSP diagnostics, passed through as the client wrote them.
    diagnostics: tuple[dict[str, Any], ...] = ()
    when_busy: WhenBusy = "queue"


class AskResult(Wire):
    """The session and the key of the message that was sent."""

    session_id: str
    key: str


class ApprovalCommandParams(Wire):
    """`turnbuckle.approve` and `turnbuckle.reject`: an id, or nothing if just one is open.

    Without an id, `approve` only shows the question again. `answer` is that to a question,
    `remember` allows the same subject for the rest of the session.
    """

    approval_id: str | None = None
    note: str | None = None
    answer: str | None = Field(default=None, min_length=1)
    remember: Literal["session"] | None = None


class SessionCommandParams(Wire):
    """`turnbuckle.cancel`, `…resume`, `…showTranscript`: a session, or nothing.

    Nothing means the only one that runs; for the other two the session that commands go on in, or
    the only one that is open, or, to resume where none is, the last one of the workspace folder.
    What is resumed is a turn that was broken off; where there is none, commands go on there.
    """

    session_id: str | None = None


class NoParams(Wire):
    """`turnbuckle.reloadPlugins`, `turnbuckle.newSession`: nothing."""


class HunkCommandParams(Wire):
    """`turnbuckle.acceptHunk`, `…rejectHunk`, `…undoHunk`: a hunk, or nothing for the only one.

    Those that can be undone are the ones that were applied and still stand.
    """

    hunk_id: str | None = None
    note: str | None = None


class FileCommandParams(Wire):
    """`turnbuckle.acceptFile`, `…rejectFile`: a file, of all changes or of one.

    Nothing means the only file that is open.
    """

    uri: str | None = None
    change_id: str | None = None
    note: str | None = None


class ChangeCommandParams(Wire):
    """`turnbuckle.acceptAll`: a change, those of a session, or nothing for the only one."""

    change_id: str | None = None
    session_id: str | None = None


class ShowDiffParams(Wire):
    """`turnbuckle.showDiff`: the change of a hunk, a change, or nothing for the only open one."""

    hunk_id: str | None = None
    change_id: str | None = None


class UndoTurnParams(Wire):
    """`turnbuckle.undoTurn`: this turn and all after it, or the last one.

    A session, or nothing if just one has turns to take back.
    """

    session_id: str | None = None
    turn: int | None = Field(default=None, ge=1)


class CommandResult(Wire):
    """What a command came to: outcomes of the domain are results, not errors."""

    outcome: str
    message: str


class SessionResult(CommandResult):
    """The same of a session that was opened or gone on with; without an id if there is none."""

    session_id: str | None = None


COMMANDS: dict[str, tuple[type[Wire], type[Wire]]] = {
    ASK_COMMAND: (AskParams, AskResult),
    APPROVE_COMMAND: (ApprovalCommandParams, CommandResult),
    REJECT_COMMAND: (ApprovalCommandParams, CommandResult),
    CANCEL_COMMAND: (SessionCommandParams, CommandResult),
    RELOAD_PLUGINS_COMMAND: (NoParams, CommandResult),
    ACCEPT_HUNK_COMMAND: (HunkCommandParams, CommandResult),
    REJECT_HUNK_COMMAND: (HunkCommandParams, CommandResult),
    ACCEPT_FILE_COMMAND: (FileCommandParams, CommandResult),
    REJECT_FILE_COMMAND: (FileCommandParams, CommandResult),
    ACCEPT_ALL_COMMAND: (ChangeCommandParams, CommandResult),
    UNDO_HUNK_COMMAND: (HunkCommandParams, CommandResult),
    UNDO_TURN_COMMAND: (UndoTurnParams, CommandResult),
    SHOW_DIFF_COMMAND: (ShowDiffParams, CommandResult),
    NEW_SESSION_COMMAND: (NoParams, SessionResult),
    RESUME_COMMAND: (SessionCommandParams, SessionResult),
    SHOW_TRANSCRIPT_COMMAND: (SessionCommandParams, CommandResult),
}
"""Every command, for `workspace/executeCommand`: at most one argument, an object."""
