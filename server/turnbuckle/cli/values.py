"""A value that came on a progress token, as a fact or a note; what is not known is skipped."""

from dataclasses import dataclass
from typing import TypeAlias

from turnbuckle.session import codec
from turnbuckle.session.events import FACTS, Fact
from turnbuckle.session.parts import JsonObject

_LEFT_OUT = frozenset({"request/header", "plugin/*"})
"""Facts that travel shortened, or that nobody here shows."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something that is shown and not kept."""

    type: str
    data: JsonObject


Event: TypeAlias = Fact | Note


def event_of(value: object) -> Event | None:
    """The fact or note in a value, None for one that this version does not know."""
    match value:
        case {"seq": int(), "type": str(type_), "data": dict(data)}:
            return _fact(type_, data)
        case {"type": str(type_), "data": dict(data)}:
            return Note(type_, data)
        case _:
            return None


def _fact(type_: str, data: JsonObject) -> Fact | None:
    if type_ not in FACTS or type_ in _LEFT_OUT:
        return None
    try:
        return codec.decode(type_, data)
    except ValueError:  # a shape or a word of a later version
        return None
