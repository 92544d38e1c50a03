"""`turnbuckle/watch`: short notes about all sessions of a client, for badges and lists."""

from collections import OrderedDict
from functools import partial

import anyio
import orjson

from turnbuckle.agent.sessions import OpenSession
from turnbuckle.lsp import names
from turnbuckle.lsp.editor import Editor, Look
from turnbuckle.lsp.lives import Token, WatchParams
from turnbuckle.lsp.protocol import Nothing
from turnbuckle.lsp.rpc import Connection, NoAnswer
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    ApprovalHunk,
    InboxAdded,
    SessionCreated,
    SessionTitle,
    TurnEnd,
    TurnStart,
)
from turnbuckle.session.parts import JsonObject

MOST = 1_000
"""Notes that wait for a client at most, each about something else; older ones are dropped."""

_TELLING = (
    SessionCreated, SessionTitle, InboxAdded, TurnStart, TurnEnd,
    ApprovalAsked, ApprovalHunk, ApprovalDecided,
)  # fmt: skip


class Watch:
    """One token's notes. Of what is told about, the latest waits; one note is outstanding."""

    def __init__(self, connection: Connection, token: Token) -> None:
        self._connection = connection
        self._head = b'{"jsonrpc":"2.0","method":"$/progress","params":{"token":%s,"value":' % (
            orjson.dumps(token)
        )
        self._waiting: OrderedDict[tuple[str, str], Look] = OrderedDict()
        self._told: dict[str, JsonObject] = {}
        self._more = anyio.Event()
        self._life = anyio.CancelScope()
        self._stopped = anyio.Event()

    def tell(self, type_: str, about: str, look: Look) -> None:
        """Send a note about something soon; instead of one about the same that still waits."""
        self._waiting[type_, about] = look
        if len(self._waiting) > MOST:
            self._waiting.popitem(last=False)
        self._more.set()

    async def run(self) -> None:
        """Send until stopped, or until the client is gone."""
        try:
            with self._life:
                while True:
                    await self._more.wait()
                    self._more = anyio.Event()
                    while self._waiting:
                        (type_, about), look = self._waiting.popitem(last=False)
                        await self._send(type_, about, look())
        except NoAnswer:
            pass  # nobody misses the rest
        finally:
            self._stopped.set()

    async def _send(self, type_: str, about: str, data: JsonObject) -> None:
        if type_ == _SESSION:
            if self._told.get(about) == data:
                return
            if data["state"] == "closed":
                self._told.pop(about, None)
            else:
                self._told[about] = data
        value = orjson.dumps({"type": type_, "data": data})
        await self._connection.send_text(self._head + value + b"}}")

    async def stop(self) -> None:
        """End, and return when nothing will be sent any more."""
        self._life.cancel()
        await self._stopped.wait()


_SESSION, _REVIEW = "session/changed", "review/changed"


class Watching:
    """The watches of one client."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._running: dict[str, bool] = {}

    def register(self) -> None:
        """Answer our request on the editor's connection."""
        self._editor.connection.on_request(names.WATCH, self._watch)

    def watch(self, opened: OpenSession) -> None:
        """Tell of a session that was opened just now, of its changes, and of its end."""
        session = opened.session

        def seen(entry: Entry, _line: bytes) -> None:
            if isinstance(entry.fact, TurnStart | TurnEnd):
                self._running[session.id] = isinstance(entry.fact, TurnStart)
            if isinstance(entry.fact, _TELLING):
                self._tell(opened)

        def closed() -> None:
            last = self._state(opened) | {"state": "closed", "approvals": 0, "hunks": 0}
            self._running.pop(session.id, None)
            for watch in self._editor.watching.values():
                watch.tell(_SESSION, session.id, lambda: last)

        self._running[session.id] = _runs(session.log.entries)
        session.scope.defer(closed, "watched")
        session.log.observe(session.scope, seen)
        self._tell(opened)

    def review_changed(self, uri: str) -> None:
        """Tell that the proposed hunks of a file, or their states, are others now."""
        for watch in self._editor.watching.values():
            watch.tell(_REVIEW, uri, lambda: {"uri": uri})

    def _tell(self, opened: OpenSession) -> None:
        for watch in self._editor.watching.values():
            watch.tell(_SESSION, opened.session.id, lambda: self._state(opened))

    async def _watch(self, params: WatchParams) -> Nothing:
        self._editor.require_free(params.token)
        watch = Watch(self._editor.connection, params.token)
        self._editor.watching[params.token] = watch
        for opened in self._editor.sessions.open_sessions:
            watch.tell(_SESSION, opened.session.id, partial(self._state, opened))
        self._editor.tasks.start_soon(self._run, params.token, watch)
        return Nothing()

    def _state(self, opened: OpenSession) -> JsonObject:
        """What a session comes to now."""
        session, pending = opened.session, opened.agent.approvals.pending
        running = self._running.get(session.id, False)
        known = {
            "sessionId": session.id,
            "parent": session.created.parent,
            "title": session.title,
            "state": "waiting" if pending else "running" if running else "idle",
            "approvals": len(pending),
            "hunks": sum(decision is None for one in pending for decision in one.hunks.values()),
        }
        return {name: value for name, value in known.items() if value is not None}

    async def _run(self, token: Token, watch: Watch) -> None:
        try:
            await watch.run()
        finally:
            self._editor.watching.pop(token, None)


def _runs(entries: list[Entry]) -> bool:
    """Whether a turn is open at the end of a log."""
    facts = (entry.fact for entry in reversed(entries))
    last = next((fact for fact in facts if isinstance(fact, TurnStart | TurnEnd)), None)
    return isinstance(last, TurnStart)
