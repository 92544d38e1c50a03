"""Tell a cancellation that was asked for from one that something raised by itself."""

import asyncio


def is_stopping() -> bool:
    """Whether somebody cancelled this task, or a scope around it, and it has not ended yet.

    Where this is False, a cancellation is a failure like any other: code that ran here raised it,
    for instance because a task that it waited for had been cancelled.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
