"""Folders that are mounted otherwise for one process: read only, or on a small disk of their own."""

import subprocess
import sys
from pathlib import Path

READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
SMALL = 'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"'


def mounted(how: str, folder: Path) -> tuple[str, ...]:
    """What a command line begins with for which a folder is mounted like this."""
    return ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", how, str(folder))


def can_mount(how: str, folder: Path) -> bool:
    """Whether that is possible here."""
    if sys.platform != "linux":
        return False
    try:
        line = [*mounted(how, folder), "true"]
        return subprocess.run(line, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def seen_by(pid: int, folder: Path) -> Path:
    """A folder as a process sees it."""
    return Path(f"/proc/{pid}/root{folder}")
