"""A subscriber: a cursor into a session's log, out as `$/progress`. It keeps no copy."""

import hashlib
from collections import deque
from collections.abc import Callable
from dataclasses import replace

import anyio
import orjson

from turnbuckle.kernel.scope import Scope
from turnbuckle.lsp.rpc import Connection, NoAnswer
from turnbuckle.session import codec
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    AssistantChunk,
    AssistantMessage,
    LlmFailed,
    RequestHeader,
    TurnEnd,
    TurnStart,
)
from turnbuckle.session.parts import JsonObject, joined
from turnbuckle.session.session import Session

MAX_NOTES = 64
"""Notes that wait for a client at most; older ones are dropped, for notes may be."""


class Stream:
    """Sends facts from `index` of the log on, each once and in order; notes in between.

    Live and replay are the same code. At most one frame is outstanding, so a client that does not
    read holds up nobody, and what piles up meanwhile is one cursor. `until` names the turn with
    whose end the stream ends.
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
        self._index = index
        self._until = until
        self._began = session.log.seq
        self._head = b'{"jsonrpc":"2.0","method":"$/progress","params":{"token":%s,"value":' % (
            orjson.dumps(token)
        )
        self._finished = _last_finished(session)
        self._chunk_sent = False
        self._live_told = until is not None
        self._sent = -1
        self._ended = False
        self._life = anyio.CancelScope()
        self._stopped = anyio.Event()
        self._more = anyio.Event()
        self._passed = anyio.Event()
        self._notes: deque[bytes] = deque(maxlen=MAX_NOTES)

    async def run(self) -> None:
        """Send until cancelled, until the turn's end, or until the client is gone."""
        scope = Scope("stream")
        self.session.log.observe(scope, self._seen)
        self.session.observe_notes(scope, self._note)
        try:
            with self._life:
                while not self._ended:
                    await self._step()
        except NoAnswer:
            pass  # the client is gone: nobody misses the rest
        finally:
            self._ended = True
            self._passed.set()
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
            await self._passed.wait()

    def _seen(self, entry: Entry, _line: bytes) -> None:
        if isinstance(entry.fact, AssistantMessage | LlmFailed):
            self._finished = entry.seq
        self._more.set()

    def _note(self, type_: str, data: JsonObject) -> None:
        self._notes.append(orjson.dumps({"type": type_, "data": data}))
        self._more.set()

    async def _step(self) -> None:
        """Send one value, or wait for one."""
        entries = self.session.log.entries
        if self._index < len(entries):
            await self._send_fact(entries)
        elif not self._live_told:
            self._live_told = True
            await self._send(b'{"type":"live","data":{"seq":%d}}' % self.session.log.seq)
        elif self._notes:
            await self._send(self._notes.popleft())
        else:
            self._more = anyio.Event()
            await self._more.wait()

    async def _send_fact(self, entries: list[Entry]) -> None:
        entry = entries[self._index]
        if isinstance(entry.fact, AssistantChunk):
            await self._send_chunks(entries)
            return
        self._index += 1
        if isinstance(entry.fact, AssistantMessage | LlmFailed):
            self._chunk_sent = False
        await self._send(_value(entry))
        self._pass(entry.seq)
        self._ended = isinstance(entry.fact, TurnEnd) and entry.fact.turn == self._until

    async def _send_chunks(self, entries: list[Entry]) -> None:
        """Send the chunks that wait as one; those of a finished message at most once."""
        waiting: list[Entry] = []
        while self._index < len(entries) and isinstance(entries[self._index].fact, AssistantChunk):
            waiting.append(entries[self._index])
            self._index += 1
        last = waiting[-1]
        finished = self._finished > last.seq
        replayed = last.seq <= self._began and self._until is None
        if not (finished and (replayed or self._chunk_sent)):
            self._chunk_sent = True
            await self._send(_value(_merged(waiting)))
        self._pass(last.seq)

    async def _send(self, value: bytes) -> None:
        await self._connection.send_text(self._head + value + b"}}")

    def _pass(self, seq: int) -> None:
        self._sent = seq
        self._passed.set()
        self._passed = anyio.Event()


def _last_finished(session: Session) -> int:
    for entry in reversed(session.log.entries):
        if isinstance(entry.fact, AssistantMessage | LlmFailed):
            return entry.seq
    return -1


def _value(entry: Entry) -> bytes:
    """A fact as it travels: as it is stored, but a request's header only as a digest."""
    fact = entry.fact
    data = codec.encode_fact(fact)
    if isinstance(fact, RequestHeader):
        digest = hashlib.sha256(data).hexdigest()
        data = orjson.dumps({"digest": digest, "why": fact.why})
    return codec.line(entry.seq, entry.time, fact, data)[:-1]


def _merged(waiting: list[Entry]) -> Entry:
    if len(waiting) == 1:
        return waiting[0]
    chunks = [entry.fact for entry in waiting if isinstance(entry.fact, AssistantChunk)]
    calls = joined(call for chunk in chunks for call in chunk.tool_calls or ())
    text = "".join(chunk.text or "" for chunk in chunks)
    reasoning = "".join(chunk.reasoning or "" for chunk in chunks)
    whole = replace(
        chunks[-1], text=text or None, reasoning=reasoning or None, tool_calls=calls or None
    )
    return replace(waiting[-1], fact=whole)


def start_of(session: Session, *, after: int | None, turns: int | None) -> int:
    """The index of the log from which a client that saw `after`, or wants `turns`, is told."""
    entries = session.log.entries
    index = 0
    if after is not None:
        index = _first(entries, lambda entry: entry.seq > after)
    if turns is not None:
        starts = [i for i, entry in enumerate(entries) if isinstance(entry.fact, TurnStart)]
        wanted = starts[-turns:] if turns else []
        index = max(index, wanted[0] if wanted else len(entries) if not turns else 0)
    return index


def _first(entries: list[Entry], is_it: Callable[[Entry], bool]) -> int:
    return next((i for i, entry in enumerate(entries) if is_it(entry)), len(entries))


def start_of_turn(session: Session, turn: int) -> int:
    """The index of a turn's first fact."""
    return _first(
        session.log.entries,
        lambda entry: isinstance(entry.fact, TurnStart) and entry.fact.turn == turn,
    )
