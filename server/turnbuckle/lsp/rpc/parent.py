"""The process that started this one: its end is noticed, whoever holds our input open."""

import os
import sys
from pathlib import Path

import anyio

LOOK = 1.0
"""Seconds between two looks, where the system does not tell of an end."""


async def outlived(pid: int) -> None:
    """Return when a process has ended that started this one, itself or through others.

    Never returns for any other process: the number may be that of another machine or container.
    Where the system shows no more than our parent, only that one counts.
    """
    if sys.platform == "linux" and _is_ancestor(pid):
        await _ended(pid)
    elif sys.platform != "win32" and os.getppid() == pid:
        while os.getppid() == pid:  # noqa: ASYNC110 - the system has no event for it
            await anyio.sleep(LOOK)
    else:
        await anyio.sleep_forever()


async def _ended(pid: int) -> None:
    if sys.platform == "linux":
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        try:
            await anyio.wait_readable(descriptor)
        finally:
            os.close(descriptor)


def _is_ancestor(pid: int) -> bool:
    seen = os.getppid()
    while seen > 1 and seen != pid:
        seen = _parent_of(seen)
    return seen == pid


def _parent_of(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return 0
    # The name before the last parenthesis may hold anything.
    return int(stat.rpartition(b") ")[2].split()[1])
