"""Tell a cancellation that was asked for from one that something raised by itself."""

import asyncio

FAILURES = (Exception, SystemExit, asyncio.CancelledError)
"""What code of others may raise and must not end ours with: caught where `is_failure` is asked."""


def is_stopping() -> bool:
    """Whether somebody cancelled this task, or a scope around it, and it has not ended yet.

    Where this is False, a cancellation is a failure like any other: code that ran here raised it,
    for instance because a task that it waited for had been cancelled.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def is_failure(error: BaseException) -> bool:
    """Whether one of `FAILURES` is one, and not a cancellation that somebody asked for."""
    return not isinstance(error, asyncio.CancelledError) or not is_stopping()
