"""The commands that ask and cancel: the session that commands go on in, and its answers shown."""

from __future__ import annotations

import secrets

import anyio
from anyio import to_thread

from turnbuckle.agent.inbox import Dropped, Ended, until_ended
from turnbuckle.agent.sessions import OpenSession
from turnbuckle.lsp import names
from turnbuckle.lsp.commands import Commands
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.invocations import AskParams, AskResult, CommandResult, SessionCommandParams
from turnbuckle.lsp.pointing import contexts, diagnostics_text
from turnbuckle.lsp.protocol import ContextItem
from turnbuckle.lsp.rpc import INVALID_PARAMS, Refused
from turnbuckle.lsp.showing import Showing
from turnbuckle.lsp.transcripts import answer_of, markdown
from turnbuckle.lsp.turns import Turns
from turnbuckle.lsp.wire import Wire
from turnbuckle.lsp.workdone import WorkDone
from turnbuckle.lsp.writing import writes


class Asking:
    """What a client without a panel asks with."""

    def __init__(
        self,
        editor: Editor,
        commands: Commands,
        turns: Turns,
        work_done: WorkDone,
        showing: Showing,
    ) -> None:
        self._editor = editor
        self._commands = commands
        self._turns = turns
        self._work_done = work_done
        self._showing = showing
        self._session_id: str | None = None
        self._opening = anyio.Lock()

    def register(self) -> None:
        """Run the commands."""
        self._commands.add(names.ASK_COMMAND, self._ask)
        self._commands.add(names.CANCEL_COMMAND, self._cancel)

    async def _ask(self, params: AskParams) -> Wire:
        items = _pointed_at(params)
        if params.prompt is None and not items:
            raise Refused("prompt: say what to do, or point at something", code=INVALID_PARAMS)
        # Now, for the person may go on typing while a session is opened.
        pointed = contexts(items, self._editor.documents)
        try:
            opened = await self._session()
            key = await self._turns.submit(
                opened,
                secrets.token_hex(8),
                params.prompt or "Look at this, and help.",
                pointed,
                when_busy=params.when_busy,
            )
        except Refused as refused:
            return self._commands.outcome("refused", str(refused))
        self._work_done.follow(opened, key)
        self._editor.tasks.start_soon(self._show_answer, opened, key)
        return AskResult(session_id=opened.session.id, key=key)

    async def _session(self) -> OpenSession:
        """The session that commands go on in: the last one, while it can be written."""
        async with self._opening:
            for opened in self._editor.sessions.open_sessions:
                if opened.session.id == self._session_id and await writes(self._editor, opened):
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

    async def _cancel(self, params: SessionCommandParams) -> Wire:
        running = [
            opened
            for opened in self._editor.sessions.open_sessions
            if opened.driver.running is not None and params.session_id in (None, opened.session.id)
        ]
        if not running:
            return self._commands.outcome("nothing", "nothing runs")
        if len(running) > 1:
            return self._commands.outcome(
                "ambiguous", f"{len(running)} turns run; name the session"
            )
        running[0].driver.cancel("user")
        return CommandResult(outcome="cancelled", message="")


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


def _ended(end: Ended) -> str:
    failure = end.end.failure.message if end.end.failure else end.end.reason or ""
    return f"{end.end.kind}: {failure}" if failure else end.end.kind
