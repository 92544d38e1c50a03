"""A subscriber: a cursor into a session's log, out as `$/progress`. It keeps no copy."""

from collections import deque
from collections.abc import Callable

import anyio
import anyio.lowlevel
import orjson

from turnbuckle.kernel.scope import Scope
from turnbuckle.lsp.cursor import Cursor
from turnbuckle.lsp.rpc import Connection, NoAnswer
from turnbuckle.lsp.rpc.framing import frame
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    AssistantChunk,
    InboxAdded,
    InboxChanged,
    InboxDropped,
    TurnStart,
)
from turnbuckle.session.parts import JsonObject
from turnbuckle.session.session import Session

MAX_NOTES = 64
"""Notes that wait for a client at most; older ones are dropped, for notes may be."""


class Stream:
    """Sends facts from `index` of the log on, each once and in order; notes in between.

    Live and replay are the same code. Only one piece of what waits is outstanding, so a client that
    does not read holds up nobody, and what piles up meanwhile is one cursor. `until` names the turn
    with whose end the stream ends.
    """

    def __init__(
        self,
        connection: Connection,
        session: Session,
        token: int | str,
        index: int,
        *,
        until: int | None = None,
    ) -> None:
        self.session = session
        self.token = token
        self._connection = connection
        self._cursor = Cursor(session, index, until)
        self._head = b'{"jsonrpc":"2.0","method":"$/progress","params":{"token":%s,"value":' % (
            orjson.dumps(token)
        )
        self._live_told = until is not None
        self._sent = self._cursor.passed
        self._ended = False
        self._life = anyio.CancelScope()
        self._stopped = anyio.Event()
        # Not set only while there is nothing to send, and `run` waits for something.
        self._more = anyio.Event()
        self._more.set()
        self._passed: anyio.Event | None = None
        self._notes: deque[bytes] = deque(maxlen=MAX_NOTES)

    async def run(self) -> None:
        """Send until cancelled, until the turn's end, or until the client is gone."""
        scope = Scope("stream")
        self.session.log.observe(scope, self._seen)
        self.session.observe_notes(scope, self._note)
        self._cursor.look()
        try:
            with self._life:
                while not self._ended:
                    await self._step()
        except NoAnswer:
            pass  # the client is gone: nobody misses the rest
        finally:
            self._ended = True
            self._more.set()
            self._tell()
            self._stopped.set()
            with anyio.CancelScope(shield=True):
                await scope.aclose()

    async def stop(self) -> None:
        """End, and return when nothing will be sent any more."""
        self._life.cancel()
        await self.ended()

    async def ended(self) -> None:
        """Return when nothing will be sent any more."""
        await self._stopped.wait()

    async def reached(self, seq: int) -> None:
        """Return when everything up to this fact has been sent, or nothing will be any more."""
        while self._sent < seq and not self._ended:
            self._passed = self._passed or anyio.Event()
            await self._passed.wait()

    def _seen(self, entry: Entry, line: bytes) -> None:
        self._cursor.seen(entry)
        if isinstance(entry.fact, AssistantChunk) and self._is_free():
            # Text is what people wait for: it does not wait for `run` to wake up.
            value = self._cursor.take_chunk(line)
            self.session.write_through()
            self._connection.writer.offer(frame(self._head + value + b"}}"))
            self._pass()
        else:
            self._more.set()

    def _is_free(self) -> bool:
        """Whether a fact that was appended just now can be sent just now, before anything else."""
        waits = not self._more.is_set() and self._cursor.behind == 1
        return waits and self._connection.writer.free

    def _note(self, type_: str, data: JsonObject) -> None:
        self._notes.append(orjson.dumps({"type": type_, "data": data}))
        self._more.set()

    async def _step(self) -> None:
        """Send some of what waits, or wait for something."""
        if self._cursor.behind:
            values = self._cursor.take()
            if values:
                # A client that saw a seq must find it again after a kill of this process.
                self.session.write_through()
                await self._send(*values)
            self._pass()
            self._ended = self._cursor.ended
        elif not self._live_told:
            self._live_told = True
            await self._send(b'{"type":"live","data":{"seq":%d}}' % self.session.log.seq)
        elif self._notes:
            await self._send(self._notes.popleft())
        else:
            self._more = anyio.Event()
            await self._more.wait()
            # What comes in the same breath is sent along.
            await anyio.lowlevel.checkpoint()

    async def _send(self, *values: bytes) -> None:
        await self._connection.send_text(*(self._head + value + b"}}" for value in values))

    def _pass(self) -> None:
        """Everything up to the cursor has been sent."""
        self._sent = self._cursor.passed
        self._tell()

    def _tell(self) -> None:
        if self._passed is not None:
            self._passed.set()
            self._passed = None


def start_of(session: Session, *, after: int | None, turns: int | None) -> int:
    """The index of the log from which a client that saw `after`, or wants `turns`, is told."""
    entries = session.log.entries
    index = 0
    if after is not None:
        index = _first(entries, lambda entry: entry.seq > after)
    if turns is not None:
        starts = [i for i, entry in enumerate(entries) if isinstance(entry.fact, TurnStart)]
        wanted = starts[-turns:] if turns else []
        first = wanted[0] if wanted else len(entries) if not turns else 0
        index = max(index, _with_message(entries, first) if wanted else first)
    return index


def _with_message(entries: list[Entry], start: int) -> int:
    """Where the message was added that a turn began with: what it pointed at stands only there."""
    while start and isinstance(entries[start - 1].fact, InboxAdded | InboxChanged | InboxDropped):
        start -= 1
    return start


def _first(entries: list[Entry], is_it: Callable[[Entry], bool]) -> int:
    return next((i for i, entry in enumerate(entries) if is_it(entry)), len(entries))


def start_of_turn(session: Session, turn: int) -> int:
    """The index of a turn's first fact."""
    return _first(
        session.log.entries,
        lambda entry: isinstance(entry.fact, TurnStart) and entry.fact.turn == turn,
    )
