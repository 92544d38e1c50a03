"""The commands that answer a question: approve and reject."""

from turnbuckle.lsp import names
from turnbuckle.lsp.approvals import Approvals
from turnbuckle.lsp.commands import Commands
from turnbuckle.lsp.invocations import ApprovalCommandParams, CommandResult
from turnbuckle.lsp.wire import Wire


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
        """With an id: allow. Without one: only show the question again."""
        if params.approval_id is not None:
            return self._decide(params.approval_id, allow=True, note=params.note)
        pending = self._approvals.pending
        if len(pending) != 1:
            return self._commands.outcome(
                "ambiguous" if pending else "nothing", _count(len(pending))
            )
        self._approvals.bring(pending[0][1].approval_id)
        return CommandResult(outcome="shown", message="the question is shown again")

    async def _reject(self, params: ApprovalCommandParams) -> Wire:
        pending = self._approvals.pending
        if params.approval_id is not None:
            return self._decide(params.approval_id, allow=False, note=params.note)
        if len(pending) != 1:
            return self._commands.outcome(
                "ambiguous" if pending else "nothing", _count(len(pending))
            )
        return self._decide(pending[0][1].approval_id, allow=False, note=params.note)

    def _decide(self, approval_id: str, *, allow: bool, note: str | None) -> CommandResult:
        found = self._approvals.find(approval_id)
        if found is None:
            return self._commands.outcome("settled", "that question is settled already")
        found[0].agent.approvals.decide(approval_id, allow=allow, by="command", note=note)
        return CommandResult(outcome="allowed" if allow else "rejected", message="")


def _count(count: int) -> str:
    return f"{count} questions are open; name one" if count else "no question is open"
