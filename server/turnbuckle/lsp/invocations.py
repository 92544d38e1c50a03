"""What the commands take and give; part of the generated reference."""

from typing import Any

from turnbuckle.lsp.names import APPROVE_COMMAND, ASK_COMMAND, CANCEL_COMMAND, REJECT_COMMAND
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
    """`turnbuckle.approve` and `turnbuckle.reject`: an id, or nothing if just one is open."""

    approval_id: str | None = None
    note: str | None = None


class SessionCommandParams(Wire):
    """`turnbuckle.cancel`: a session, or nothing if just one runs."""

    session_id: str | None = None


class CommandResult(Wire):
    """What a command came to: outcomes of the domain are results, not errors."""

    outcome: str
    message: str


COMMANDS: dict[str, tuple[type[Wire], type[Wire]]] = {
    ASK_COMMAND: (AskParams, AskResult),
    APPROVE_COMMAND: (ApprovalCommandParams, CommandResult),
    REJECT_COMMAND: (ApprovalCommandParams, CommandResult),
    CANCEL_COMMAND: (SessionCommandParams, CommandResult),
}
"""Every command, for `workspace/executeCommand`: at most one argument, an object."""
