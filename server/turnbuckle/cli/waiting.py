"""What the person has sent and the agent has not taken up yet, and whether a turn runs; a fold."""

from dataclasses import dataclass, replace

from turnbuckle.cli.lines import Line
from turnbuckle.cli.values import Event
from turnbuckle.cli.visible import one_line
from turnbuckle.session.events import (
    InboxAdded,
    InboxChanged,
    InboxDropped,
    TurnEnd,
    TurnStart,
    UserMessage,
)

SHOWN = 5
"""How many messages are shown while they wait; `/queue` shows all."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message that waits: for a turn of its own, or to steer the one that runs."""

    key: str
    text: str
    steers: bool


class Waiting:
    """Follows a session's facts; `turn` is the last turn that was begun, 0 before the first."""

    def __init__(self) -> None:
        self.running = False
        self.turn = 0
        self._messages: dict[str, Message] = {}

    def feed(self, event: Event) -> None:
        """Take the next event."""
        match event:
            case InboxAdded(key=key, input=text, source="user"):
                self._messages[key] = Message(key, text, event.target == "step")
            case InboxChanged(key=key, input=text) if key in self._messages:
                self._messages[key] = replace(self._messages[key], text=text)
            case InboxDropped(keys=keys):
                for key in keys:
                    self._messages.pop(key, None)
            case UserMessage(key=str(key)):
                self._messages.pop(key, None)
            case TurnStart(turn=turn):
                self.running, self.turn = True, turn
            case TurnEnd(turn=turn):
                self.running, self.turn = False, turn
            case _:
                pass

    @property
    def messages(self) -> list[Message]:
        """What waits, oldest first; the first one is number 1 for the person."""
        return list(self._messages.values())

    def numbered(self, word: str) -> Message | None:
        """The message with this number; without a word the only one that waits."""
        messages = self.messages
        if not word:
            return messages[0] if len(messages) == 1 else None
        index = int(word) - 1 if word.isascii() and word.isdigit() else -1
        return messages[index] if 0 <= index < len(messages) else None

    def lines(self, most: int | None = SHOWN) -> list[Line]:
        """The messages with their numbers, at most so many."""
        messages = self.messages
        shown = messages if most is None else messages[:most]
        rows = [_row(number, message) for number, message in enumerate(shown, 1)]
        if len(shown) < len(messages):
            rows.append(((f"  … {len(messages) - len(shown)} more, /queue shows them", "dim"),))
        return rows


def _row(number: int, message: Message) -> Line:
    how = "steers" if message.steers else "waits"
    return ((f"  {number} ", "you"), (f"{how}  ", "dim"), (one_line(message.text, 100), "dim"))
