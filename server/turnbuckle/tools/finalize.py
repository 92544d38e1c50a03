"""The last thing that happens to an outcome: it is made to fit."""

from dataclasses import replace

from turnbuckle.session.blobs import Blobs
from turnbuckle.tools.tool import Outcome

LIMIT = 96 * 1024
"""How many bytes of UTF-8 a result may have; tools that bound themselves stay below it."""

_HEAD, _TAIL = 64 * 1024, 16 * 1024


async def finalize(outcome: Outcome, blobs: Blobs) -> Outcome:
    """The outcome with a bounded content; what is cut out stays readable as a blob.

    Runs exactly once for every outcome that a call came to.
    """
    data = outcome.content.encode("utf-8", "replace")
    if len(data) <= LIMIT:
        return outcome
    left_out = len(data) - _HEAD - _TAIL
    try:
        where = f"read_file can read on at path=blob:{await blobs.put(data)}"
    except OSError as error:
        where = f"the rest could not be kept: {error.strerror}"
    head = data[:_HEAD].decode("utf-8", "ignore")
    tail = data[-_TAIL:].decode("utf-8", "ignore")
    return replace(outcome, content=f"{head}\n[{left_out} bytes left out; {where}]\n{tail}")
