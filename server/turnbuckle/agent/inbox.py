"""What waits: messages for a turn of their own, and input for the next step. A fold."""

from dataclasses import dataclass, replace

import anyio

from turnbuckle.agent.hooks import Typed
from turnbuckle.kernel.scope import Scope
from turnbuckle.session.codec import Entry, scrub
from turnbuckle.session.events import (
    InboxAdded,
    InboxChanged,
    InboxDropped,
    TurnEnd,
    UserMessage,
)
from turnbuckle.session.parts import Context, End, Source, Target, Usage
from turnbuckle.session.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How the turn of a message ended; `seq` is that of its `turn/end`."""

    turn: int
    end: End
    usage: Usage | None
    seq: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """The message never entered a turn."""

    why: str


_BEARING = frozenset((InboxAdded, InboxChanged, InboxDropped, UserMessage, TurnEnd))


class Inbox:
    """Added, minus what entered, minus what was dropped; claims live in memory only.

    So a crash loses no prompt: what was claimed and not yet a `user/message` waits again.
    `changed` is set, and replaced, whenever a message enters, is dropped, or its turn ends.
    `typed` is what messages pass through before they are facts.
    """

    def __init__(self, session: Session, scope: Scope, typed: Typed | None = None) -> None:
        self._session = session
        self._typed = typed or Typed()
        self._waiting: dict[str, InboxAdded] = {}
        self._claims: dict[str, int] = {}
        self._turn_of: dict[str, int] = {}
        self._dropped: dict[str, str] = {}
        self._ends: dict[int, Ended] = {}
        self.changed = anyio.Event()
        for entry in session.log.entries:
            if type(entry.fact) in _BEARING:
                self._feed(entry, b"")
        session.log.observe(scope, self._feed)
        self._closed = False

        def close() -> None:
            # What waits stays in the log; nobody here learns what becomes of it.
            self._closed = True
            self._tell()

        scope.defer(close, "inbox")

    def _feed(self, entry: Entry, _line: bytes) -> None:
        match entry.fact:
            case InboxAdded() as added:
                self._waiting[added.key] = added
            case InboxChanged(key=key, input=text) if key in self._waiting:
                self._waiting[key] = replace(self._waiting[key], input=text)
            case InboxDropped(keys=keys, why=why):
                for key in keys:
                    self._waiting.pop(key, None)
                    self._dropped[key] = why
                    if key in self._claims:
                        self._turn_of[key] = self._claims.pop(key)
                self._tell()
            case UserMessage(key=str(key), turn=turn):
                self._waiting.pop(key, None)
                self._claims.pop(key, None)
                self._turn_of[key] = turn
            case TurnEnd(turn=turn, end=end):
                usage = self._session.usage.turn
                self._ends[turn] = Ended(turn=turn, end=end, usage=usage, seq=entry.seq)
                self._tell()
            case _:
                pass

    def _tell(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()

    def add(
        self,
        key: str,
        text: str,
        *,
        target: Target = "turn",
        context: tuple[Context, ...] = (),
        source: Source = "user",
    ) -> bool:
        """Let a message wait; False if this key is known already, so that nothing runs twice."""
        if key in self._waiting or key in self._turn_of or key in self._dropped:
            return False
        pointed = tuple(
            replace(one, text=self._typed(one.text)) if one.text else one for one in context
        )
        text = self._typed(scrub(text))
        self._session.append(
            InboxAdded(key=key, target=target, input=text, context=pointed, source=source)
        )
        return True

    def edit(self, key: str, text: str) -> bool:
        """Change a message that waits; False, and nothing, for one that enters a turn already."""
        if not waits(self, key):
            return False
        if self._waiting[key].input != (text := self._typed(text)):
            self._session.append(InboxChanged(key=key, input=text))
        return True

    def claim(self, turn: int, *, prompt: bool) -> tuple[InboxAdded, ...]:
        """What enters the next step of a turn: all that waits for one, and one prompt if asked."""
        now = [item for item in self._waiting.values() if item.target == "step"]
        if prompt:
            now += [item for item in self._waiting.values() if item.target == "turn"][:1]
        self._claims.update((item.key, turn) for item in now)
        self._tell()
        return tuple(now)

    def unclaim(self, keys: tuple[str, ...]) -> None:
        """Let claimed messages wait again."""
        for key in keys:
            self._claims.pop(key, None)

    def settle_claims(self, why: str, *, keep: bool = False) -> None:
        """Drop what a turn claimed and could not enter: its sender learns how that turn ended.

        What was injected waits again, and so does what the person said to the turn if `keep`.
        """
        lost = [
            key
            for key in self._claims
            if self._waiting[key].source == "user"
            and not (keep and self._waiting[key].target == "step")
        ]
        self.drop(tuple(lost), why)
        self._claims.clear()

    @property
    def waiting(self) -> tuple[InboxAdded, ...]:
        """All that waits, in order."""
        return tuple(self._waiting.values())

    def drop(self, keys: tuple[str, ...], why: str) -> None:
        """Take messages out that wait; others are left alone."""
        if waiting := tuple(key for key in keys if key in self._waiting):
            self._session.append(InboxDropped(keys=waiting, why=why))

    def turn_of(self, key: str) -> int | None:
        """The turn that a message entered or is entering, or None."""
        return self._turn_of.get(key, self._claims.get(key))

    def end_of(self, key: str) -> Ended | Dropped | None:
        """How the turn of a message ended, or why it never entered one; None while it is open."""
        turn = self._turn_of.get(key)
        if turn in self._ends:
            return self._ends[turn]
        if turn is None and key in self._dropped:
            return Dropped(self._dropped[key])
        return Dropped("the session was closed; it waits there") if self._closed else None


def waits(inbox: Inbox, key: str) -> bool:
    """Whether a message waits and does not enter a turn yet."""
    return inbox.turn_of(key) is None and any(item.key == key for item in inbox.waiting)


def take_out(inbox: Inbox, key: str, why: str) -> bool:
    """Drop a message that waits; False, and nothing, for one that enters a turn already."""
    if not waits(inbox, key):
        return False
    inbox.drop((key,), why)
    return True


async def until_entered(inbox: Inbox, key: str) -> int | None:
    """Wait until a message enters a turn, and give that; None if it was dropped before."""
    while (turn := inbox.turn_of(key)) is None and inbox.end_of(key) is None:
        await inbox.changed.wait()
    return turn


async def until_ended(inbox: Inbox, key: str) -> Ended | Dropped:
    """Wait until the turn of a message has ended, or the message was dropped."""
    while (end := inbox.end_of(key)) is None:
        await inbox.changed.wait()
    return end


def owes_step(inbox: Inbox) -> bool:
    """Whether input waits for the next step."""
    return any(item.target == "step" for item in inbox.waiting)


def owes_turn(inbox: Inbox) -> bool:
    """Whether something waits that opens a turn; injected context never does."""
    return any(item.target == "turn" or item.source == "user" for item in inbox.waiting)
