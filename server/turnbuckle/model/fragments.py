"""Tool calls from their fragments, by index and id as far as a provider gives them."""

from dataclasses import dataclass, field
from typing import cast

from turnbuckle.model import loose
from turnbuckle.model.closing import Closing
from turnbuckle.model.limits import CALLS_LIMIT, TooLarge
from turnbuckle.model.pieces import Text, word
from turnbuckle.session.parts import Call, CallDelta, JsonObject


@dataclass(slots=True)
class _Slot:
    """One call while it is gathered."""

    index: int
    id: str = ""
    name: str = ""
    arguments: Text = field(default_factory=Text)
    closing: Closing = field(default_factory=Closing)


class Calls:
    """The calls of one answer while they are gathered."""

    def __init__(self) -> None:
        self._slots: list[_Slot] = []
        self._by_index: dict[int | None, _Slot] = {}
        self._by_id: dict[tuple[int | None, str], _Slot] = {}
        self.size = 0
        """How many characters they have together."""

    def __bool__(self) -> bool:
        return bool(self._slots)

    def add(self, fragments: list[object]) -> tuple[CallDelta, ...]:
        """Take the fragments of one chunk.

        Raises:
            TooLarge: there are more calls, or more fragments at once, than anybody makes.
        """
        if len(fragments) > CALLS_LIMIT:
            raise _too_many()
        touched: set[int] = set()
        deltas: list[CallDelta] = []
        for fragment in fragments:
            if isinstance(fragment, dict):
                slot, delta = self._take(fragment, touched)
                touched.add(slot.index)
                if delta.name is not None or delta.arguments is not None:
                    deltas.append(delta)
        return tuple(deltas)

    def whole(self) -> tuple[Call, ...]:
        """The calls as they came; one of which nothing came is none."""
        return tuple(
            Call(call_id=slot.id, name=slot.name, arguments=slot.arguments.whole())
            for slot in self._slots
            if slot.id or slot.name or slot.arguments
        )

    def _take(self, fragment: JsonObject, touched: set[int]) -> tuple[_Slot, CallDelta]:
        function = fragment.get("function")
        inner = cast("JsonObject", function) if isinstance(function, dict) else {}
        given = fragment.get("index")
        index = given if type(given) is int else None
        id_, name = word(fragment.get("id")), word(inner.get("name"))
        text = _arguments(inner.get("arguments"))
        slot = self._find(index, id_, name)
        again = slot is not None and slot.index in touched and not id_
        if slot is None or (name and (again or _anew(slot, name, text))):
            slot = self._begin()
        self._by_index[index] = slot
        if id_ and slot.id != id_:
            slot.id = id_
            self.size += len(id_)
            self._by_id[index, id_] = self._by_id[None, id_] = slot
        named = name if name and not slot.name else None
        slot.name = slot.name or name
        added = slot.arguments.add(text)
        slot.closing.add(added)
        self.size += len(named or "") + len(added)
        return slot, CallDelta(index=slot.index, name=named, arguments=added or None)

    def _begin(self) -> _Slot:
        if len(self._slots) == CALLS_LIMIT:
            raise _too_many()
        self._slots.append(_Slot(len(self._slots)))
        return self._slots[-1]

    def _find(self, index: int | None, id_: str, name: str) -> _Slot | None:
        """The call that a fragment goes on with, if it does not begin one."""
        if id_ and (index, id_) in self._by_id:
            return self._by_id[index, id_]
        slot = self._by_index.get(index)
        if slot is None and index is None and self._slots and not name:
            slot = self._slots[-1]  # only the first fragment had an index
        return None if slot and id_ and slot.id else slot


def _anew(slot: _Slot, name: str, text: str) -> bool:
    """Whether a fragment with a name begins a call, though nothing else tells it from the last."""
    if slot.name and slot.name != name:
        return True
    if not (text.startswith("{") and slot.closing.whole):
        return False
    # Read once at most: either a call begins now, or what is added makes it whole no more.
    return loose.read(slot.arguments.whole()) is not None


def _too_many() -> TooLarge:
    return TooLarge(f"it makes more than {CALLS_LIMIT} calls at once")


def _arguments(value: object) -> str:
    """The raw string; some servers send the object itself."""
    if value is None or isinstance(value, str):
        return value or ""
    return loose.write(value)
