"""`workspace/executeCommand`: what any editor can run; it submits or decides, and returns."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import anyio
from anyio import to_thread
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from turnbuckle.agent.inbox import Dropped, Ended, until_ended
from turnbuckle.agent.sessions import OpenSession
from turnbuckle.lsp import names
from turnbuckle.lsp.approvals import Approvals
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.invocations import (
    COMMANDS,
    ApprovalCommandParams,
    AskParams,
    AskResult,
    CommandResult,
    SessionCommandParams,
)
from turnbuckle.lsp.pointing import contexts, diagnostics_text
from turnbuckle.lsp.protocol import ContextItem, Wire
from turnbuckle.lsp.rpc import INVALID_PARAMS, Refused
from turnbuckle.lsp.rpc.late import types
from turnbuckle.lsp.showing import Showing
from turnbuckle.lsp.transcripts import answer_of, markdown
from turnbuckle.lsp.turns import Turns
from turnbuckle.lsp.workdone import WorkDone

Run: TypeAlias = Callable[[Any], Awaitable[Wire]]  # Any: the params of that command


class Commands:
    """The commands of one client. A domain's outcome is a result; only bad parameters fail."""

    def __init__(
        self,
        editor: Editor,
        turns: Turns,
        approvals: Approvals,
        work_done: WorkDone,
        showing: Showing,
    ) -> None:
        self._editor = editor
        self._turns = turns
        self._approvals = approvals
        self._work_done = work_done
        self._showing = showing
        self._session_id: str | None = None
        self._opening = anyio.Lock()
        self._run: dict[str, Run] = {
            names.ASK_COMMAND: self._ask,
            names.APPROVE_COMMAND: self._approve,
            names.REJECT_COMMAND: self._reject,
            names.CANCEL_COMMAND: self._cancel,
        }

    def register(self) -> None:
        """Answer `workspace/executeCommand`."""
        self._editor.connection.on_request("workspace/executeCommand", self._execute)

    async def _execute(self, params: types.ExecuteCommandParams) -> object:
        run = self._run.get(params.command)
        if run is None:
            known = ", ".join(names.COMMAND_NAMES)
            raise Refused(
                f"command: there is no {params.command!r}; there are {known}", code=INVALID_PARAMS
            )
        result = await run(_argument(params))
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    async def _ask(self, params: AskParams) -> Wire:
        items = _pointed_at(params)
        if params.prompt is None and not items:
            raise Refused("prompt: say what to do, or point at something", code=INVALID_PARAMS)
        # Now, for the person may go on typing while a session is opened.
        pointed = contexts(items, self._editor.documents)
        try:
            opened = await self._session()
            key = self._turns.submit(
                opened,
                secrets.token_hex(8),
                params.prompt or "Look at this, and help.",
                pointed,
                when_busy=params.when_busy,
            )
        except Refused as refused:
            return self._outcome("refused", str(refused))
        self._work_done.follow(opened, key)
        self._editor.tasks.start_soon(self._show_answer, opened, key)
        return AskResult(session_id=opened.session.id, key=key)

    async def _session(self) -> OpenSession:
        """The session that commands go on in: the last one, while it can be written."""
        async with self._opening:
            for opened in self._editor.sessions.open_sessions:
                if opened.session.id == self._session_id and not opened.read_only:
                    return opened
            opened = await self._turns.open()
            self._session_id = opened.session.id
            return opened

    async def _show_answer(self, opened: OpenSession, key: str) -> None:
        """The answer as a document, when its turn has ended."""
        end = await until_ended(opened.agent.inbox, key)
        if isinstance(end, Dropped):
            return
        name = f"{opened.session.id}.md"
        entries = opened.session.log.entries
        if self._editor.client.show_document:
            text = await to_thread.run_sync(markdown, opened.session.title, tuple(entries))
            await self._showing.show(name, text)
        else:
            await self._showing.show(name, answer_of(entries, end.turn) or _ended(end))

    async def _approve(self, params: ApprovalCommandParams) -> Wire:
        """With an id: allow. Without one: only show the question again."""
        if params.approval_id is not None:
            return self._decide(params.approval_id, allow=True, note=params.note)
        pending = self._approvals.pending
        if len(pending) != 1:
            return self._outcome("ambiguous" if pending else "nothing", _count(len(pending)))
        self._approvals.bring(pending[0][1].approval_id)
        return CommandResult(outcome="shown", message="the question is shown again")

    async def _reject(self, params: ApprovalCommandParams) -> Wire:
        pending = self._approvals.pending
        if params.approval_id is not None:
            return self._decide(params.approval_id, allow=False, note=params.note)
        if len(pending) != 1:
            return self._outcome("ambiguous" if pending else "nothing", _count(len(pending)))
        return self._decide(pending[0][1].approval_id, allow=False, note=params.note)

    def _decide(self, approval_id: str, *, allow: bool, note: str | None) -> CommandResult:
        found = self._approvals.find(approval_id)
        if found is None:
            return self._outcome("settled", "that question is settled already")
        found[0].agent.approvals.decide(approval_id, allow=allow, by="command", note=note)
        return CommandResult(outcome="allowed" if allow else "rejected", message="")

    async def _cancel(self, params: SessionCommandParams) -> Wire:
        running = [
            opened
            for opened in self._editor.sessions.open_sessions
            if opened.driver.running is not None and params.session_id in (None, opened.session.id)
        ]
        if not running:
            return self._outcome("nothing", "nothing runs")
        if len(running) > 1:
            return self._outcome("ambiguous", f"{len(running)} turns run; name the session")
        running[0].driver.cancel("user")
        return CommandResult(outcome="cancelled", message="")

    def _outcome(self, outcome: str, message: str) -> CommandResult:
        """An outcome that the person should read: clients show no results of commands."""
        self._editor.connection.notify(
            "window/showMessage", {"type": 3, "message": f"Turnbuckle: {message}"}
        )
        return CommandResult(outcome=outcome, message=message)


def _argument(params: types.ExecuteCommandParams) -> Wire:
    arguments = params.arguments or ()
    if len(arguments) > 1:
        raise Refused("arguments: give one object, or none", code=INVALID_PARAMS)
    model = COMMANDS[params.command][0]
    try:
        return model.model_validate(arguments[0] if arguments else {})
    except ValidationError as error:
        faults = (
            f"{'.'.join(map(str, ('arguments.0', *fault['loc'])))}: {_said(fault)}"
            for fault in error.errors(include_url=False, include_input=False)
        )
        raise Refused("; ".join(faults), code=INVALID_PARAMS) from error


def _said(fault: ErrorDetails) -> str:
    return "must be an object" if fault["type"] == "model_type" else fault["msg"]


def _pointed_at(params: AskParams) -> list[ContextItem]:
    items: list[ContextItem] = []
    if params.uri is not None:
        items.append(
            ContextItem(
                kind="file" if params.range is None else "selection",
                uri=params.uri,
                range=params.range,
            )
        )
    if params.diagnostics:
        text = diagnostics_text(params.diagnostics)
        items.append(ContextItem(kind="diagnostics", uri=params.uri, text=text))
    return items


def _count(count: int) -> str:
    return f"{count} questions are open; name one" if count else "no question is open"


def _ended(end: Ended) -> str:
    failure = end.end.failure.message if end.end.failure else end.end.reason or ""
    return f"{end.end.kind}: {failure}" if failure else end.end.kind
