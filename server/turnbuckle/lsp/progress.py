"""What comes on progress tokens, at the client's end: raw JSON, by token, in order."""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Self, TypeAlias

import anyio

Token: TypeAlias = int | str
# Any: a progress value is JSON.
OnProgress: TypeAlias = Callable[[Any], None]


class Values:
    """The values of one token, in order; they end with the connection."""

    def __init__(self) -> None:
        self._values: deque[object] = deque()
        self._changed = anyio.Event()
        self._ended = False

    def put(self, value: object) -> None:
        """Add one."""
        self._values.append(value)
        self._changed.set()

    def end(self) -> None:
        """No more will come."""
        self._ended = True
        self._changed.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:  # Any: JSON
        while not self._values:
            if self._ended:
                raise StopAsyncIteration
            self._changed = anyio.Event()
            await self._changed.wait()
        return self._values.popleft()


class Progress:
    """Who listens to which token."""

    def __init__(self) -> None:
        self._listeners: dict[Token, list[OnProgress]] = {}
        self._values: list[Values] = []

    def on(self, token: Token, seen: OnProgress) -> Callable[[], None]:
        """Tell every value of a token from now on; what is returned ends that."""
        self._listeners.setdefault(token, []).append(seen)
        return partial(self._forget, token, seen)

    def values(self, token: Token) -> Values:
        """The values of a token from now on."""
        values = Values()
        self._values.append(values)
        self.on(token, values.put)
        return values

    def take(self, params: object) -> None:
        """Handle `$/progress`; values that nobody listens to are dropped."""
        match params:
            case {"token": int() | str() as token, "value": value}:
                for seen in tuple(self._listeners.get(token, ())):
                    seen(value)

    def end(self) -> None:
        """The connection is closed."""
        for values in self._values:
            values.end()

    def _forget(self, token: Token, seen: OnProgress) -> None:
        self._listeners[token].remove(seen)
        if not self._listeners[token]:
            del self._listeners[token]
