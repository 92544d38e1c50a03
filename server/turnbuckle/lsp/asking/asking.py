"""The commands that ask and cancel, and how answers are shown."""

from __future__ import annotations

import secrets

from turnbuckle.agent.inbox import Dropped, Ended, until_ended
from turnbuckle.agent.sessions import OpenSession
from turnbuckle.lsp import names
from turnbuckle.lsp.asking.current import Current
from turnbuckle.lsp.asking.growing import Growing
from turnbuckle.lsp.asking.pointing import contexts, diagnostics_text
from turnbuckle.lsp.asking.transcripts import answer_of
from turnbuckle.lsp.commands import Commands
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.invocations import AskParams, AskResult, CommandResult, SessionCommandParams
from turnbuckle.lsp.protocol import ContextItem, WhenBusy
from turnbuckle.lsp.rpc import INVALID_PARAMS, Refused
from turnbuckle.lsp.showing import Showing
from turnbuckle.lsp.turns import Turns
from turnbuckle.lsp.wire import Wire
from turnbuckle.lsp.workdone import WorkDone
from turnbuckle.session.parts import Context


class Asking:
    """What a client without a panel asks with."""

    def __init__(
        self,
        editor: Editor,
        commands: Commands,
        turns: Turns,
        current: Current,
        work_done: WorkDone,
        showing: Showing,
        growing: Growing,
    ) -> None:
        self._editor = editor
        self._commands = commands
        self._turns = turns
        self._current = current
        self._work_done = work_done
        self._showing = showing
        self._growing = growing

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
            opened = await self._current.get()
            prompt = params.prompt or "Look at this, and help."
            key = await self.send(opened, prompt, pointed, when_busy=params.when_busy)
        except Refused as refused:
            return self._commands.outcome("refused", str(refused))
        return AskResult(session_id=opened.session.id, key=key)

    async def send(
        self,
        opened: OpenSession,
        prompt: str,
        pointed: tuple[Context, ...] = (),
        *,
        when_busy: WhenBusy = "queue",
    ) -> str:
        """Let a message wait for its turn, have that followed and its answer shown; gives its key.

        Raises:
            Refused: this session, or this workspace, runs no turn.
        """
        key = secrets.token_hex(8)
        await self._turns.submit(opened, key, prompt, pointed, when_busy=when_busy)
        self._work_done.follow(opened, key)
        self._editor.tasks.start_soon(self._show_answer, opened, key)
        return key

    async def _show_answer(self, opened: OpenSession, key: str) -> None:
        """The conversation as a document that grows; else as one when its turn has ended."""
        grows = await self._growing.show(opened)
        end = await until_ended(opened.agent.inbox, key)
        if isinstance(end, Dropped) or (grows and self._growing.refreshes):
            return
        if self._editor.client.show_document:
            await self._growing.show_file(opened)
        else:
            said = answer_of(opened.session.log.entries, end.turn) or _ended(end)
            await self._showing.show(f"{opened.session.id}.md", said)

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
