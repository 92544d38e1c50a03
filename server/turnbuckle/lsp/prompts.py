"""Questions as prompts, for whoever has nothing better: `window/showMessageRequest`."""

import logging
import time
from dataclasses import dataclass, field

import anyio
from anyio import to_thread

from turnbuckle.agent.approvals import Pending
from turnbuckle.agent.sessions import OpenSession
from turnbuckle.kernel.scope import Scope
from turnbuckle.lsp.documents import OpenDocument
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.rpc import NoAnswer, Question
from turnbuckle.lsp.showing import Showing
from turnbuckle.lsp.subjects import headline, is_plain, visible, whole
from turnbuckle.tools.subject import Change, Subject

logger = logging.getLogger(__name__)

SHOW, ALLOW, REJECT = "Show…", "Allow once", "Reject"
QUIET = 1.0
"""Seconds without a change in the editor before a prompt: keys in flight would answer it."""

PROMPT = "window/showMessageRequest"

MESSAGE_LIMIT = 400
"""How many characters a prompt shows at most."""


@dataclass(slots=True)
class _Click:
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
            async with self._screen:
                await self._quiet_moment()
                if again or not self._editor.watches(opened.session):
                    await self._prompt(opened, pending)
                    return

    async def _quiet_moment(self) -> None:
        # A stretch of time is what is waited for, not an event.
        while (rest := self._typed + self._quiet - time.monotonic()) > 0:  # noqa: ASYNC110
            await anyio.sleep(rest)

    async def _prompt(self, opened: OpenSession, pending: Pending) -> None:
        """Ask until there is an answer; none that can be used is as good as a no."""
        line = headline(pending.subject, opened.agent.workspace.roots.cwd)
        try:
            while (title := await self._answer(pending, line)) == SHOW:
                await self._show(pending)
                await self._quiet_moment()
        except NoAnswer as error:
            logger.info("a question could not be asked: %s", error)
            opened.agent.approvals.withdraw(pending.approval_id, "unavailable", by="prompt")
        else:
            allow = title == ALLOW and ALLOW in self._titles(pending, line)
            opened.agent.approvals.decide(pending.approval_id, allow=allow, by="prompt")

    def _titles(self, pending: Pending, line: str) -> list[str]:
        """What can be clicked: no yes to what does not show in the line, until it was shown."""
        plain = is_plain(line) and not isinstance(pending.subject, Change)
        shown = pending.approval_id in self._shown
        return [SHOW, ALLOW, REJECT] if plain or shown else [SHOW, REJECT]

    async def _answer(self, pending: Pending, line: str) -> str | None:
        """The title that was clicked.

        Raises:
            NoAnswer: the client gave no usable answer.
        """
        said = f"Turnbuckle wants to {visible(line)}"
        question = self._editor.connection.ask(
            PROMPT,
            {
                "type": 3,
                "message": said if len(said) <= MESSAGE_LIMIT else f"{said[:MESSAGE_LIMIT]}…",
                "actions": [{"title": title} for title in self._titles(pending, line)],
            },
        )
        click = _Click()
        self._editor.tasks.start_soon(self._hear, question, click, pending)
        try:
            await click.heard.wait()
        finally:
            click.wanted = False
            question.cancel()
        if click.trouble is not None:
            raise click.trouble
        return click.title

    async def _hear(self, question: Question, click: _Click, pending: Pending) -> None:
        """Wait for the click as long as the prompt may be on the screen, cancelled or not."""
        try:
            answer = self._editor.connection.read(PROMPT, await question.answer())
            click.title = str(answer.title) if answer is not None else None
        except NoAnswer as error:
            click.trouble = error
        click.heard.set()
        if not click.wanted and click.title is not None:
            why = "was asked again" if pending.outcome is None else "is settled already"
            message = f"Turnbuckle: that question {why}; nothing was changed."
            self._editor.connection.notify("window/showMessage", {"type": 3, "message": message})

    async def _show(self, pending: Pending) -> None:
        text, ending = await to_thread.run_sync(_readable, pending.subject)
        if await self._showing.show_for_now(text, ending):
            self._shown.add(pending.approval_id)


def _readable(subject: Subject) -> tuple[str, str]:
    """All of a subject, with what does not show spelt out; tabs and line ends stay."""
    text, ending = whole(subject)
    lines = ("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))
    return "\n".join(lines), ending
