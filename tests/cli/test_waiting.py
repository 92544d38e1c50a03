"""The messages that wait, as the person sees them and speaks of them."""

from turnbuckle.cli.waiting import SHOWN, Message, Waiting
from turnbuckle.session.events import (
    InboxAdded,
    InboxChanged,
    InboxDropped,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.parts import End


def waiting(*texts: str) -> Waiting:
    made = Waiting()
    for text in texts:
        made.feed(InboxAdded(key=text, target="turn", input=text))
    return made


def shown(made: Waiting, most: int | None = SHOWN) -> list[str]:
    return ["".join(text for text, _ in row) for row in made.lines(most)]


def test_a_message_waits_until_it_is_taken_up() -> None:
    made = waiting("one", "two")
    made.feed(TurnStart(turn=1))
    made.feed(UserMessage(turn=1, step=1, key="one", content="one"))
    assert made.messages == [Message("two", "two", steers=False)]
    assert made.running
    assert made.turn == 1
    made.feed(TurnEnd(turn=1, end=End(kind="completed")))
    assert not made.running


def test_a_changed_message_keeps_its_place_and_a_dropped_one_is_gone() -> None:
    made = waiting("one", "two", "three")
    made.feed(InboxChanged(key="two", input="2"))
    made.feed(InboxDropped(keys=("one",), why="dropped"))
    made.feed(InboxChanged(key="one", input="back?"))
    assert [message.text for message in made.messages] == ["2", "three"]


def test_what_others_inject_is_no_message_of_the_person() -> None:
    made = waiting()
    made.feed(InboxAdded(key="k", target="step", input="context", source="context"))
    assert made.messages == []


def test_a_message_is_named_by_its_number_or_by_being_the_only_one() -> None:
    made = waiting("one", "two")
    second = made.numbered("2")
    assert second is not None
    assert second.key == "two"
    assert [made.numbered(word) for word in ("", "0", "3", "-1", "two", "²")] == [None] * 6
    only = waiting("one").numbered("")
    assert only is not None
    assert only.key == "one"


def test_only_so_many_are_shown_and_it_is_said_how_many_more_there_are() -> None:
    made = waiting(*(f"m{number}" for number in range(SHOWN + 2)))
    rows = shown(made)
    assert len(rows) == SHOWN + 1
    assert rows[0] == "  1 waits  m0"
    assert rows[-1] == "  … 2 more, /queue shows them"
    assert len(shown(made, None)) == SHOWN + 2


def test_it_is_told_which_steers() -> None:
    made = Waiting()
    made.feed(InboxAdded(key="k", target="step", input="two\nlines"))
    assert shown(made) == ["  1 steers  two lines"]
