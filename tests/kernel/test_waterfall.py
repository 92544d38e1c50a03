"""Layers stand around a call."""

from types import NoneType

import anyio
import pytest

from turnbuckle.kernel.failures import told
from turnbuckle.kernel.scope import Scope
from turnbuckle.kernel.waterfall import Next, Stack, Waterfall, WrongAnswer


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


async def test_a_layer_may_call_next_twice_at_once() -> None:
    waterfall: Waterfall[int, int] = Waterfall("w")
    both = anyio.Event()
    inside: list[int] = []

    async def at_once(value: int, next_: Next[int, int]) -> int:
        results: dict[int, int] = {}

        async def one(number: int) -> None:
            results[number] = await next_(number)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one, value)
            tasks.start_soon(one, value + 1)
        return results[value] + results[value + 1]

    async def meet(value: int, next_: Next[int, int]) -> int:
        inside.append(value)
        if len(inside) == 2:
            both.set()
        await both.wait()
        return await next_(value)

    waterfall.use(Scope("s"), at_once)
    waterfall.use(Scope("s"), meet)
    with anyio.fail_after(5):
        assert await waterfall.run(1, double) == 6
    assert waterfall.held_by() == {}


async def test_an_answer_that_means_nothing_names_the_layer_that_gave_it() -> None:
    waterfall: Waterfall[int, int | None] = Waterfall("hook", (int, NoneType))
    scope = Scope("session s")

    async def through(value: int, next_: Next[int, int | None]) -> int | None:
        return await next_(value)

    async def nonsense(_: int, _next: Next[int, int | None]) -> int | None:
        return "7"  # type: ignore[return-value]

    waterfall.use(scope.child("plugin outer"), through)
    waterfall.use(scope.child("plugin inner"), nonsense)
    with pytest.raises(WrongAnswer) as caught:
        await waterfall.run(1, double)
    assert told(caught.value) == (
        "WrongAnswer: a layer answered str, raised by plugin inner in hook"
    )


async def test_an_error_names_the_layer_that_raised_it_and_no_other() -> None:
    waterfall: Waterfall[int, int] = Waterfall("hook")
    scope = Scope("session s")

    async def through(value: int, next_: Next[int, int]) -> int:
        return await next_(value)

    async def throw(_: int, _next: Next[int, int]) -> int:
        raise ValueError("boom")

    waterfall.use(scope.child("plugin outer"), through)
    dispose = waterfall.use(scope.child("plugin inner"), throw)
    with pytest.raises(ValueError, match="boom") as caught:
        await waterfall.run(1, double)
    assert told(caught.value) == "ValueError: boom, raised by plugin inner in hook"
    dispose()

    async def core(_: int) -> int:
        raise ValueError("boom")

    with pytest.raises(ValueError, match="boom") as caught:
        await waterfall.run(1, core)
    assert told(caught.value) == "ValueError: boom"  # no layer's fault


async def test_a_layer_holds_a_run_up_only_while_it_waits_for_nothing_below_it() -> None:
    waterfall: Waterfall[int, int] = Waterfall("hook")
    scope = Scope("session s")
    seen: list[list[str]] = []

    def look() -> None:
        seen.append(list(waterfall.held_by().values()))

    async def outer(value: int, next_: Next[int, int]) -> int:
        look()
        result = await next_(value)
        look()
        return result

    async def inner(value: int, next_: Next[int, int]) -> int:
        look()
        return await next_(value)

    async def core(value: int) -> int:
        look()
        return value

    waterfall.use(scope.child("plugin outer"), outer)
    waterfall.use(scope.child("plugin inner"), inner)
    await waterfall.run(1, core)
    look()
    assert seen == [["plugin outer"], ["plugin inner"], [], ["plugin outer"], []]


async def test_a_layer_that_moves_is_told_from_one_that_stands_still() -> None:
    waterfall: Waterfall[int, int] = Waterfall("hook")
    keys: list[object] = []

    async def again_and_again(value: int, next_: Next[int, int]) -> int:
        keys.extend(waterfall.held_by())
        keys.extend(waterfall.held_by())
        await next_(value)
        keys.extend(waterfall.held_by())
        return await next_(value)

    waterfall.use(Scope("s"), again_and_again)
    await waterfall.run(1, double)
    assert keys[0] == keys[1] != keys[2]
