"""A cancellation that was asked for, and one that something raised by itself."""

import asyncio

import anyio
import pytest

from turnbuckle.kernel.stopping import is_failure, is_stopping


async def test_what_cancels_itself_is_not_being_stopped() -> None:
    with pytest.raises(asyncio.CancelledError):
        raise_it()
    assert not is_stopping()
    assert is_failure(asyncio.CancelledError())


def raise_it() -> None:
    raise asyncio.CancelledError


async def test_a_scope_that_is_cancelled_stops_what_runs_in_it() -> None:
    seen: list[bool] = []
    failed: list[bool] = []

    async def wait() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            seen.append(is_stopping())
            failed.extend((is_failure(asyncio.CancelledError()), is_failure(SystemExit())))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await wait()
    assert seen == [True, True]
    assert failed == [False, True] * 2
    assert not is_stopping()


async def test_a_time_limit_that_has_passed_stops_nothing_after_it() -> None:
    with anyio.move_on_after(0):
        await anyio.sleep_forever()
    assert not is_stopping()
