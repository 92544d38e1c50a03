"""Scopes undo what was done, last first."""

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
