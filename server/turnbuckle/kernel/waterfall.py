"""Let layers stand around a call."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from turnbuckle.kernel.failures import blame
from turnbuckle.kernel.owned import Owned
from turnbuckle.kernel.scope import Disposer, Scope

T = TypeVar("T")
R = TypeVar("R")

Next: TypeAlias = Callable[[T], Awaitable[R]]
Layer: TypeAlias = Callable[[T, Next[T, R]], Awaitable[R]]


class WrongAnswer(TypeError):
    """A layer answered with something that its waterfall has no meaning for."""


@dataclass(slots=True, eq=False)
class _Visit:
    """One layer at work. `below` of its calls of `next` have not returned; `moves` only grows."""

    owner: str
    below: int = 0
    moves: int = 0
    passed_on: BaseException | None = None


class Waterfall(Generic[T, R]):
    """An ordered stack of layers around one call; the first one added is the outermost.

    A layer gets a frozen value and `next`, and may call `next` zero, one or several times, also at
    once: each call runs all the layers below again. An answer that is not one of `answers` is an
    error that names the layer's owner, and so does an error that a layer raises.
    """

    def __init__(self, name: str, answers: type | tuple[type, ...] = object) -> None:
        self.name = name
        self._answers = answers
        self._layers: Owned[tuple[str, Layer[T, R]]] = Owned()
        self._visits: dict[_Visit, None] = {}

    def __len__(self) -> int:
        return len(self._layers)

    def use(self, scope: Scope, layer: Layer[T, R], *, outermost: bool = False) -> Disposer:
        """Add a layer that leaves with its scope, or when the disposer is called."""
        return self._layers.add(scope, (scope.owner, layer), self.name, first=outermost)

    async def run(self, value: T, core: Next[T, R]) -> R:
        """Run `core` inside a snapshot of the layers, taken now.

        Raises:
            WrongAnswer: a layer answered with nonsense.
            Exception: what a layer or `core` raised.
        """
        return await self._enter(tuple(self._layers), value, core)

    def held_by(self) -> dict[object, str]:
        """The owners of the layers that are at work now and wait for none below them.

        A key that is still there when this is asked again means that its layer did not move.
        """
        return {(visit, visit.moves): visit.owner for visit in self._visits if not visit.below}

    async def _enter(
        self, layers: Sequence[tuple[str, Layer[T, R]]], value: T, core: Next[T, R]
    ) -> R:
        if not layers:
            return await core(value)
        owner, layer = layers[0]
        visit = _Visit(owner)

        async def below(passed: T) -> R:
            visit.below += 1
            visit.moves += 1
            try:
                return await self._enter(layers[1:], passed, core)
            except BaseException as error:
                visit.passed_on = error
                raise
            finally:
                visit.below -= 1
                visit.moves += 1

        who = f"{owner} in {self.name}"
        self._visits[visit] = None
        try:
            answer = await layer(value, below)
        except BaseException as error:
            if error is not visit.passed_on:
                blame(error, who)
            raise
        finally:
            del self._visits[visit]
        if not isinstance(answer, self._answers):
            wrong = WrongAnswer(f"a layer answered {type(answer).__name__}")
            blame(wrong, who)
            raise wrong
        return answer


class Stack(Generic[T, R]):
    """A waterfall as one owner sees it: what it adds leaves with its scope."""

    def __init__(self, waterfall: Waterfall[T, R], scope: Scope) -> None:
        self._waterfall = waterfall
        self._scope = scope

    def use(self, layer: Layer[T, R], *, outermost: bool = False) -> Disposer:
        """Add a layer in the owner's name."""
        return self._waterfall.use(self._scope, layer, outermost=outermost)
