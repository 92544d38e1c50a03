"""Layers stand around a call."""

from turnbuckle.kernel.scope import Scope
from turnbuckle.kernel.waterfall import Next, Stack, Waterfall


async def double(value: int) -> int:
    return value * 2


async def test_without_layers_the_core_is_called() -> None:
    assert await Waterfall[int, int]("w").run(3, double) == 6


async def test_the_first_layer_is_outermost_and_values_are_passed_on() -> None:
    order: list[str] = []
    waterfall: Waterfall[int, int] = Waterfall("w")
    scope = Scope("s")

    async def outer(value: int, next_: Next[int, int]) -> int:
        order.append(f"outer {value}")
        return await next_(value + 1) + 100

    async def inner(value: int, next_: Next[int, int]) -> int:
        order.append(f"inner {value}")
        return await next_(value + 1)

    waterfall.use(scope, outer)
    waterfall.use(scope, inner)
    assert await waterfall.run(1, double) == 106
    assert order == ["outer 1", "inner 2"]


async def test_each_next_runs_all_the_layers_below_again() -> None:
    runs: list[str] = []
    waterfall: Waterfall[int, int] = Waterfall("w")
    scope = Scope("s")

    async def twice(value: int, next_: Next[int, int]) -> int:
        return await next_(value) + await next_(value)

    async def guard(value: int, next_: Next[int, int]) -> int:
        runs.append("guard")
        return await next_(value)

    waterfall.use(scope, twice)
    waterfall.use(scope, guard)
    assert await waterfall.run(1, double) == 4
    assert runs == ["guard", "guard"]


async def test_a_layer_may_answer_by_itself() -> None:
    waterfall: Waterfall[int, int] = Waterfall("w")

    async def seven(_: int, _next: Next[int, int]) -> int:
        return 7

    waterfall.use(Scope("s"), seven)
    assert await waterfall.run(1, double) == 7


async def test_a_run_keeps_the_layers_that_it_began_with() -> None:
    waterfall: Waterfall[int, int] = Waterfall("w")
    scope, late = Scope("s"), Scope("late")

    async def remover(value: int, next_: Next[int, int]) -> int:
        await late.aclose()
        return await next_(value)

    async def add(value: int, next_: Next[int, int]) -> int:
        return await next_(value) + 1

    waterfall.use(scope, remover)
    waterfall.use(late, add)
    assert await waterfall.run(1, double) == 3
    assert await waterfall.run(1, double) == 2


async def test_layers_leave_with_their_scope() -> None:
    waterfall: Waterfall[int, int] = Waterfall("w")
    scope = Scope("s")

    async def seven(_: int, _next: Next[int, int]) -> int:
        return 7

    Stack(waterfall, scope).use(seven, outermost=True)
    await scope.aclose()
    assert len(waterfall) == 0
