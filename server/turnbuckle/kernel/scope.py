"""Undo what was done, last first."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import anyio

from turnbuckle.kernel.stopping import FAILURES

Undo: TypeAlias = Callable[[], Awaitable[None] | None]
Disposer: TypeAlias = Callable[[], Awaitable[None] | None]


class ScopeClosed(Exception):
    """Something was registered in a scope that had been closed; the message names the scope."""


class Scope:
    """Owns effects and undoes them, last first, when it closes.

    A scope holds no task group and no cancel scope: those are `async with` blocks.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._undo: dict[object, tuple[str, Undo]] = {}
        self._closed = False

    @property
    def owner(self) -> str:
        """Its name without that of the outermost scope: what people call the owner by."""
        return self.name.partition("/")[2] or self.name

    @property
    def labels(self) -> tuple[str, ...]:
        """What is registered now, oldest first; for tests and for people who look for a leak."""
        return tuple(label for label, _ in self._undo.values())

    def defer(self, undo: Undo, label: str = "effect") -> Disposer:
        """Undo this effect when the scope closes, or earlier, when the disposer is called.

        The disposer runs `undo` at most once, however often it is called.

        Raises:
            ScopeClosed: the scope is closed already.
        """
        if self._closed:
            raise ScopeClosed(self.name)
        key = object()
        self._undo[key] = (label, undo)

        def dispose() -> Awaitable[None] | None:
            return undo() if self._undo.pop(key, None) else None

        return dispose

    def child(self, name: str) -> "Scope":
        """A scope inside this one: closed with it, or before it."""
        child = Scope(f"{self.name}/{name}")
        key = object()
        if self._closed:
            raise ScopeClosed(self.name)
        self._undo[key] = (name, child.aclose)
        # A child that closes first must not stay registered in its parent.
        child.defer(lambda: self._forget(key), "leave parent")
        return child

    def _forget(self, key: object) -> None:
        self._undo.pop(key, None)

    async def aclose(self) -> None:
        """Undo everything, even if some of it fails.

        Raises:
            ExceptionGroup: one member for every effect that could not be undone.
        """
        self._closed = True
        errors: list[Exception] = []
        with anyio.CancelScope(shield=True):
            while self._undo:
                _, (label, undo) = self._undo.popitem()
                try:
                    result = undo()
                    if isinstance(result, Awaitable):
                        await result
                except FAILURES as error:
                    errors.append(_told(label, error))
        if errors:
            raise ExceptionGroup(f"closing {self.name}", errors)


def _told(label: str, error: BaseException) -> Exception:
    """A failure as one that a group can hold; here nobody outside can have cancelled anything."""
    if isinstance(error, Exception):
        return error
    failed = RuntimeError(f"{label} raised {type(error).__name__}")
    failed.__cause__ = error
    return failed
