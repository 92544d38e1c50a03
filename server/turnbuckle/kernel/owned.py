"""What several owners put side by side; each leaves with its owner's scope."""

from collections.abc import Iterator
from typing import Generic, TypeVar

from turnbuckle.kernel.scope import Disposer, Scope

T = TypeVar("T")


class Owned(Generic[T]):
    """Values in order: layers, observers, sections.

    Who goes through them meets those that were there at the beginning, whatever comes and leaves.
    """

    def __init__(self) -> None:
        self._values: dict[object, T] = {}

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[T]:
        return iter(self._values.values())

    def add(self, scope: Scope, value: T, label: str, *, first: bool = False) -> Disposer:
        """Add a value that leaves with its scope, or when the disposer is called.

        Raises:
            ScopeClosed: the scope is closed already; nothing was added.
        """
        key = object()

        def remove() -> None:
            self._values = {k: v for k, v in self._values.items() if k is not key}

        dispose = scope.defer(remove, label)
        new = {key: value}
        # Another dict each time, so that who goes through the old one is not disturbed.
        self._values = new | self._values if first else self._values | new
        return dispose
