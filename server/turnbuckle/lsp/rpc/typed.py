"""LSP's own messages, typed by pygls and lsprotocol: what they are good at, without their loop."""

import logging
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Optional, Union, cast

import attrs
from cattrs import Converter, transform_error
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.protocol import JsonRPCProtocol
from pygls.server import JsonRPCServer

from turnbuckle.lsp.rpc.errors import BadMessage

# pygls logs whole bodies: at INFO each one that it sends, at ERROR each one that it cannot read.
logging.getLogger("pygls").setLevel(logging.CRITICAL)

FEW = 16
"""Entries of a list that are looked at for what is wrong with a message; of a text, characters."""

_WRONG = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What reading a value of the wrong shape raises, whichever part of it that is."""


class Typed(JsonRPCProtocol):
    """LSP's methods as lsprotocol values; methods that LSP does not have are left as JSON."""

    def get_message_type(self, method: str) -> type[Any] | None:  # Any: some attrs class
        """The class of a request or notification, by method."""
        return types.METHOD_TO_TYPES[method][0] if method in types.METHOD_TO_TYPES else None

    def get_result_type(self, method: str) -> type[Any] | None:  # Any: some attrs class
        """The class of a response, by method."""
        return types.METHOD_TO_TYPES[method][1] if method in types.METHOD_TO_TYPES else None

    def params(self, method: str, raw: object) -> Any:  # Any: as in the port
        """The params as lsprotocol has them; absent ones are an empty object."""
        if (message := self.get_message_type(method)) is None:
            return raw
        if types.METHOD_TO_TYPES[method][2] is None:
            return None
        if not isinstance(raw, dict | None):
            raise BadMessage("params: must be an object")
        return self._structured({"method": method, "params": raw or {}}, message).params

    def result(self, method: str, raw: object) -> Any:  # Any: as in the port
        """The result as lsprotocol has it."""
        if (response := self.get_result_type(method)) is None:
            return raw
        return self._structured({"result": raw}, response).result

    def plain(self, value: object) -> object:
        """An lsprotocol value as JSON; defaults are left out."""
        if not attrs.has(type(value)):
            raise TypeError(f"{type(value).__name__} is not JSON")
        return self._serialize_message(value)

    # Any: some attrs class, and an instance of it.
    def _structured(self, message: dict[str, object], kind: type[Any]) -> Any:
        message = {"jsonrpc": self.VERSION, "id": 0, **message}
        try:
            return self._converter.structure(message, kind)
        except _WRONG:
            raise BadMessage(_why(message, kind)) from None


def typed() -> Typed:
    """A reader and writer of LSP's messages."""
    return cast("Typed", JsonRPCServer(Typed, _quick).protocol)


def _quick() -> Converter:
    """Stops at the first thing that is wrong: a bad message costs no more than a good one."""
    return _strict(Converter(detailed_validation=False))


@cache
def _telling() -> Converter:
    """Finds all that is wrong, and where it stands."""
    return _strict(Converter())


def _strict(converter: Converter) -> Converter:
    """lsprotocol's types, with nothing turned into something else: its own makes text of a list."""
    get_converter(converter)
    converter.register_structure_hook(str, _text)
    converter.register_structure_hook(int, _integer)
    converter.register_structure_hook(bool, _truth)
    # Spelt as in lsprotocol, since it is found by equality.
    converter.register_structure_hook(Union[int, str], _name)  # noqa: UP007
    converter.register_structure_hook(Optional[Union[int, str]], _absent_or_name)  # noqa: UP007, UP045
    return converter


# The kind is the type itself, or an enumeration of its values.


def _text(value: object, kind: Callable[[str], str]) -> str:
    if isinstance(value, str):
        return kind(value)
    raise ValueError("must be a string")


def _integer(value: object, kind: Callable[[int], int]) -> int:
    # To some languages, 1 and 1.0 are the same.
    if isinstance(value, int | float) and not isinstance(value, bool) and value == int(value):
        return kind(int(value))
    raise ValueError("must be an integer")


def _truth(value: object, _: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError("must be true or false")


def _name(value: object, _: object) -> int | str:
    return value if isinstance(value, str) else _integer(value, int)


def _absent_or_name(value: object, _: object) -> int | str | None:
    return None if value is None else _name(value, _)


def _why(message: dict[str, object], kind: type[Any]) -> str:  # Any: some attrs class
    """What is wrong with a message, seen at its beginning."""
    beginning = {key: _beginning(value) for key, value in message.items()}
    try:
        _telling().structure(beginning | {"method": message.get("method")}, kind)
    except _WRONG as error:
        return _reason(error)
    except BaseExceptionGroup as group:
        return _reason(group)
    return "params: something in it has the wrong shape"


def _beginning(value: object) -> object:
    """JSON without what makes it long."""
    match value:
        case dict():
            return {key: _beginning(inner) for key, inner in value.items()}
        case list():
            return [_beginning(inner) for inner in value[:FEW]]
        case str():
            return value[:FEW]
        case _:
            return value


def _reason(error: BaseException, most: int = 3) -> str:
    """The first errors as `field: reason`; cattrs says `reason @ $.params.text_document`."""
    said = []
    for one in transform_error(error, "$")[:most]:
        what, _, where = one.partition(" @ ")
        path = where.removeprefix("$.").removeprefix("params.")
        said.append(f"{re.sub('_([a-z])', lambda found: found[1].upper(), path)}: {what}")
    return "; ".join(said)
