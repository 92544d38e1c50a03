"""Logs as files: one that is written whole or not at all, and one that is removed."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from filelock import Timeout

from turnbuckle.session.blobs import private, private_folder, sync_folder
from turnbuckle.session.store import Locked, StoreFailed, lock_of


def write_log(path: Path, lines: Sequence[bytes]) -> None:
    """Make a new log of these lines, on disk when this returns.

    A kill in the middle leaves a hidden file that is no log.

    Raises:
        StoreFailed: it could not be written; nothing is left of it.
    """
    scratch = path.with_name(f".{path.stem}.part")
    try:
        private_folder(path.parent)
        try:
            with open(scratch, "xb", opener=private) as file:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
            scratch.replace(path)
        finally:
            scratch.unlink(missing_ok=True)
        sync_folder(path.parent)
    except OSError as error:
        why = error.strerror or str(error)
        raise StoreFailed(
            f"the new session could not be written ({why}); make room or check "
            f"the folder {path.parent}, then try again"
        ) from error


def delete_log(path: Path) -> None:
    """Remove a log, what was set aside of it, and its lock.

    Raises:
        Locked: another process writes it; nothing was done.
        StoreFailed: it could not be removed.
    """
    lock = lock_of(path)
    try:
        with lock:
            for one in (path, *path.parent.glob(f"{path.stem}.torn-*")):
                one.unlink(missing_ok=True)
    except Timeout as error:
        raise Locked(path.stem) from error
    except OSError as error:
        why = error.strerror or str(error)
        raise StoreFailed(f"the session log {path} could not be removed ({why})") from error
    with contextlib.suppress(OSError):
        Path(lock.lock_file).unlink(missing_ok=True)
