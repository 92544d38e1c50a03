"""JSON data to frozen values of our own classes, as fast as a whole log wants to be read.

It takes only what fits exactly, field by field; `codec` asks pydantic about all else, which says
what is wrong. A class gets a function of its own, as `dataclasses` makes its `__init__`: calling
that with keywords would take longer than parsing the line.
"""

import dataclasses
from collections.abc import Callable
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from turnbuckle.session.parts import camel

# Any: what JSON holds, and what is made of it.
Json: TypeAlias = Any
Take: TypeAlias = Callable[[Json], Any]

_PLAIN: tuple[type, ...] = (str, int, bool)


class Unfit(Exception):
    """The data is not exactly what the class says; it may still be read more patiently."""


def reader(cls: type) -> Take:
    """What makes a value of this dataclass of the JSON object that it is on disk.

    It raises `Unfit`. Fields that the class does not know are skipped.
    """
    hints = get_type_hints(cls)
    # Any: the names that the function's text uses.
    names: dict[str, Any] = {"new": cls.__new__, "cls": cls, "Unfit": Unfit}
    body = []
    for number, field in enumerate(dataclasses.fields(cls)):
        names[f"set{number}"] = getattr(cls, field.name).__set__
        body += _statements(number, field, hints[field.name], names)
    lines = "\n        ".join(body)
    sets = "\n    ".join(f"set{n}(value, v{n})" for n in range(len(dataclasses.fields(cls))))
    text = (
        f"def read(data):\n    try:\n        {lines}\n"
        "    except (KeyError, TypeError, AttributeError):\n        raise Unfit from None\n"
        f"    value = new(cls)\n    {sets}\n    return value\n"
    )
    exec(text, names)
    made: Take = names["read"]
    return made


def _statements(
    number: int,
    field: "dataclasses.Field[Any]",  # Any: of whatever type the field is
    hint: Any,  # Any: a type hint
    names: dict[str, Any],
) -> list[str]:
    """The statements that take one field's value out of `data` and look at it."""
    name, options = camel(field.name), _options(hint)
    optional = NoneType in options
    rest = [option for option in options if option is not NoneType]
    if field.default is dataclasses.MISSING:
        get = [f"v{number} = data[{name!r}]"]
    else:
        names[f"d{number}"] = field.default
        get = [f"v{number} = data[{name!r}] if {name!r} in data else d{number}"]
    guard = f"if v{number} is not None: " if optional else ""
    if len(rest) == 1 and rest[0] in _PLAIN:
        test = f"type(v{number}) is not {rest[0].__name__}"
        unless = f"v{number} is not None and " if optional else ""
        return [*get, f"if {unless}{test}: raise Unfit"]
    names[f"take{number}"] = _taker(rest[0]) if len(rest) == 1 else _refuse
    if field.default is not dataclasses.MISSING:
        guard = f"if v{number} is not d{number}: "
    return [*get, f"{guard}v{number} = take{number}(v{number})"]


def _options(hint: Any) -> tuple[Any, ...]:  # Any: type hints
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _taker(hint: Any) -> Take:  # Any: a type hint
    origin = get_origin(hint)
    if origin is Literal:
        return _literal(frozenset(get_args(hint)))
    if origin is tuple:
        return _sequence(get_args(hint))
    if origin is dict:
        return _object
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return reader(hint)
    if hint is float:
        return _number
    return _exactly(hint) if hint in _PLAIN else _refuse


def _refuse(_: Json) -> Any:
    raise Unfit


def _object(value: Json) -> Any:
    if type(value) is not dict:
        raise Unfit
    return value


def _number(value: Json) -> Any:
    if type(value) is float:
        return value
    if type(value) is not int:
        raise Unfit
    return float(value)


def _exactly(kind: type) -> Take:
    def take(value: Json) -> Any:
        if type(value) is not kind:
            raise Unfit
        return value

    return take


def _literal(allowed: frozenset[object]) -> Take:
    def take(value: Json) -> Any:
        if type(value) is not str or value not in allowed:
            raise Unfit
        return value

    return take


def _sequence(hints: tuple[Any, ...]) -> Take:  # Any: type hints
    length = None if hints[1:] == (...,) else len(hints)
    inner = _taker(hints[0])

    def take(value: Json) -> Any:
        if type(value) is not list or (length is not None and len(value) != length):
            raise Unfit
        return tuple(map(inner, value))

    return take
