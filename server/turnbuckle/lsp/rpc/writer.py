"""The way out of a connection: never waits, never grows without bound, urgent frames first."""

from collections import deque
from dataclasses import dataclass, field

import anyio
import anyio.lowlevel

from turnbuckle.lsp.rpc.streams import PeerGone, Sink

MAX_BACKLOG = 64 * 1024 * 1024
"""How many bytes of control frames may wait for the peer before it counts as gone."""

FULL, ROOMY = 8 * 1024 * 1024, 4 * 1024 * 1024
"""Bytes of control frames that wait above which nothing more is taken on, and up to which again."""

BATCH = 256 * 1024
"""About how many bytes of control frames are handed over at once."""


@dataclass(eq=False, slots=True)
class _Text:
    frame: bytes
    over: anyio.Event = field(default_factory=anyio.Event)


class Writer:
    """Writes frames to a sink, whole, and in two classes.

    *Control* frames (answers, requests, notifications) are posted at any time and go first. *Text*
    frames are sent by those who wait for each, so that of a sender at most one is held here.
    """

    def __init__(self, sink: Sink, max_backlog: int = MAX_BACKLOG) -> None:
        self._sink = sink
        self._max_backlog = max_backlog
        self._control: deque[bytes] = deque()
        self._texts: deque[_Text] = deque()
        self._now: _Text | None = None
        # While the sink is free, nothing waits here: all of it was handed over.
        self._free = True
        self._filled = anyio.Event()
        self._emptied = anyio.Event()
        self.backlog = 0
        self.gone = False

    def post(self, frame: bytes) -> None:
        """Send a control frame; to a peer that is gone it is dropped."""
        if self.gone:
            return
        self._control.append(frame)
        self.backlog += len(frame)
        if self._free:
            self._hand_over()
        elif self.backlog > self._max_backlog:
            self.lose()

    async def text(self, frame: bytes) -> None:
        """Send a text frame and return when the system has taken it.

        Raises:
            PeerGone: nobody will read it.
        """
        text = _Text(frame)
        self._texts.append(text)
        if self._free and not self.gone:
            self._hand_over()
        try:
            if self.gone or text.over.is_set():
                # So that one sender cannot keep the loop to itself.
                await anyio.lowlevel.checkpoint()
            else:
                await text.over.wait()
        finally:
            # Cancelled: it is not sent, unless its first bytes are out already.
            if text in self._texts:
                self._texts.remove(text)
        if self.gone:
            raise PeerGone

    @property
    def free(self) -> bool:
        """Whether what is sent now goes to the system at once, before anything else."""
        return self._free and not self.gone

    def offer(self, frame: bytes) -> None:
        """Send a text frame while the way is `free`; nobody waits for it."""
        self._texts.append(_Text(frame))
        self._hand_over()

    async def room(self) -> None:
        """Return at once unless too much waits for the peer; then when less does, or it is gone.

        For one who waits at a time.
        """
        if self.backlog > FULL:
            self._emptied = anyio.Event()
            await self._emptied.wait()

    async def run(self) -> None:
        """Go on writing whenever the sink has room again; returns when the peer is gone."""
        while not self.gone:
            await self._filled.wait()
            self._filled = anyio.Event()
            try:
                while not self._free and not self.gone:
                    await self._sink.drained()
                    self._end_text()
                    self._hand_over()
            except PeerGone:
                self.lose()

    async def flush(self) -> None:
        """Wait until everything that was posted is taken, or the peer is gone."""
        try:
            await self.text(b"")
        except PeerGone:
            return

    def lose(self) -> None:
        """The peer is gone, or treated so: drop everything and wake whoever waits."""
        self.gone = True
        self._control.clear()
        self.backlog = 0
        self._end_text()
        for text in self._texts:
            text.over.set()
        self._sink.close()
        self._filled.set()
        self._emptied.set()

    def _hand_over(self) -> None:
        try:
            self._free = True
            while self._free and (data := self._next()) is not None:
                self._free = self._sink.write(data)
                if self._free:
                    self._end_text()
        except PeerGone:
            self.lose()
        if not self._free:
            self._filled.set()

    def _next(self) -> bytes | None:
        if not self._control:
            self._now = self._texts.popleft() if self._texts else None
            return self._now.frame if self._now is not None else None
        frames: list[bytes] = []
        size = 0
        while self._control and size < BATCH:
            frames.append(self._control.popleft())
            size += len(frames[-1])
        self.backlog -= size
        if self.backlog <= ROOMY:
            self._emptied.set()
        return b"".join(frames)

    def _end_text(self) -> None:
        if self._now is not None:
            self._now.over.set()
            self._now = None
