"""LSP's own messages and types, imported late: that takes longer than all the rest together."""

from threading import Lock
from typing import TYPE_CHECKING, Any

from turnbuckle.lsp.rpc.messages import Messages

if TYPE_CHECKING:
    from lsprotocol import types
else:

    class _Types:
        """Stands for `lsprotocol.types` where only functions use its names.

        Annotations must not be evaluated there: `from __future__ import annotations`.
        """

        def __getattr__(self, name: str) -> object:
            from lsprotocol import types

            return getattr(types, name)

    types = _Types()

__all__ = ["Late", "types"]


class Late:
    """Reads and writes LSP's messages; the first one imports what is needed, unless `load` did."""

    def __init__(self) -> None:
        self._messages: Messages | None = None
        self._loading = Lock()

    def load(self) -> Messages:
        """Import what is needed; may run in a thread of its own."""
        with self._loading:
            if self._messages is None:
                from turnbuckle.lsp.rpc.typed import typed

                self._messages = typed()
            return self._messages

    def params(self, method: str, raw: object) -> Any:  # Any: as in the port
        """The params as lsprotocol has them."""
        return (self._messages or self.load()).params(method, raw)

    def result(self, method: str, raw: object) -> Any:  # Any: as in the port
        """The result as lsprotocol has it."""
        return (self._messages or self.load()).result(method, raw)

    def plain(self, value: object) -> object:
        """An lsprotocol value as JSON."""
        return (self._messages or self.load()).plain(value)
