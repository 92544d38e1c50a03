"""What stands behind the last whole line of a log: found, and set aside."""

import logging
from pathlib import Path

import orjson

logger = logging.getLogger(__name__)


def split_tail(lines: list[bytes]) -> bytes:
    """Take what is torn off the end of a log's lines, and give it.

    That is half a line, blank lines and zeros, which file systems leave behind, and a broken line
    that these follow.
    """
    torn = b""
    while lines and _is_torn(lines[-1], follows=bool(torn)):
        torn = lines.pop() + torn
    return torn


def _is_torn(line: bytes, *, follows: bool) -> bool:
    """Whether the last line is none; `follows`: something torn follows it."""
    if not line.endswith(b"\n") or not line.strip(b"\0 \t\r\n"):
        return True
    if not follows:
        return False
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return True
    return False


def set_aside(path: Path, torn: bytes) -> None:
    """Keep these bytes beside a log.

    Raises:
        OSError: they could not be written; the log is as it was.
    """
    number = 1
    while (aside := path.with_suffix(f".torn-{number}")).exists():
        number += 1
    aside.touch(mode=0o600)
    try:
        aside.write_bytes(torn)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
    logger.warning("%s ended in half a line; it was set aside", path.name)
