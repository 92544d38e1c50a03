"""A place in a session's log, and the values that a client is told from there on."""

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

import orjson

from turnbuckle.session import codec
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    AssistantChunk,
    AssistantMessage,
    LlmFailed,
    RequestHeader,
    StepEnd,
    TurnEnd,
)
from turnbuckle.session.parts import joined
from turnbuckle.session.session import Session

PIECE = 32 * 1024
"""About how many bytes are taken at once: so much may stand before an answer."""

_OVER = (AssistantMessage, LlmFailed, StepEnd)
"""After these, nothing is added any more to the answer whose chunks stand before them."""


class Cursor:
    """Takes each fact once and in order, from `index` on, up to the end of the turn `until`.

    Chunks that wait are one value, up to a piece. Of an answer that is over they are left out if
    some of it was taken before, and always if it was over before the cursor was made.
    """

    def __init__(self, session: Session, index: int, until: int | None) -> None:
        self.ended = False
        self._entries = session.log.entries
        self._index = index
        self._until = until
        # Chunks before `_old` are of answers that were over before this began, those before
        # `_over` of answers that are over by now.
        self._old = _last_over(self._entries)
        self._over = self._old
        self._some_taken = False

    @property
    def behind(self) -> int:
        """How many facts wait."""
        return 0 if self.ended else len(self._entries) - self._index

    @property
    def passed(self) -> int:
        """The number of the last fact that was taken, −1 for none."""
        return self._entries[self._index - 1].seq if self._index else -1

    def look(self) -> None:
        """Find out which answers are over by now; from then on `seen` keeps that up to date."""
        self._over = _last_over(self._entries)

    def seen(self, entry: Entry) -> None:
        """Be told of a fact that was appended."""
        if isinstance(entry.fact, _OVER):
            self._over = entry.seq

    def take_chunk(self, line: bytes) -> bytes:
        """The value of a chunk, by its stored line, that alone waits."""
        self._index += 1
        self._some_taken = True
        return line[:-1]

    def take(self) -> list[bytes]:
        """The next values: as many as make about a piece; none where all were left out."""
        values: list[bytes] = []
        size = 0
        while self.behind and size < PIECE:
            entry = self._entries[self._index]
            is_chunk = isinstance(entry.fact, AssistantChunk)
            value = self._chunks() if is_chunk else self._other(entry)
            if value is not None:
                values.append(value)
                size += len(value)
        return values

    def _other(self, entry: Entry) -> bytes:
        self._index += 1
        if isinstance(entry.fact, _OVER):
            self._some_taken = False
        self.ended = isinstance(entry.fact, TurnEnd) and entry.fact.turn == self._until
        return _value(entry)

    def _chunks(self) -> bytes | None:
        waiting: list[Entry] = []
        size = 0
        while self.behind and size < PIECE:
            entry = self._entries[self._index]
            if not isinstance(entry.fact, AssistantChunk):
                break
            waiting.append(entry)
            size += _length(entry.fact)
            self._index += 1
        last = waiting[-1].seq
        if last <= self._old or (last < self._over and self._some_taken):
            return None
        self._some_taken = True
        return _value(_merged(waiting))


def page(entries: list[Entry], first: int, last: int, most: int) -> list[bytes]:
    """The values of the facts with first ≤ seq ≤ last, about `most` bytes, as a replay tells them.

    It is one value at least, if there is any; what is left out at the end is told by the next page.
    """
    seq = attrgetter("seq")
    start, end = bisect_left(entries, first, key=seq), bisect_right(entries, last, key=seq)
    values: list[bytes] = []
    size = 0
    for value in _replayed(entries[start:end], _last_over(entries)):
        size += len(value)
        if values and size > most:
            break
        values.append(value)
    return values


def _replayed(entries: Iterable[Entry], old: int) -> Iterator[bytes]:
    """Values, without the chunks before `old`, which are of answers that are over."""
    for is_chunk, some in groupby(entries, lambda entry: isinstance(entry.fact, AssistantChunk)):
        if not is_chunk:
            yield from map(_value, some)
        elif waiting := [entry for entry in some if entry.seq > old]:
            yield _value(_merged(waiting))


def _last_over(entries: list[Entry]) -> int:
    for entry in reversed(entries):
        if isinstance(entry.fact, _OVER):
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


def _length(chunk: AssistantChunk) -> int:
    """About how long a chunk is."""
    calls = sum(len(call.arguments or "") for call in chunk.tool_calls or ())
    return len(chunk.text or "") + len(chunk.reasoning or "") + calls


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
