"""Log, store and folds of one session."""

import logging
from collections.abc import Callable, Sequence
from typing import TypeAlias

from turnbuckle.kernel.scope import Disposer, Scope
from turnbuckle.session import codec
from turnbuckle.session.check import RequestCheck
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    AssistantMessage,
    Fact,
    InboxAdded,
    RequestHeader,
    SessionCreated,
    SessionTitle,
    TurnEnd,
    TurnStart,
)
from turnbuckle.session.log import Log
from turnbuckle.session.parts import JsonObject
from turnbuckle.session.projection import Projection
from turnbuckle.session.reads import Reads
from turnbuckle.session.store import Store
from turnbuckle.session.usage import UsageFold

logger = logging.getLogger(__name__)

NoteObserver: TypeAlias = Callable[[str, JsonObject], None]
"""Gets what is shown and not kept: a type and its data."""


class Session:
    """One open session: what happened in it, and what follows from that.

    A new one has no facts; `created` becomes its first with whatever is appended first. `store` is
    None where another process writes the session: it can be read then, not appended to.
    """

    def __init__(
        self, log: Log, store: Store | None, scope: Scope, created: SessionCreated
    ) -> None:
        self.log = log
        self.store = store
        self.scope = scope
        self.created = created
        self.projection = Projection()
        self.usage = UsageFold()
        self.reads = Reads()
        self.check = RequestCheck()
        self.turn = 0
        self.last_end: TurnEnd | None = None
        self.header: RequestHeader | None = None
        self.resumed = False
        self.call_ids: set[str] = set()
        self._title: str | None = None
        self._note_observers: dict[object, NoteObserver] = {}
        if store:
            log.observe(scope, store)
        log.observe(scope, self._feed)

    @property
    def id(self) -> str:
        """The session's id, as in its first fact."""
        return self.created.id

    @property
    def title(self) -> str | None:
        """What lists call it: what was set, else the first line of the first prompt."""
        return self._title

    def load(self, lines: Sequence[bytes]) -> None:
        """Take over stored lines.

        Raises:
            UnknownFact: a newer version wrote a fact that may not be skipped.
            ValueError: a line is damaged.
        """
        for number, line in enumerate(lines):
            try:
                entry = codec.parse(line)
            except codec.UnknownFact:
                raise
            except ValueError as error:
                raise ValueError(f"line {number + 1} is damaged: {error}") from error
            if entry is None:
                continue
            self.log.load([entry])
            self._feed(entry, line)
        self.resumed = bool(lines)
        self.header = None  # the first request after a resume writes its header again

    def append(self, fact: Fact) -> Entry:
        """Make something a fact of this session.

        Raises:
            NotJson: it holds what JSON cannot say; the log stays as it was.
        """
        if not self.log.entries:
            self.log.append(self.created)
        return self.log.append(fact)

    async def flush(self) -> None:
        """Return when every fact so far is on disk.

        Raises:
            StoreFailed: it is not.
        """
        if self.store:
            await self.store.flush()

    def write_through(self) -> None:
        """Let what was appended outlive this process; done before it is shown to anybody."""
        if self.store:
            self.store.write_through()

    def _feed(self, entry: Entry, line: bytes) -> None:
        self.check.feed(line)
        self.projection.feed(entry, self.log.entries)
        self.usage.feed(entry)
        self.reads.feed(entry)
        match entry.fact:
            case SessionCreated() as created:
                self.created = created
            case TurnStart(turn=turn):
                self.turn = turn
            case TurnEnd() as end:
                self.last_end = end
            case RequestHeader() as header:
                self.header = header
            case AssistantMessage(tool_calls=calls):
                self.call_ids.update(call.call_id for call in calls)
            case SessionTitle(title=title):
                self._title = title
            case InboxAdded(source="user", input=prompt) if self._title is None:
                self._title = next(iter(prompt.strip().splitlines()), "")[:120] or None
            case _:
                pass

    def note(self, type_: str, data: JsonObject) -> None:
        """Show something that is not kept to whoever watches."""
        for observer in self._note_observers.values():
            observer(type_, data)

    def observe_notes(self, scope: Scope, observer: NoteObserver) -> Disposer:
        """Tell `observer` of every later note, until its scope closes; it must not raise."""
        key = object()
        self._note_observers = self._note_observers | {key: observer}

        def remove() -> None:
            self._note_observers = {k: v for k, v in self._note_observers.items() if k is not key}

        return scope.defer(remove, "note observer")
