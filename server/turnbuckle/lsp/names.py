"""The names of our messages and commands; light, since `initialize` needs them."""

VERSION = 1
"""The version of our wire, in the server's capabilities."""

EXPERIMENTAL = "turnbuckle"
"""Our key in `capabilities.experimental` and in `initializationOptions`."""

SESSION_OPEN = "turnbuckle/session/open"
SESSION_LIST = "turnbuckle/session/list"
SESSION_EVENTS = "turnbuckle/session/events"
SESSION_EVENTS_STOP = "turnbuckle/session/events/stop"
SESSION_READ = "turnbuckle/session/read"
SESSION_FORK = "turnbuckle/session/fork"
SESSION_REWIND = "turnbuckle/session/rewind"
SESSION_CONFIGURE = "turnbuckle/session/configure"
SESSION_COMPACT = "turnbuckle/session/compact"
SESSION_CLOSE = "turnbuckle/session/close"
SESSION_DELETE = "turnbuckle/session/delete"
SESSION_EXPORT = "turnbuckle/session/export"
WATCH = "turnbuckle/watch"
TURN = "turnbuckle/turn"
CANCEL = "turnbuckle/cancel"
INBOX_EDIT = "turnbuckle/inbox/edit"
APPROVE = "turnbuckle/approve"
GRANTS = "turnbuckle/grants"
GRANTS_REVOKE = "turnbuckle/grants/revoke"
REVIEW_LIST = "turnbuckle/review/list"
REVIEW_RESOLVE = "turnbuckle/review/resolve"
MODELS = "turnbuckle/models"
CREDENTIALS = "turnbuckle/credentials"
SAVE = "turnbuckle/save"

ASK_COMMAND = "turnbuckle.ask"
APPROVE_COMMAND = "turnbuckle.approve"
REJECT_COMMAND = "turnbuckle.reject"
CANCEL_COMMAND = "turnbuckle.cancel"
ACCEPT_HUNK_COMMAND = "turnbuckle.acceptHunk"
REJECT_HUNK_COMMAND = "turnbuckle.rejectHunk"
ACCEPT_FILE_COMMAND = "turnbuckle.acceptFile"
REJECT_FILE_COMMAND = "turnbuckle.rejectFile"
ACCEPT_ALL_COMMAND = "turnbuckle.acceptAll"
UNDO_HUNK_COMMAND = "turnbuckle.undoHunk"
UNDO_TURN_COMMAND = "turnbuckle.undoTurn"
NEW_SESSION_COMMAND = "turnbuckle.newSession"
RESUME_COMMAND = "turnbuckle.resume"
SHOW_DIFF_COMMAND = "turnbuckle.showDiff"
SHOW_TRANSCRIPT_COMMAND = "turnbuckle.showTranscript"
RELOAD_PLUGINS_COMMAND = "turnbuckle.reloadPlugins"
COMMAND_NAMES = (
    ASK_COMMAND,
    APPROVE_COMMAND,
    REJECT_COMMAND,
    CANCEL_COMMAND,
    RELOAD_PLUGINS_COMMAND,
    ACCEPT_HUNK_COMMAND,
    REJECT_HUNK_COMMAND,
    ACCEPT_FILE_COMMAND,
    REJECT_FILE_COMMAND,
    ACCEPT_ALL_COMMAND,
    UNDO_HUNK_COMMAND,
    UNDO_TURN_COMMAND,
    SHOW_DIFF_COMMAND,
    NEW_SESSION_COMMAND,
    RESUME_COMMAND,
    SHOW_TRANSCRIPT_COMMAND,
)
"""The commands that are advertised: those that are there."""

DIFF_SCHEME, SESSION_SCHEME = "turnbuckle-diff", "turnbuckle-session"
"""Schemes of documents that only this server can fill."""

QUICKFIX, REFACTOR = "quickfix.turnbuckle", "refactor.turnbuckle"
SOURCE = "source.turnbuckle"
"""Kinds of our code actions."""
