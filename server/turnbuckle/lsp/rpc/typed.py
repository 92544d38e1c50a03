"""LSP's own messages, typed by pygls and lsprotocol: what they are good at, without their loop."""

import logging
import re
from typing import Any, cast

import attrs
from cattrs import transform_error
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import JsonRPCProtocol, default_converter
from pygls.server import JsonRPCServer

from turnbuckle.lsp.rpc.errors import BadMessage

# pygls logs whole bodies: at INFO each one that it sends, at ERROR each one that it cannot read.
logging.getLogger("pygls").setLevel(logging.CRITICAL)


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
        if self.get_message_type(method) is None:
            return raw
        if types.METHOD_TO_TYPES[method][2] is None:
            return None
        if not isinstance(raw, dict | None):
            raise BadMessage("params: must be an object")
        return self._structured({"method": method, "params": raw or {}}).params

    def result(self, method: str, raw: object) -> Any:  # Any: as in the port
        """The result as lsprotocol has it."""
        if (response := self.get_result_type(method)) is None:
            return raw
        self._result_types[0] = response
        return self._structured({"result": raw}).result

    def plain(self, value: object) -> object:
        """An lsprotocol value as JSON; defaults are left out."""
        if not attrs.has(type(value)):
            raise TypeError(f"{type(value).__name__} is not JSON")
        return self._serialize_message(value)

    def _structured(self, message: dict[str, object]) -> Any:  # Any: some attrs class
        try:
            return self.structure_message({"jsonrpc": self.VERSION, "id": 0, **message})
        except JsonRpcException as error:
            raise BadMessage(_reason(error.__cause__ or error)) from None


def typed() -> Typed:
    """A reader and writer of LSP's messages."""
    return cast("Typed", JsonRPCServer(Typed, default_converter).protocol)


def _reason(error: BaseException, most: int = 3) -> str:
    """The first errors as `field: reason`; cattrs says `reason @ $.params.text_document`."""
    said = []
    for one in transform_error(error, "$")[:most]:
        what, _, where = one.partition(" @ ")
        path = where.removeprefix("$.").removeprefix("params.")
        said.append(f"{re.sub('_([a-z])', lambda found: found[1].upper(), path)}: {what}")
    return "; ".join(said)
