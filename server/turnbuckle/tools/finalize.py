"""The last thing that happens to an outcome: it is made to fit."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from anyio import to_thread

from turnbuckle.session.blobs import Blobs
from turnbuckle.tools.tool import Outcome

LIMIT = 96 * 1024
"""How many bytes of UTF-8 a result may have; tools that bound themselves stay below it."""

_HEAD, _TAIL = 64 * 1024, 16 * 1024


async def finalize(outcome: Outcome, blobs: Blobs) -> Outcome:
    """The outcome with a bounded content; what is cut out stays readable as a blob.

    Runs exactly once for every outcome that a call came to.
    """
    if not _is_long(outcome):
        return outcome
    return await to_thread.run_sync(partial(_cut, outcome, blobs.put_now))


def finalize_now(outcome: Outcome, blobs: Blobs) -> Outcome:
    """As `finalize`, for a turn that was stopped: nothing can be awaited any more."""
    return _cut(outcome, blobs.put_now) if _is_long(outcome) else outcome


def _is_long(outcome: Outcome) -> bool:
    # A character is at most four bytes, and most contents are far below the limit.
    content = outcome.content
    return len(content) * 4 > LIMIT and len(content.encode("utf-8", "replace")) > LIMIT


def _cut(outcome: Outcome, keep: Callable[[bytes], str]) -> Outcome:
    data = outcome.content.encode("utf-8", "replace")
    left_out = len(data) - _HEAD - _TAIL
    try:
        where = f"read_file can read on at path=blob:{keep(data)}"
    except OSError as error:
        where = f"the rest could not be kept: {error.strerror}"
    head = data[:_HEAD].decode("utf-8", "ignore")
    tail = data[-_TAIL:].decode("utf-8", "ignore")
    return replace(outcome, content=f"{head}\n[{left_out} bytes left out; {where}]\n{tail}")
