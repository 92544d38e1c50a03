"""Questions in front of the person: by events where a client shows them, else by a prompt."""

from collections.abc import Mapping

from turnbuckle.agent.approvals import Pending
from turnbuckle.agent.sessions import OpenSession
from turnbuckle.kernel.scope import Scope
from turnbuckle.lsp import names
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.prompts import Prompts
from turnbuckle.lsp.protocol import ApproveParams, ApproveResult
from turnbuckle.lsp.rpc import INVALID_PARAMS, Refused
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import ApprovalAsked
from turnbuckle.tools.subject import Change, Question, Subject
from turnbuckle.workspace.paths import canonical


class Approvals:
    """The open questions of one client, and its answers to them."""

    def __init__(self, editor: Editor, prompts: Prompts) -> None:
        self._editor = editor
        self._prompts = prompts

    def register(self, scope: Scope) -> None:
        """Answer our request, and be ready to prompt."""
        self._editor.connection.on_request(names.APPROVE, self._approve)
        self._prompts.register(scope)

    def watch(self, opened: OpenSession) -> None:
        """Bring this session's questions before the person from now on."""

        def asked(entry: Entry, _line: bytes) -> None:
            if isinstance(entry.fact, ApprovalAsked):
                self._editor.tasks.start_soon(self._attend, entry.fact.approval_id, False)

        opened.session.log.observe(opened.session.scope, asked)

    def bring(self, approval_id: str) -> None:
        """Prompt for a question now, again if need be, whoever shows it."""
        self._editor.tasks.start_soon(self._attend, approval_id, True)

    async def _attend(self, approval_id: str, again: bool) -> None:
        if found := self.find(approval_id):
            await self._prompts.attend(*found, again=again)

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
        approvals, subject = found[0].agent.approvals, found[1].subject
        if params.hunks:
            accepted = approvals.decide_hunks(
                params.approval_id, params.hunks, by="client", note=params.note
            )
        else:
            accepted = approvals.decide(
                params.approval_id,
                allow=params.answer is not None or params.decision == "allow",
                by="client",
                note=params.note,
                answer=_answer(params, subject),
                edits=_edits(params.edits or {}, subject),
                remember=params.remember,
            )
        return ApproveResult(accepted=accepted)


def _answer(params: ApproveParams, subject: Subject) -> str | None:
    """The answer to a question; only a question has one, and it has nothing else.

    Raises:
        Refused: it is the other way round.
    """
    if not isinstance(subject, Question):
        if params.answer is not None:
            raise _wrong("answer: this is no question; give a decision")
        return None
    if params.decision == "allow":
        raise _wrong("answer: a question wants one; decision: reject leaves it unanswered")
    if params.answer is not None and not params.answer.strip():
        raise _wrong("answer: must not be empty")
    return params.answer


def _edits(edits: Mapping[str, str], subject: Subject) -> Mapping[str, str]:
    """Whole texts by the URIs that the change spells.

    Raises:
        Refused: one is of no file of the change.
    """
    files = subject.files if isinstance(subject, Change) else ()
    names = {canonical(file.uri): file.uri for file in files}
    if strange := [uri for uri in edits if canonical(uri) not in names]:
        raise _wrong(f"edits: {strange[0]} is no file of this change")
    return {names[canonical(uri)]: text for uri, text in edits.items()}


def _wrong(message: str) -> Refused:
    return Refused(message, code=INVALID_PARAMS)
