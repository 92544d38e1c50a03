"""The answer to `initialize`, as raw JSON, so that it needs nothing that is slow to import."""

from typing import Any

from turnbuckle import __version__
from turnbuckle.lsp.clientfacts import ClientFacts
from turnbuckle.lsp.names import COMMAND_NAMES, EXPERIMENTAL, QUICKFIX, REFACTOR, VERSION


def initialize_result(client: ClientFacts) -> dict[str, Any]:  # Any: JSON
    """What this server can do for this client."""
    return {
        "serverInfo": {"name": "turnbuckle", "version": __version__},
        "capabilities": {
            "positionEncoding": client.encoding,
            "textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": False}},
            "codeActionProvider": {"codeActionKinds": [QUICKFIX, REFACTOR]},
            "executeCommandProvider": {"commands": list(COMMAND_NAMES)},
            "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
            "experimental": {EXPERIMENTAL: {"protocolVersion": VERSION}},
        },
    }
