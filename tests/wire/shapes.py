"""Random JSON for what a type says, and ways to damage it."""

import enum
import json
import types as builtin
import typing
from collections.abc import Sequence
from random import Random
from typing import Any

import attrs
from pydantic import BaseModel

# Any: JSON of any shape, and types of any kind.
Json = Any

DEPTH = 5

WORDS = ["", "a", "text", "é😀", "x" * 300, "\ud800", "a\0b", "\u202e", "../..", "~", "%", "{}"]
NUMBERS = [0, 1, -1, 2, 7, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1, 10**30]
ODD: list[Json] = [
    None, True, False, 0, -1, 2**64, 1e308, 0.5, "", "x", [], {}, [[]], [None], {"": None},
    "y" * 100_000, [0] * 2000, {"a": {"b": {"c": [1, 2, {"d": None}]}}}, "\udc00", "file:///",
]  # fmt: skip
"""What stands where something else should."""

DEEP = "(something nested)"
"""Stands for what is nested too deeply for most that could be done with it here."""


class Shapes:
    """Makes random JSON; `pools` give values that mean something, by the name of a field."""

    def __init__(self, rng: Random, pools: dict[str, Sequence[Json]]) -> None:
        self.rng = rng
        self.pools = pools

    def of(self, type_: Any, name: str = "", depth: int = DEPTH) -> Json:
        """JSON of a type, for a field of that name."""
        if (pool := self.pools.get(name)) and self.rng.random() < 0.8:
            return self.rng.choice(pool)
        if isinstance(type_, type) and issubclass(type_, BaseModel):
            return self._model(type_, depth)
        if isinstance(type_, type) and attrs.has(type_):
            return self._attrs(type_, depth)
        if isinstance(type_, type) and issubclass(type_, enum.Enum):
            return self.rng.choice([*(member.value for member in type_), self.rng.choice(ODD)])
        return self._plain(type_, name, depth)

    def damaged(self, value: Json) -> Json:
        """A copy in which one place is missing, null, of another kind, doubled or huge."""
        copy = json.loads(json.dumps(value))
        places = list(_places(copy))
        if not places or self.rng.random() < 0.05:
            return self.rng.choice(ODD)
        holder, key = self.rng.choice(places)
        match self.rng.randrange(5):
            case 0:
                del holder[key]
            case 1:
                holder[key] = None
            case 2:
                holder[key] = [holder[key]] * self.rng.choice([0, 1, 3, 500])
            case 3:
                holder[key] = DEEP
            case _:
                holder[key] = self.rng.choice(ODD)
        return copy

    def _plain(self, type_: Any, name: str, depth: int) -> Json:
        origin, arguments = typing.get_origin(type_), typing.get_args(type_)
        if origin in (typing.Union, builtin.UnionType):
            chosen = self.rng.choice(arguments)
            return self.of(chosen if depth else arguments[-1], name, depth)
        if origin is typing.Literal:
            return self.rng.choice(arguments)
        if origin is typing.Annotated:
            return self.of(arguments[0], name, depth)
        if origin in (dict, typing.get_origin(typing.Mapping[str, str])):
            return {
                self.of(str): self.of(arguments[1], "", depth - 1) for _ in range(self._few(depth))
            }
        if origin is not None:
            inner = next((one for one in arguments if one is not Ellipsis), Any)
            return [self.of(inner, name, depth - 1) for _ in range(self._few(depth))]
        return self._simple(type_)

    def _simple(self, type_: Any) -> Json:
        if type_ is bool:
            return self.rng.random() < 0.5
        if type_ is int:
            return self.rng.choice(NUMBERS) if self.rng.random() < 0.3 else self.rng.randrange(5)
        if type_ is float:
            return self.rng.choice([0.0, -1.5, 1e300])
        if type_ is str:
            return self.rng.choice(WORDS)
        if type_ is type(None):
            return None
        return self.rng.choice(ODD)

    def _few(self, depth: int) -> int:
        return self.rng.choice([0, 1, 1, 2, 3]) if depth > 0 else 0

    def _model(self, type_: type[BaseModel], depth: int) -> Json:
        return {
            field.alias or name: self.of(field.annotation, field.alias or name, depth - 1)
            for name, field in type_.model_fields.items()
            if field.is_required() or (depth > 0 and self.rng.random() < 0.5)
        }

    def _attrs(self, type_: type[Any], depth: int) -> Json:
        hints = typing.get_type_hints(type_)
        made = {}
        for field in attrs.fields(type_):
            if field.default is attrs.NOTHING or (depth > 0 and self.rng.random() < 0.4):
                made[_camel(field.name)] = self.of(hints[field.name], _camel(field.name), depth - 1)
        return made


def text_of(value: Json, levels: int, *, escaped: bool) -> bytes:
    """JSON as text, also with halves of characters; `DEEP` is a list in so many lists in it."""
    text = json.dumps(value, ensure_ascii=escaped)
    text = text.replace(json.dumps(DEEP), "[" * levels + "]" * levels)
    return text.encode("utf-8", "replace")


def _places(value: Json) -> list[tuple[Any, Any]]:
    """Every place in JSON, as what holds it and its key."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        keys = (
            list(one) if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else []
        )
        for key in keys:
            found.append((one, key))
            waiting.append(one[key])
    return found


def _camel(name: str) -> str:
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)
