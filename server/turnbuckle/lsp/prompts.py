"""Questions as prompts, for whoever has nothing better: `window/showMessageRequest`."""

import logging
import time
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio import to_thread

from turnbuckle.agent.approvals import Pending
from turnbuckle.agent.sessions import OpenSession
from turnbuckle.kernel.scope import Scope
from turnbuckle.lsp.documents import OpenDocument
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.rpc import NoAnswer, Question
from turnbuckle.lsp.showing import Showing
from turnbuckle.lsp.subjects import visible, whole
from turnbuckle.lsp.titles import ALLOW as ALLOW
from turnbuckle.lsp.titles import ALLOW_SESSION as ALLOW_SESSION
from turnbuckle.lsp.titles import DISMISSED, Click, message, titles
from turnbuckle.lsp.titles import NO_ANSWER as NO_ANSWER
from turnbuckle.lsp.titles import REJECT as REJECT
from turnbuckle.lsp.titles import SHOW as SHOW
from turnbuckle.tools.subject import Subject

logger = logging.getLogger(__name__)

QUIET = 1.0
"""Seconds without a change in the editor before a prompt: keys in flight would answer it."""

PROMPT = "window/showMessageRequest"


@dataclass(slots=True)
class _Heard:
    """What a prompt came to; `wanted` until the question is decided, or asked anew."""

    heard: anyio.Event = field(default_factory=anyio.Event)
    title: str | None = None
    trouble: NoAnswer | None = None
    wanted: bool = True


class Prompts:
    """Prompts for questions that nobody else shows, one at a time.

    Nothing but the title that allows is a yes: a dismissed prompt, an error, an unknown title and
    a lost connection are not.
    """

    def __init__(self, editor: Editor, showing: Showing, *, quiet: float = QUIET) -> None:
        self._editor = editor
        self._showing = showing
        self._quiet = quiet
        self._typed = -quiet
        self._shown: set[str] = set()
        self._attended: dict[str, anyio.CancelScope] = {}
        self._screen = anyio.Lock()
        self._waiting: set[str] = set()

    def register(self, scope: Scope) -> None:
        """Watch for keys."""
        self._editor.documents.listen(scope, self._keys)

    def _keys(self, _document: OpenDocument, _splices: object) -> None:
        self._typed = time.monotonic()

    async def attend(self, opened: OpenSession, pending: Pending, *, again: bool) -> None:
        """See to it that a question is asked, until it is decided here or anywhere else.

        `again` asks it even where somebody shows it, and in place of a prompt that is up.
        """
        if earlier := self._attended.get(pending.approval_id):
            earlier.cancel()
        async with anyio.create_task_group() as tasks:
            self._attended[pending.approval_id] = tasks.cancel_scope
            tasks.start_soon(self._ask, opened, pending, again)
            while pending.outcome is None:
                await pending.changed.wait()
            tasks.cancel_scope.cancel()
        if pending.outcome is not None:
            self._attended.pop(pending.approval_id, None)
            self._shown.discard(pending.approval_id)

    async def _ask(self, opened: OpenSession, pending: Pending, again: bool) -> None:
        while True:
            if not again:
                await self._editor.unwatched(opened.session)
            self._waiting.add(pending.approval_id)
            try:
                await self._screen.acquire()
            finally:
                self._waiting.discard(pending.approval_id)
            try:
                await self._quiet_moment()
                if again or not self._editor.watches(opened.session):
                    await self._prompt(opened, pending)
                    return
            finally:
                self._screen.release()

    async def _quiet_moment(self) -> None:
        # A stretch of time is what is waited for, not an event.
        while (rest := self._typed + self._quiet - time.monotonic()) > 0:  # noqa: ASYNC110
            await anyio.sleep(rest)

    async def _prompt(self, opened: OpenSession, pending: Pending) -> None:
        """Ask until there is an answer; none that can be used is as good as a no."""
        approvals = opened.agent.approvals
        home = opened.agent.workspace.roots.cwd
        try:
            while (click := await self._answer(pending, home)) is None:
                await self._show(pending)
                await self._quiet_moment()
        except NoAnswer as error:
            logger.info("a question could not be asked: %s", error)
            approvals.withdraw(pending.approval_id, "unavailable", by="prompt")
        else:
            approvals.decide(
                pending.approval_id,
                allow=click.allow,
                by="prompt",
                answer=click.answer,
                remember=click.remember,
            )

    async def _answer(self, pending: Pending, home: Path | None) -> Click | None:
        """What was clicked; None for a wish to see it all.

        Raises:
            NoAnswer: the client gave no usable answer.
        """
        shown = pending.approval_id in self._shown
        offered = titles(pending, home, shown=shown)
        question = self._editor.connection.ask(
            PROMPT,
            {
                "type": 3,
                "message": message(pending, home, len(self._waiting)),
                "actions": [{"title": title} for title in offered],
            },
        )
        click = _Heard()
        self._editor.tasks.start_soon(self._hear, question, click, pending)
        try:
            await click.heard.wait()
        finally:
            click.wanted = False
            question.cancel()
        if click.trouble is not None:
            raise click.trouble
        return offered.get(click.title, DISMISSED) if click.title else DISMISSED

    async def _hear(self, question: Question, click: _Heard, pending: Pending) -> None:
        """Wait for the click as long as the prompt may be on the screen, cancelled or not."""
        try:
            answer = self._editor.connection.read(PROMPT, await question.answer())
            click.title = str(answer.title) if answer is not None else None
        except NoAnswer as error:
            click.trouble = error
        click.heard.set()
        if not click.wanted and click.title is not None:
            why = "was asked again" if pending.outcome is None else "is settled already"
            said = f"Turnbuckle: that question {why}; nothing was changed."
            self._editor.connection.notify("window/showMessage", {"type": 3, "message": said})

    async def _show(self, pending: Pending) -> None:
        text, ending = await to_thread.run_sync(_readable, pending.subject)
        if await self._showing.show_for_now(text, ending):
            self._shown.add(pending.approval_id)


def _readable(subject: Subject) -> tuple[str, str]:
    """All of a subject, with what does not show spelt out; tabs and line ends stay."""
    text, ending = whole(subject)
    lines = ("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))
    return "\n".join(lines), ending
