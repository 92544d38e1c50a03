"""Facts to bytes and back: one compact JSON object a line, camelCase, absent rather than null."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, cast

import orjson

from turnbuckle.session.decoding import Take, Unfit, reader
from turnbuckle.session.events import (
    FACTS,
    AssistantChunk,
    Fact,
    ForeignFact,
    LlmFailed,
    PluginFact,
    TurnEnd,
)
from turnbuckle.session.frozen import frozen
from turnbuckle.session.parts import JsonObject, camel

_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_PLUGIN = "plugin/"
_WITH_NUMBERS = frozenset({LlmFailed, TurnEnd})
"""Facts that hold no free JSON, but a number with a fraction."""
_SIMPLE = frozenset({str, int, bool, type(None)})
"""Types whose values are JSON whatever they are, and never change."""


class NotJson(ValueError):
    """A fact holds what cannot be written down and read back; it was not appended.

    JSON cannot say it (NaN, bytes, a lone surrogate), or it is not what the fact's type says.
    """


class UnknownFact(ValueError):
    """A line has a type that this version does not know and may not skip."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A fact in its place: `time` in milliseconds since 1970."""

    seq: int
    time: int
    fact: Fact


_new = object.__new__
# Any: the slots of a class, which typing does not know.
_set_seq, _set_time, _set_fact = (
    cast("Any", getattr(Entry, name)).__set__ for name in ("seq", "time", "fact")
)

_NAMES: dict[type, tuple[tuple[str, str], ...]] = {}
_READERS: dict[str, Take] = {}
_PATIENT: dict[type, Take] = {}


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
    """The text as it can be kept: surrogate pairs as characters, lone halves as U+FFFD."""
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
    try:
        if isinstance(fact, PluginFact | ForeignFact):
            encode(tag(fact))
            _require_finite(fact.data)
            return encode(fact.data)
        if fact.free or type(fact) in _WITH_NUMBERS:
            _require_finite(fact)
        return encode(fact)
    except RecursionError as error:
        raise NotJson("it is nested without end") from error


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
    match fact:
        case PluginFact(name=name):
            return _PLUGIN + name
        case ForeignFact(tag=foreign):
            return foreign
        case _:
            return fact.type


def line(seq: int, time: int, fact: Fact, data: bytes) -> bytes:
    """One line of the log, with its newline.

    Raises:
        NotJson: its type cannot be written down.
    """
    ignorable = b',"ignorable":true' if isinstance(fact, PluginFact | ForeignFact) else b""
    return b'{"seq":%d,"time":%d,"type":%s%s,"data":%s}\n' % (
        seq, time, encode(tag(fact)), ignorable, data,
    )  # fmt: skip


def _patient(cls: type) -> Take:
    if cls not in _PATIENT:
        # Imported late: pydantic is not needed for what was written as it should be.
        from pydantic import TypeAdapter

        _PATIENT[cls] = TypeAdapter(cls).validate_python
    return _PATIENT[cls]


def decode(type_: str, data: Any) -> Fact:
    """The fact of this type with this data (JSON as read).

    Raises:
        UnknownFact: no such type.
        ValueError: the data does not fit the type.
    """
    take = _READERS.get(type_) or _hurried(type_)
    try:
        fact: Fact = take(data)
    except Unfit:
        fact = _patient(FACTS[type_])(data)
    return fact


def _hurried(type_: str) -> Take:
    """What reads facts of this type as they should be; the first use makes it."""
    if cls := FACTS.get(type_):
        _READERS[type_] = reader(cls)
        return _READERS[type_]
    if not type_.startswith(_PLUGIN):
        raise UnknownFact(type_)
    name = type_.removeprefix(_PLUGIN)
    return lambda data: PluginFact(name=name, data=data)


def parse(raw: bytes) -> Entry:
    """One stored line. A fact of an unknown type that may be skipped is kept as it is.

    Raises:
        UnknownFact: its type is unknown and may not be skipped.
        ValueError: it is not a line of a log.
    """
    record = orjson.loads(raw)
    try:
        seq, time, type_, data = record["seq"], record["time"], record["type"], record["data"]
        take = _READERS.get(type_)
        fact = take(data) if take else decode(type_, data)
    except Unfit:
        fact = decode(type_, data)
    except UnknownFact:
        if record.get("ignorable") is not True:
            raise
        fact = ForeignFact(tag=type_, data=data)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a line of a session log: {error}") from error
    if type(seq) is not int or type(time) is not int:
        raise ValueError("not a line of a session log: its number or its time is none")
    # As its `__init__` does, in less time: a log has many of them.
    entry = _new(Entry)
    _set_seq(entry, seq)
    _set_time(entry, time)
    _set_fact(entry, fact)
    return entry


def sealed(fact: Fact) -> tuple[bytes, Fact]:
    """The `data` of a fact, and the fact as it will be read back, so that nobody can change it.

    Raises:
        NotJson: it holds what JSON cannot say, or what could not be read back.
    """
    try:
        data, type_ = encode_fact(fact), tag(fact)
        if type(fact) is AssistantChunk and fact.tool_calls is None:
            return data, fact  # a text and nothing else, and there are very many
        take = _READERS.get(type_) or _hurried(type_)
        read: Fact = take(orjson.loads(data))
    except (Unfit, TypeError) as error:
        raise NotJson(f"{type(fact).__name__} holds a value that its type forbids") from error
    return data, frozen(read) if fact.free else fact
