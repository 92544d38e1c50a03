"""The answer to `initialize`, as raw JSON, so that it needs nothing that is slow to import."""

from typing import Any

from turnbuckle import __version__
from turnbuckle.lsp.clientfacts import ClientFacts
from turnbuckle.lsp.names import (
    COMMAND_NAMES,
    DIFF_SCHEME,
    EXPERIMENTAL,
    QUICKFIX,
    REFACTOR,
    SESSION_SCHEME,
    SOURCE,
    VERSION,
)


def initialize_result(client: ClientFacts) -> dict[str, Any]:  # Any: JSON
    """What this server can do for this client."""
    workspace: dict[str, object] = {
        "workspaceFolders": {"supported": True, "changeNotifications": True}
    }
    if client.text_document_content:
        workspace["textDocumentContent"] = {"schemes": [DIFF_SCHEME, SESSION_SCHEME]}
    return {
        "serverInfo": {"name": "turnbuckle", "version": __version__},
        "capabilities": {
            "positionEncoding": client.encoding,
            "textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": False}},
            "codeActionProvider": {"codeActionKinds": [QUICKFIX, REFACTOR, SOURCE]},
            "executeCommandProvider": {"commands": list(COMMAND_NAMES)},
            "codeLensProvider": {"resolveProvider": False},
            "hoverProvider": True,
            "workspace": workspace,
            "experimental": {EXPERIMENTAL: {"protocolVersion": VERSION}},
        },
    }
