"""The names of our messages and commands; light, since `initialize` needs them."""

VERSION = 1
"""The version of our wire, in the server's capabilities."""

EXPERIMENTAL = "turnbuckle"
"""Our key in `capabilities.experimental` and in `initializationOptions`."""

SESSION_OPEN = "turnbuckle/session/open"
SESSION_EVENTS = "turnbuckle/session/events"
SESSION_EVENTS_STOP = "turnbuckle/session/events/stop"
SESSION_CLOSE = "turnbuckle/session/close"
TURN = "turnbuckle/turn"
CANCEL = "turnbuckle/cancel"
APPROVE = "turnbuckle/approve"
MODELS = "turnbuckle/models"
CREDENTIALS = "turnbuckle/credentials"

ASK_COMMAND = "turnbuckle.ask"
APPROVE_COMMAND = "turnbuckle.approve"
REJECT_COMMAND = "turnbuckle.reject"
CANCEL_COMMAND = "turnbuckle.cancel"
COMMAND_NAMES = (ASK_COMMAND, APPROVE_COMMAND, REJECT_COMMAND, CANCEL_COMMAND)

QUICKFIX, REFACTOR = "quickfix.turnbuckle", "refactor.turnbuckle"
"""Kinds of our code actions."""
