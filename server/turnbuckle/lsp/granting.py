"""What is allowed for a session: list it, and take it back."""

from turnbuckle.lsp import names
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.lives import (
    GrantsResult,
    GrantsRevokeParams,
    GrantsRevokeResult,
    SessionGrant,
    SessionParams,
)
from turnbuckle.lsp.rpc import Refused


class Granting:
    """The grants of the sessions that are open here."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor

    def register(self) -> None:
        """Answer our requests."""
        self._editor.connection.on_request(names.GRANTS, self._list)
        self._editor.connection.on_request(names.GRANTS_REVOKE, self._revoke)

    async def _list(self, params: SessionParams) -> GrantsResult:
        approvals = self._editor.session(params.session_id).agent.approvals
        return GrantsResult(
            grants=tuple(
                SessionGrant(grant_id=grant.grant_id, subject=grant.subject, since=grant.since)
                for grant in approvals.grants
            )
        )

    async def _revoke(self, params: GrantsRevokeParams) -> GrantsRevokeResult:
        opened = self._editor.session(params.session_id)
        if opened.read_only:
            raise Refused(
                "another window has this session; take it back there",
                kind="readOnly",
                retryable=True,
            )
        revoked = opened.agent.approvals.revoke(params.grant_id)
        if revoked:
            await opened.session.flush()
        return GrantsRevokeResult(revoked=revoked)
