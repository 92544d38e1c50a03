"""Ends a command when the server dies without being able to: a small shell that waits beside it."""

import os
import subprocess
import sys
from contextlib import suppress
from typing import Self

from turnbuckle.workspace.process.environment import MARK

# It reads the group's id and then waits for more, which never comes: its input ends only when the
# server is gone. Then it kills the group, and on Linux all that bear the mark.
_SCRIPT = f"""\
read -r group
read -r never
[ -n "$group" ] && kill -s KILL -- "-$group"
for round in 1 2 3 4 5 6 7 8 9 10; do
  left=
  for file in /proc/[0-9]*/environ; do
    if grep -q "{MARK}=$1" "$file"; then
      pid=${{file#/proc/}}
      kill -s KILL "${{pid%/environ}}" && left=1
    fi
  done
  [ -n "$left" ] || exit
done
"""


class Watcher:
    """Watches over one command while it is entered. On Windows it does nothing: there is no sh.

    Raises:
        OSError: it could not be started.
    """

    def __init__(self, mark: str) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        if sys.platform != "win32":
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _SCRIPT, "turnbuckle-watcher", mark],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
                env={"PATH": os.environ.get("PATH", os.defpath)},
                bufsize=0,
            )

    def __enter__(self) -> Self:
        return self

    def watch(self, group: int) -> None:
        """Tell it which group to end."""
        if self._process is not None and self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.write(b"%d\n" % group)

    def __exit__(self, *_: object) -> None:
        # It is killed before it can see that its input ends, so it ends nothing.
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdin is not None:
                self._process.stdin.close()
