"""Let layers stand around a call."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeAlias, TypeVar

from turnbuckle.kernel.scope import Disposer, Scope

T = TypeVar("T")
R = TypeVar("R")

Next: TypeAlias = Callable[[T], Awaitable[R]]
Layer: TypeAlias = Callable[[T, Next[T, R]], Awaitable[R]]


class Waterfall(Generic[T, R]):
    """An ordered stack of layers around one call; the first one added is the outermost.

    A layer gets a frozen value and `next`, and may call `next` zero, one or several times: each
    call runs all the layers below again.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._layers: dict[object, Layer[T, R]] = {}

    def __len__(self) -> int:
        return len(self._layers)

    def use(self, scope: Scope, layer: Layer[T, R], *, outermost: bool = False) -> Disposer:
        """Add a layer that leaves with its scope, or when the disposer is called."""
        key = object()
        self._layers = {key: layer} | self._layers if outermost else self._layers | {key: layer}

        def remove() -> None:
            self._layers = {k: v for k, v in self._layers.items() if k is not key}

        return scope.defer(remove, self.name)

    async def run(self, value: T, core: Next[T, R]) -> R:
        """Run `core` inside a snapshot of the layers, taken now."""
        layers = tuple(self._layers.values())

        def below(index: int) -> "Next[T, R]":
            if index == len(layers):
                return core
            return lambda passed: layers[index](passed, below(index + 1))

        return await below(0)(value)


class Stack(Generic[T, R]):
    """A waterfall as one owner sees it: what it adds leaves with its scope."""

    def __init__(self, waterfall: Waterfall[T, R], scope: Scope) -> None:
        self._waterfall = waterfall
        self._scope = scope

    def use(self, layer: Layer[T, R], *, outermost: bool = False) -> Disposer:
        """Add a layer in the owner's name."""
        return self._waterfall.use(self._scope, layer, outermost=outermost)
