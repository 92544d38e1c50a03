"""Log, store and folds of one session."""

import logging
from collections.abc import Callable, Sequence
from typing import TypeAlias

from turnbuckle.kernel.owned import Owned
from turnbuckle.kernel.scope import Disposer, Scope
from turnbuckle.session.check import RequestCheck
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import (
    AssistantChunk,
    AssistantMessage,
    ContextRewound,
    Fact,
    InboxAdded,
    RequestHeader,
    SessionCreated,
    SessionTitle,
    StepEnd,
    StepStart,
    ToolCall,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from turnbuckle.session.loading import Loaded
from turnbuckle.session.log import Log
from turnbuckle.session.parts import JsonObject
from turnbuckle.session.projection import Projection, leading_to
from turnbuckle.session.reads import Reads
from turnbuckle.session.store import Store, StoreFailed
from turnbuckle.session.usage import UsageFold

logger = logging.getLogger(__name__)

NoteObserver: TypeAlias = Callable[[str, JsonObject], None]
"""Gets what is shown and not kept: a type and its data."""


_QUIET = frozenset((AssistantChunk, StepStart, StepEnd, ToolCall, ToolStart))
"""Most of a log, and nothing here follows from it."""

_OWN = frozenset(
    (SessionCreated, SessionTitle, InboxAdded, TurnStart, TurnEnd, ContextRewound, RequestHeader,
     AssistantMessage)
)  # fmt: skip


class ReadOnly(Exception):
    """Something was to be appended to a session that can only be read here."""


class Session:
    """One open session: what happened in it, and what follows from that.

    A new one has no facts; `created` becomes its first with whatever is appended first. `store` is
    None where nothing is kept on disk. `read_only` says that another process writes the session,
    that its file cannot be written now, or that it is damaged: `damage` then says where and what to
    do. It can be read then, not appended to. `last_line` is the last that was loaded, `title` what
    lists call it: what was set, else the first line of the first prompt.
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
        self.title: str | None = None
        self._note_observers: Owned[NoteObserver] = Owned()
        self.read_only = False
        self.damage: str | None = None
        self.last_line = b""

        def keep(entry: Entry, line: bytes) -> None:
            if self.store:
                self.store(entry, line)

        # First, for what observes later may have the store write through what it was told.
        log.observe(scope, keep)
        log.observe(scope, self._feed)

    @property
    def id(self) -> str:
        """The session's id, as in its first fact."""
        return self.created.id

    def load(self, loaded: Loaded) -> None:
        """Take over what was stored; observers are not told."""
        append, feed = self.log.entries.append, self._feed
        for entry, line in zip(loaded.entries, loaded.lines, strict=True):
            append(entry)
            if type(entry.fact) not in _QUIET:
                feed(entry, line)
        if loaded.damage is not None:
            self.damage = f"{loaded.damage}; {_shown(self.turn)}"
        _resume(self, loaded)

    def follow(self, loaded: Loaded) -> None:
        """Take over what another process has appended since, and tell the observers."""
        for entry, line in zip(loaded.entries, loaded.lines, strict=True):
            self.log.follow(entry, line)
        _resume(self, loaded)

    def append(self, fact: Fact) -> Entry:
        """Make something a fact of this session.

        Raises:
            NotJson: it holds what JSON cannot say; the log stays as it was.
            ReadOnly: it can only be read.
        """
        if self.read_only:
            raise ReadOnly(f"session {self.id} can only be read here")
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

    @property
    def failing(self) -> StoreFailed | None:
        """Why what was appended last is in memory only; None where it outlives this process."""
        return self.store.failing if self.store else None

    def _feed(self, entry: Entry, line: bytes) -> None:
        if type(entry.fact) in _QUIET:
            return
        self.check.feed(line)
        self.projection.feed(entry, self.log.entries)
        self.usage.feed(entry)
        self.reads.feed(entry, self.log.entries)
        if type(entry.fact) in _OWN:
            _feed_own(self, entry)

    def note(self, type_: str, data: JsonObject) -> None:
        """Show something that is not kept to whoever watches."""
        for observer in self._note_observers:
            observer(type_, data)

    def observe_notes(self, scope: Scope, observer: NoteObserver) -> Disposer:
        """Tell `observer` of every later note, until its scope closes; it must not raise."""
        return self._note_observers.add(scope, observer, "note observer")


def _resume(session: Session, loaded: Loaded) -> None:
    if loaded.lines:
        session.last_line = loaded.lines[-1]
        session.resumed = True
    session.header = None  # the first request after a resume writes its header again


def _feed_own(session: Session, entry: Entry) -> None:
    match entry.fact:
        case SessionCreated() as created:
            session.created = created
        case RequestHeader() as header:
            session.header = header
        case AssistantMessage(tool_calls=calls):
            session.call_ids.update(call.call_id for call in calls)
        case SessionTitle(title=title):
            session.title = title
        case InboxAdded(source="user", input=prompt) if session.title is None:
            session.title = next(iter(prompt.strip().splitlines()), "").rstrip()[:120] or None
        case _:
            _feed_turn(session, entry)


def _feed_turn(session: Session, entry: Entry) -> None:
    match entry.fact:
        case TurnStart(turn=turn):
            session.turn = turn
        case TurnEnd() as end:
            session.last_end = end
        case ContextRewound(to=to):
            before = leading_to(min(to, entry.seq - 1), session.log.entries)
            session.last_end = _last_end(before)
        case _:
            pass


def _last_end(entries: Sequence[Entry]) -> TurnEnd | None:
    return next((e.fact for e in reversed(entries) if isinstance(e.fact, TurnEnd)), None)


def _shown(turn: int) -> str:
    upto = f"it is shown up to the end of turn {turn}" if turn else "no whole turn stands before it"
    return f"{upto}, and its file is left as it is. Fork it at turn {turn} to go on from there"
