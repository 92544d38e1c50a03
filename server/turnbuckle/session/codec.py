"""Facts to bytes and back: one compact JSON object a line, camelCase, absent rather than null."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import orjson

from turnbuckle.session.events import FACTS, Fact, PluginFact
from turnbuckle.session.parts import JsonObject, camel

_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_PLUGIN = "plugin/"
_SIMPLE = frozenset({str, int, bool, type(None)})
"""Types whose values are JSON whatever they are, and never change."""


class NotJson(ValueError):
    """A fact holds what JSON cannot say (NaN, bytes, a lone surrogate); it was not appended."""


class UnknownFact(ValueError):
    """A line has a type that this version does not know and may not skip."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A fact in its place: `time` in milliseconds since 1970."""

    seq: int
    time: int
    fact: Fact


_NAMES: dict[type, tuple[tuple[str, str], ...]] = {}
_READERS: dict[type, Callable[[object], Fact]] = {}


def _fields(cls: type) -> tuple[tuple[str, str], ...]:
    """The attributes of a dataclass, each with its name in JSON.

    Raises:
        TypeError: the class is no dataclass.
    """
    known = _NAMES.get(cls)
    if known is None:
        if not dataclasses.is_dataclass(cls):
            raise TypeError(f"{cls.__name__} is not JSON")
        known = _NAMES[cls] = tuple((f.name, camel(f.name)) for f in dataclasses.fields(cls))
    return known


def plain(value: object) -> JsonObject:
    """A dataclass as the JSON object it is on disk: one level, camelCase, without absent fields.

    Raises:
        TypeError: the value is no dataclass.
    """
    return {
        name: item
        for attribute, name in _fields(type(value))
        if (item := getattr(value, attribute)) is not None
    }


def encode(value: object) -> bytes:
    """The JSON bytes of a fact's data, or of any value made of dataclasses and JSON.

    Raises:
        NotJson: it holds what JSON cannot say.
    """
    try:
        return orjson.dumps(value, default=plain, option=_OPTIONS)
    except TypeError as error:
        raise NotJson(str(error)) from error


def scrub(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD, so that it can be written down."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def jsonable(value: object) -> JsonObject:
    """The value as a detached JSON object, all levels deep."""
    return cast("JsonObject", orjson.loads(encode(value)))


def encode_fact(fact: Fact) -> bytes:
    """The `data` of a fact.

    Raises:
        NotJson: it holds what JSON cannot say.
    """
    if isinstance(fact, PluginFact):
        _require_finite(fact.data)
        return encode(fact.data)
    if fact.free:
        _require_finite(fact)
    return encode(fact)


def _require_finite(value: object) -> None:
    """orjson writes NaN and infinity as null, so they are looked for where JSON is free."""
    if isinstance(value, float) and not math.isfinite(value):
        raise NotJson(f"{value} is not JSON")
    if isinstance(value, dict):
        value = value.values()
    elif dataclasses.is_dataclass(value):
        value = [getattr(value, attribute) for attribute, _ in _fields(type(value))]
    elif not isinstance(value, list | tuple):
        return
    for item in value:
        if type(item) not in _SIMPLE:
            _require_finite(item)


def tag(fact: Fact) -> str:
    """The `type` of a fact on disk."""
    return _PLUGIN + fact.name if isinstance(fact, PluginFact) else fact.type


def line(seq: int, time: int, fact: Fact, data: bytes) -> bytes:
    """One line of the log, with its newline."""
    ignorable = b',"ignorable":true' if isinstance(fact, PluginFact) else b""
    return b'{"seq":%d,"time":%d,"type":"%s"%s,"data":%s}\n' % (
        seq, time, tag(fact).encode(), ignorable, data,
    )  # fmt: skip


def _reader(cls: type) -> Callable[[object], Fact]:
    if cls not in _READERS:
        # Imported late: pydantic is not needed before the first log is read.
        from pydantic import TypeAdapter

        _READERS[cls] = TypeAdapter(cls).validate_python
    return _READERS[cls]


def decode(type_: str, data: Any) -> Fact:
    """The fact of this type with this data (JSON as read).

    Raises:
        UnknownFact: no such type.
        ValueError: the data does not fit the type.
    """
    if type_.startswith(_PLUGIN):
        return PluginFact(name=type_.removeprefix(_PLUGIN), data=data)
    cls = FACTS.get(type_)
    if cls is None:
        raise UnknownFact(type_)
    return _reader(cls)(data)


def parse(raw: bytes) -> Entry | None:
    """One stored line; None if its type is unknown and may be skipped.

    Raises:
        UnknownFact: its type is unknown and may not be skipped.
        ValueError: it is not a line of a log.
    """
    record = orjson.loads(raw)
    try:
        fact = decode(record["type"], record["data"])
    except UnknownFact:
        if record.get("ignorable"):
            return None
        raise
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a line of a session log: {error}") from error
    return Entry(record["seq"], record["time"], fact)


def detached(fact: Fact, data: bytes) -> Fact:
    """The fact as it will be read back, so that nobody can change it from outside."""
    if not fact.free or _is_simple(fact):
        return fact
    return decode(tag(fact), orjson.loads(data))


def _is_simple(fact: Fact) -> bool:
    """Whether it holds nothing that could be changed."""
    return all(type(getattr(fact, name)) in _SIMPLE for name, _ in _fields(type(fact)))
