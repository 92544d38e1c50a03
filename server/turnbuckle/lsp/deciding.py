"""The commands that answer a question: approve and reject."""

from turnbuckle.lsp import names
from turnbuckle.lsp.approvals import Approvals
from turnbuckle.lsp.commands import Commands
from turnbuckle.lsp.invocations import ApprovalCommandParams, CommandResult
from turnbuckle.lsp.subjects import brief
from turnbuckle.lsp.wire import Wire
from turnbuckle.tools.subject import Question

_NAMED = 5
"""How many open questions a message names."""


class Deciding:
    """What a client without a panel answers with, beside the prompt."""

    def __init__(self, commands: Commands, approvals: Approvals) -> None:
        self._commands = commands
        self._approvals = approvals

    def register(self) -> None:
        """Run the commands."""
        self._commands.add(names.APPROVE_COMMAND, self._approve)
        self._commands.add(names.REJECT_COMMAND, self._reject)

    async def _approve(self, params: ApprovalCommandParams) -> Wire:
        """With an id: allow, or answer. Without one: only show the oldest question again."""
        if params.approval_id is not None:
            return self._allow(params.approval_id, params)
        pending = self._approvals.pending
        if not pending:
            return self._commands.outcome("nothing", "no question is open")
        self._approvals.bring(pending[0][1].approval_id)
        if len(pending) > 1:
            said = f"the oldest of {len(pending)} open questions is shown again: {self._open()}"
            return self._commands.outcome("shown", said)
        return CommandResult(outcome="shown", message="the question is shown again")

    def _allow(self, approval_id: str, params: ApprovalCommandParams) -> CommandResult:
        found = self._approvals.find(approval_id)
        if found is None:
            return self._commands.outcome("settled", "that question is settled already")
        opened, pending = found
        if isinstance(pending.subject, Question) != (params.answer is not None):
            self._approvals.bring(approval_id)
            return self._commands.outcome("shown", "a question wants an answer, all else a yes")
        opened.agent.approvals.decide(
            approval_id,
            allow=True,
            by="command",
            note=params.note,
            answer=params.answer,
            remember=params.remember,
        )
        if params.remember and not pending.grants:
            return self._commands.outcome("allowed", "this is asked about each time: allowed once")
        return CommandResult(outcome="allowed", message="")

    async def _reject(self, params: ApprovalCommandParams) -> Wire:
        pending = self._approvals.pending
        if params.approval_id is not None:
            return self._deny(params.approval_id, params.note)
        if not pending:
            return self._commands.outcome("nothing", "no question is open")
        if len(pending) > 1:
            said = f"{len(pending)} questions are open; name one: {self._open()}"
            return self._commands.outcome("ambiguous", said)
        return self._deny(pending[0][1].approval_id, params.note)

    def _deny(self, approval_id: str, note: str | None) -> CommandResult:
        found = self._approvals.find(approval_id)
        if found is None:
            return self._commands.outcome("settled", "that question is settled already")
        found[0].agent.approvals.decide(approval_id, allow=False, by="command", note=note)
        return CommandResult(outcome="rejected", message="")

    def _open(self) -> str:
        """The open questions in words."""
        lines = [brief(pending.subject) for _, pending in self._approvals.pending]
        more = f"; and {len(lines) - _NAMED} more" if len(lines) > _NAMED else ""
        return "; ".join(lines[:_NAMED]) + more
