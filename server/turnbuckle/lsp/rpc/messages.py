"""The port between JSON and the values that handlers see, and its plainest form."""

from typing import Any, Protocol


class Messages(Protocol):
    """Knows the types of a connection's messages. Any: they are lsprotocol or pydantic values."""

    def params(self, method: str, raw: object) -> Any:
        """The params of an incoming message; None stands for absent ones.

        Raises:
            BadMessage: they do not have the method's shape.
        """
        ...

    def result(self, method: str, raw: object) -> Any:
        """The result of a request of ours.

        Raises:
            BadMessage: it does not have the method's shape.
        """
        ...

    def plain(self, value: object) -> object:
        """JSON for a value that JSON does not have, as it comes up in an outgoing message.

        Raises:
            TypeError: there is none.
        """
        ...


class Raw:
    """Knows no types: everything is JSON, as it came."""

    def params(self, method: str, raw: object) -> object:
        """The params as they came."""
        return raw

    def result(self, method: str, raw: object) -> object:
        """The result as it came."""
        return raw

    def plain(self, value: object) -> object:
        """Refuse: only JSON can be sent."""
        raise TypeError(f"{type(value).__name__} is not JSON")
