"""`turnbuckle/session/compact`: make the history smaller now, as a turn without steps."""

from turnbuckle.agent.agent import Agent
from turnbuckle.agent.compaction import Compacted, Compactor
from turnbuckle.agent.driver import Busy
from turnbuckle.agent.sessions import OpenSession
from turnbuckle.lsp import names
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.lives import SessionCompactResult, SessionParams
from turnbuckle.lsp.rpc import CANCELLED, Refused
from turnbuckle.session.parts import End


class Compacting:
    """Compaction on demand. Cancelling the request, or the turn, leaves the history as it was."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor

    def register(self) -> None:
        """Answer our request on the editor's connection."""
        self._editor.connection.on_request(names.SESSION_COMPACT, self._compact)

    async def _compact(self, params: SessionParams) -> SessionCompactResult:
        opened = self._editor.session(params.session_id)
        self._require_may_run(opened)
        compactor = Compactor(opened.agent)
        if compactor.nothing_to_do and not opened.driver.busy:
            size = compactor.size
            return _result(Compacted(before=size, after=size))
        done: list[Compacted] = []

        async def work(_: Agent, _turn: int) -> End:
            done.append(await compactor.compact())
            return End(kind="completed")

        try:
            end = await opened.driver.errand(work)
        except Busy as error:
            raise Refused(str(error), kind="busy", retryable=True) from error
        await self._editor.told(opened.session.id, opened.session.log.seq)
        if done and end and end.kind == "completed":
            return _result(done[0])
        raise _refusal(end)

    def _require_may_run(self, opened: OpenSession) -> None:
        if not self._editor.client.trusted:
            said = "the workspace is not trusted, so no model is asked in it"
            raise Refused(said, kind="untrusted", retryable=False)
        if opened.read_only:
            said = "this session can only be read here, so nothing of it is made smaller"
            raise Refused(said, kind="readOnly", retryable=True)


def _result(done: Compacted) -> SessionCompactResult:
    if done.after >= done.before:
        said = done.why or "there is nothing that could be left out"
        return SessionCompactResult(
            outcome="nothing", message=said, before=done.before, after=done.after
        )
    said = f"about {done.after:,} tokens are sent instead of {done.before:,}"
    said = said if done.why is None else f"{said}; {done.why}"
    return SessionCompactResult(
        outcome="compacted", message=said, before=done.before, after=done.after
    )


def _refusal(end: End | None) -> Refused:
    """Why there is no result."""
    match end:
        case None:
            return Refused("the session was closed", kind="sessionNotFound", retryable=False)
        case End(failure=failure) if failure is not None:
            return Refused(failure.message, kind=failure.kind, retryable=True)
        case End(cause=cause):
            said = f"the compaction was cancelled: {cause or 'user'}"
            return Refused(said, code=CANCELLED, kind="cancelled", retryable=True)
