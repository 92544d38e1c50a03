"""Append, number, tell observers: synchronous, and a fact is encoded once."""

import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import TypeAlias

from turnbuckle.kernel.owned import Owned
from turnbuckle.kernel.scope import Disposer, Scope
from turnbuckle.kernel.stopping import FAILURES
from turnbuckle.session import codec
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import Fact

logger = logging.getLogger(__name__)

Clock: TypeAlias = Callable[[], int]
"""Milliseconds since 1970."""

Observer: TypeAlias = Callable[[Entry, bytes], None]
"""Gets each fact in order, with its stored line; may append, and may fail."""


class Log:
    """The facts of one session, in order; the only state that it has."""

    def __init__(self, clock: Clock) -> None:
        self.entries: list[Entry] = []
        self._clock = clock
        self._observers: Owned[Observer] = Owned()
        self._untold: deque[tuple[Entry, bytes]] = deque()
        self._telling = False

    @property
    def seq(self) -> int:
        """The last fact's number; -1 while there is none."""
        return self.entries[-1].seq if self.entries else -1

    def observe(self, scope: Scope, observer: Observer) -> Disposer:
        """Tell `observer` of every later fact, until its scope closes."""
        return self._observers.add(scope, observer, "observer")

    def load(self, entries: Iterable[Entry]) -> None:
        """Take over what a store held; observers are not told."""
        self.entries.extend(entries)

    def follow(self, entry: Entry, line: bytes) -> None:
        """Take over the next fact that another process appended, and tell the observers."""
        self.entries.append(entry)
        self._untold.append((entry, line))
        if not self._telling:
            self._tell()

    def append(self, fact: Fact) -> Entry:
        """Number a fact, keep it, and tell the observers in order.

        What an observer appends is told after what is being told, so all observers see one order.

        Raises:
            NotJson: the fact could not be read back; the log stays as it was.
        """
        data, kept = codec.sealed(fact)
        entry = Entry(self.seq + 1, self._clock(), kept)
        line = codec.line(entry.seq, entry.time, fact, data)
        self.entries.append(entry)
        self._untold.append((entry, line))
        if not self._telling:
            self._tell()
        return entry

    def _tell(self) -> None:
        self._telling = True
        try:
            while self._untold:
                entry, line = self._untold.popleft()
                for observer in self._observers:
                    try:
                        observer(entry, line)
                    except FAILURES:
                        logger.exception("an observer of %s failed", codec.tag(entry.fact))
        finally:
            self._telling = False
