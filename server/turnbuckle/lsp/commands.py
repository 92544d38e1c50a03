"""`workspace/executeCommand`: what any editor can run; it submits or decides, and returns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.invocations import COMMANDS, CommandResult
from turnbuckle.lsp.rpc import INVALID_PARAMS, Refused
from turnbuckle.lsp.rpc.bounds import require_short
from turnbuckle.lsp.rpc.late import types
from turnbuckle.lsp.wire import Wire

MOST = 3
"""Faults of an argument that are told."""

Run: TypeAlias = Callable[[Any], Awaitable[Wire]]  # Any: the params of that command


class Commands:
    """The commands of one client. A domain's outcome is a result; only bad parameters fail."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._run: dict[str, Run] = {}

    def register(self) -> None:
        """Answer `workspace/executeCommand`."""
        self._editor.connection.on_request("workspace/executeCommand", self._execute)

    def add(self, command: str, run: Run) -> None:
        """Let a feature run a command; its params are those that `invocations` lists."""
        self._run[command] = run

    async def _execute(self, params: types.ExecuteCommandParams) -> object:
        run = self._run.get(params.command)
        if run is None:
            known = ", ".join(self._run)
            said = f"command: there is no {params.command[:200]!r}; there are {known}"
            raise Refused(said, code=INVALID_PARAMS)
        result = await run(_argument(params))
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    def outcome(self, outcome: str, message: str) -> CommandResult:
        """An outcome that the person should read: clients show no results of commands."""
        self._editor.connection.notify(
            "window/showMessage", {"type": 3, "message": f"Turnbuckle: {message}"}
        )
        return CommandResult(outcome=outcome, message=message)


def _argument(params: types.ExecuteCommandParams) -> Wire:
    arguments = list(params.arguments or ())
    if len(arguments) > 1:
        raise Refused("arguments: give one object, or none", code=INVALID_PARAMS)
    model = COMMANDS[params.command][0]
    require_short(arguments, "arguments")
    try:
        return model.model_validate(arguments[0] if arguments else {})
    except ValidationError as error:
        faults = (
            f"{'.'.join(map(str, ('arguments.0', *fault['loc'])))}: {_said(fault)}"
            for fault in error.errors(include_url=False, include_input=False)[:MOST]
        )
        raise Refused("; ".join(faults), code=INVALID_PARAMS) from error


def _said(fault: ErrorDetails) -> str:
    return "must be an object" if fault["type"] == "model_type" else fault["msg"]
