"""Output as it comes, for who watches: plain, and no more than can be read."""

import re
import time
from codecs import getincrementaldecoder
from collections.abc import Callable
from typing import TypeAlias

from turnbuckle.workspace.process.plain import clean

Show: TypeAlias = Callable[[str], None]
"""Gets pieces of live output; never waits, and may drop them."""

ROOM, WINDOW = 8 * 1024, 0.1
"""At most so many bytes are shown in so many seconds."""

_UNFINISHED = re.compile(r"(?:\r|\x1b|\x1b\[[0-?]*[ -/]*|\x1b[\]PX^_][^\x07\x1b\n]{0,256}\x1b?)\Z")


class Live:
    """Shows pieces of output; what is more than there is room for is dropped."""

    def __init__(self, show: Show, clock: Callable[[], float] = time.monotonic) -> None:
        self._show = show
        self._clock = clock
        self._opened = float("-inf")
        self._room = 0
        self._held = ""
        self._decoder = getincrementaldecoder("utf-8")("backslashreplace")

    def feed(self, data: bytes) -> None:
        """Show these bytes, or as many of them as there is room for now."""
        now = self._clock()
        if now - self._opened >= WINDOW:
            self._opened, self._room = now, ROOM
        text = self._held + self._decoder.decode(data[: self._room])
        if len(data) > self._room:
            self._decoder.reset()
        # What may be cut in two waits for its rest.
        cut = match.start() if (match := _UNFINISHED.search(text)) else len(text)
        self._held = text[cut:]
        shown = clean(text[:cut].replace("\r\n", "\n").replace("\r", "\n"))
        piece = shown.encode()[: self._room].decode("utf-8", "ignore")
        if piece:
            self._room -= len(piece.encode())
            self._show(piece)
