"""Scopes undo what was done, last first."""

import asyncio

import pytest

from turnbuckle.kernel.scope import Scope, ScopeClosed


async def test_closing_undoes_last_first() -> None:
    done: list[str] = []
    scope = Scope("s")
    scope.defer(lambda: done.append("first"))
    scope.defer(lambda: done.append("second"))
    await scope.aclose()
    assert done == ["second", "first"]


async def test_a_disposer_undoes_at_once_and_only_once() -> None:
    done: list[str] = []
    scope = Scope("s")
    dispose = scope.defer(lambda: done.append("x"), "x")
    dispose()
    dispose()
    await scope.aclose()
    assert done == ["x"]


async def test_an_asynchronous_undo_is_awaited() -> None:
    done: list[str] = []

    async def undo() -> None:
        done.append("x")

    scope = Scope("s")
    scope.defer(undo)
    await scope.aclose()
    assert done == ["x"]


async def test_every_failure_is_reported_and_nothing_is_skipped() -> None:
    done: list[str] = []

    def fail(text: str) -> None:
        raise ValueError(text)

    scope = Scope("s")
    scope.defer(lambda: fail("one"))
    scope.defer(lambda: done.append("x"))
    scope.defer(lambda: fail("two"))
    with pytest.raises(ExceptionGroup) as caught:
        await scope.aclose()
    assert [str(error) for error in caught.value.exceptions] == ["two", "one"]
    assert done == ["x"]


@pytest.mark.parametrize("error", [SystemExit(1), asyncio.CancelledError()])
async def test_an_undo_that_wants_out_or_cancels_itself_is_a_failure_like_any_other(
    error: BaseException,
) -> None:
    scope, undone = Scope("root"), list[str]()

    def out() -> None:
        raise error

    scope.defer(lambda: undone.append("first"))
    scope.defer(out, "the second")
    with pytest.raises(ExceptionGroup) as raised:
        await scope.aclose()
    assert undone == ["first"]
    assert [str(one) for one in raised.value.exceptions] == [
        f"the second raised {type(error).__name__}"
    ]


async def test_an_undo_that_waits_for_what_it_cancels_keeps_no_other_from_being_undone() -> None:
    scope, undone = Scope("root"), list[str]()

    async def stop() -> None:
        waiting = asyncio.get_running_loop().create_future()
        waiting.cancel()
        await waiting

    scope.defer(lambda: undone.append("first"))
    scope.defer(stop, "the second")
    with pytest.raises(ExceptionGroup):
        await scope.aclose()
    assert undone == ["first"]


async def test_a_closed_scope_takes_nothing_more() -> None:
    scope = Scope("s")
    await scope.aclose()
    with pytest.raises(ScopeClosed):
        scope.defer(lambda: None)
    with pytest.raises(ScopeClosed):
        scope.child("c")


async def test_a_child_closes_with_its_parent_or_before_it() -> None:
    done: list[str] = []
    scope = Scope("s")
    scope.child("a").defer(lambda: done.append("a"))
    early = scope.child("b")
    early.defer(lambda: done.append("b"))
    await early.aclose()
    assert done == ["b"]
    assert scope.labels == ("a",)
    await scope.aclose()
    assert done == ["b", "a"]
