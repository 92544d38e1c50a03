"""Take secrets out of what other programs see of this process: the block of its environment."""

import os
import sys
from collections.abc import Mapping, MutableMapping

from turnbuckle.workspace.variables import OURS, holds_secret

_START, _END = 47, 48
"""Where in /proc/self/stat, behind the name, the block's addresses stand."""


def conceal(environ: MutableMapping[str, str] = os.environ, *, keep: bool) -> dict[str, str]:
    """Blank what holds a secret in the block, and give the environment as it was.

    The block is what others of the same user read as /proc/PID/environ on Linux. There a variable
    that is taken out of the environment stays in it for as long as the process runs. Windows has
    no such copy; on macOS one stays, which only this user and the administrator can read.

    With `keep`, `environ` stays as it is, for children that are ours. Without, what we read
    ourselves is taken out of it; what else is secret is kept, as a proxy's password is wanted.
    """
    before = dict(environ)
    secret = {name: value for name, value in before.items() if holds_secret(name, value)}
    for name, value in secret.items():
        if keep or name not in OURS:
            # Set anew, it stands in memory that is not the block.
            environ[name] = value
        else:
            del environ[name]
    if secret and sys.platform == "linux":
        _blank(secret)
    return before


def _blank(secret: Mapping[str, str]) -> None:
    """Overwrite these in the block; without an effect where the system does not let us."""
    wanted = {os.fsencode(f"{name}={value}") for name, value in secret.items()}
    try:
        with open("/proc/self/stat", "rb", 0) as file:  # noqa: PTH123 - nothing else at the start
            numbers = file.read().rpartition(b") ")[2].split()
        start, end = int(numbers[_START]), int(numbers[_END])
        with open("/proc/self/mem", "r+b", 0) as memory:  # noqa: PTH123 - as above
            memory.seek(start)
            block = memory.read(end - start)
            place = start
            for entry in block.split(b"\0"):
                if entry in wanted:
                    memory.seek(place)
                    memory.write(bytes(len(entry)))
                place += len(entry) + 1
    except (OSError, ValueError, IndexError):
        return
