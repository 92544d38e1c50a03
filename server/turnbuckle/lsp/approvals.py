"""Questions in front of the person: by events where a client shows them, else by a prompt."""

import logging
import time

import anyio

from turnbuckle.agent.approvals import Pending
from turnbuckle.agent.sessions import OpenSession
from turnbuckle.kernel.scope import Scope
from turnbuckle.lsp import names
from turnbuckle.lsp.documents import OpenDocument
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.protocol import ApproveParams, ApproveResult
from turnbuckle.lsp.rpc import NoAnswer
from turnbuckle.lsp.showing import Showing
from turnbuckle.lsp.subjects import headline, is_plain, visible, whole
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import ApprovalAsked
from turnbuckle.tools.subject import Change

logger = logging.getLogger(__name__)

SHOW, ALLOW, REJECT = "Show…", "Allow once", "Reject"
QUIET = 1.0
"""Seconds without a change in the editor before a prompt: keys in flight would answer it."""


class Approvals:
    """Answers from the client, and prompts for clients that have nothing better.

    One prompt at a time. Nothing but the title that allows is a yes: a dismissed prompt, an error,
    an unknown title and a lost connection are not.
    """

    def __init__(self, editor: Editor, showing: Showing, *, quiet: float = QUIET) -> None:
        self._editor = editor
        self._showing = showing
        self._quiet = quiet
        self._typed = -quiet
        self._seen: set[str] = set()
        self._queue: list[tuple[OpenSession, str]] = []
        self._more = anyio.Event()

    def register(self, scope: Scope) -> None:
        """Answer our request, and watch for keys."""
        self._editor.connection.on_request(names.APPROVE, self._approve)
        self._editor.documents.listen(scope, self._keys)

    def _keys(self, _document: OpenDocument, _splices: object) -> None:
        self._typed = time.monotonic()

    def watch(self, opened: OpenSession) -> None:
        """Bring this session's questions before the person from now on."""

        def asked(entry: Entry, _line: bytes) -> None:
            if isinstance(entry.fact, ApprovalAsked):
                self.bring(opened, entry.fact.approval_id)

        opened.session.log.observe(opened.session.scope, asked)

    def bring(self, opened: OpenSession, approval_id: str) -> None:
        """Bring a question before the person, again if need be."""
        self._queue.append((opened, approval_id))
        self._more.set()

    def find(self, approval_id: str) -> tuple[OpenSession, Pending] | None:
        """An open question and its session."""
        for opened, pending in self.pending:
            if pending.approval_id == approval_id:
                return opened, pending
        return None

    @property
    def pending(self) -> list[tuple[OpenSession, Pending]]:
        """All open questions of this client, oldest first in each session."""
        return [
            (opened, pending)
            for opened in self._editor.sessions.open_sessions
            for pending in opened.agent.approvals.pending
        ]

    async def _approve(self, params: ApproveParams) -> ApproveResult:
        found = self.find(params.approval_id)
        if found is None:
            return ApproveResult(accepted=False)
        approvals = found[0].agent.approvals
        if params.hunks:
            accepted = approvals.decide_hunks(
                params.approval_id, params.hunks, by="client", note=params.note
            )
        else:
            allow = params.decision == "allow"
            accepted = approvals.decide(
                params.approval_id, allow=allow, by="client", note=params.note
            )
        return ApproveResult(accepted=accepted)

    # -- prompts ---------------------------------------------------------------------------------

    async def run(self) -> None:
        """Prompt for what nobody else shows, one question at a time, until cancelled."""
        while True:
            while self._queue:
                opened, approval_id = self._queue.pop(0)
                await self._settle(opened, approval_id)
            self._more = anyio.Event()
            await self._more.wait()

    async def _settle(self, opened: OpenSession, approval_id: str) -> None:
        """Return when a question is decided: here, or anywhere else."""
        found = self.find(approval_id)
        if found is None:
            return
        pending = found[1]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._prompt_for, opened, pending)
            while pending.outcome is None:
                await pending.changed.wait()
            tasks.cancel_scope.cancel()

    async def _prompt_for(self, opened: OpenSession, pending: Pending) -> None:
        await self._unwatched(opened)
        await self._quiet_moment()
        try:
            await self._prompt(opened, pending)
        except NoAnswer as error:
            logger.info("a question could not be asked: %s", error)
            opened.agent.approvals.withdraw(pending.approval_id, "unavailable", by="prompt")

    async def _unwatched(self, opened: OpenSession) -> None:
        """Return when no live subscription shows this session."""
        while self._editor.watches(opened.session.id):
            streams = [
                stream
                for stream in self._editor.streams.values()
                if stream.session is opened.session
            ]
            for stream in streams:
                await stream.ended()

    async def _quiet_moment(self) -> None:
        # A stretch of time is what is waited for, not an event.
        while (rest := self._typed + self._quiet - time.monotonic()) > 0:  # noqa: ASYNC110
            await anyio.sleep(rest)

    async def _prompt(self, opened: OpenSession, pending: Pending) -> None:
        """Ask until there is an answer.

        Raises:
            NoAnswer: the client gave no usable one.
        """
        subject = pending.subject
        line = headline(subject)
        while True:
            shown = pending.approval_id in self._seen
            titles = [SHOW, ALLOW, REJECT]
            if not shown and (isinstance(subject, Change) or not is_plain(line)):
                titles.remove(ALLOW)
            message = f"Turnbuckle wants to {visible(line)[:400]}"
            answer = await self._editor.connection.call(
                "window/showMessageRequest",
                {"type": 3, "message": message, "actions": [{"title": t} for t in titles]},
                timeout=None,
            )
            title = answer.title if answer is not None else None
            if title != SHOW:
                allow = title == ALLOW and title in titles
                opened.agent.approvals.decide(pending.approval_id, allow=allow, by="prompt")
                return
            await self._show(pending)

    async def _show(self, pending: Pending) -> None:
        text, ending = whole(pending.subject)
        name = f"approval-{len(self._seen) + 1}.{ending}"
        if await self._showing.show(name, visible_lines(text)):
            self._seen.add(pending.approval_id)


def visible_lines(text: str) -> str:
    """A text of several lines with what does not show spelt out, tabs and line ends aside."""
    return "\n".join(
        "\t".join(visible(cell) for cell in line.split("\t")) for line in text.split("\n")
    )
