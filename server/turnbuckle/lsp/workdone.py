"""Standard work-done progress: begin, one line at a time, end; never a chunk."""

from turnbuckle.agent.inbox import Dropped, until_ended
from turnbuckle.agent.sessions import OpenSession
from turnbuckle.kernel.scope import Scope
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.rpc import NoAnswer
from turnbuckle.lsp.subjects import shortened, visible
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    Fact,
    LlmFailed,
    LlmStream,
    ToolCall,
    TurnStart,
)

TITLE = "Turnbuckle"

NAME = 60
"""How many characters of what the model calls a tool are shown at most."""


class WorkDone:
    """Tells a client that shows progress what a turn is doing, and lets it be cancelled there."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._running: dict[int | str, tuple[OpenSession, str]] = {}
        self._created = 0

    def register(self) -> None:
        """Listen for the client's cancel button."""
        self._editor.connection.on_notification("window/workDoneProgress/cancel", self._cancel)

    def _cancel(self, params: object) -> None:
        token = getattr(params, "token", None)
        if token in self._running:
            opened, key = self._running[token]
            if opened.agent.inbox.turn_of(key) is None:
                opened.agent.inbox.drop((key,), "cancelled")
            else:
                opened.driver.cancel("user", keep_queue=True)

    def follow(self, opened: OpenSession, key: str, token: int | str | None = None) -> None:
        """Report a message's turn, on the client's token or on one that it is asked to make."""
        if token is not None or self._editor.client.work_done_progress:
            self._editor.tasks.start_soon(self._follow, opened, key, token)

    async def _follow(self, opened: OpenSession, key: str, token: int | str | None) -> None:
        if token is None:
            self._created += 1
            token = f"turnbuckle/{self._created}"
            try:
                await self._editor.connection.call(
                    "window/workDoneProgress/create", {"token": token}
                )
            except NoAnswer:
                return  # it shows no progress, then
        self._running[token] = (opened, key)
        scope = Scope("work done")
        self._send(token, kind="begin", title=TITLE, cancellable=True, message=_now(opened, key))

        def report(entry: Entry, _line: bytes) -> None:
            line = _doing(entry.fact)
            if line and opened.agent.inbox.turn_of(key) is not None:
                self._send(token, kind="report", message=line)

        opened.session.log.observe(scope, report)
        try:
            end = await until_ended(opened.agent.inbox, key)
        finally:
            self._running.pop(token, None)
            await scope.aclose()
        said = f"dropped: {end.why}" if isinstance(end, Dropped) else end.end.kind
        self._send(token, kind="end", message=said)

    def _send(self, token: int | str, **value: object) -> None:
        self._editor.connection.notify("$/progress", {"token": token, "value": value})


def _now(opened: OpenSession, key: str) -> str:
    """What is being done for a message: its turn may have begun before the client is told."""
    if opened.agent.inbox.turn_of(key) is not None:
        for entry in reversed(opened.session.log.entries):
            if isinstance(entry.fact, TurnStart):
                break
            if line := _doing(entry.fact):
                return line
    return "waiting"


def _doing(fact: Fact) -> str | None:
    """What a fact says is being done now, in a line."""
    match fact:
        case LlmStream(model=model):
            return f"asking {model}"
        case LlmFailed(failure=failure, retry_at=int()):
            return f"{failure.kind}; trying again"
        case ToolCall(name=name):
            return shortened(visible(name), NAME)
        case ApprovalAsked():
            return "waiting for you"
        case ApprovalDecided(outcome=outcome):
            return outcome
        case _:
            return None
