"""Server-sent events from bytes, however the bytes were cut."""

from dataclasses import dataclass

from turnbuckle.model.limits import EVENT_LIMIT, STREAM_LIMIT, TooLarge

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event: `name` is `message`, `error`, or whatever the server called it."""

    name: str
    data: str


class SseParser:
    """Reads a stream piece by piece, in time that grows with its length alone.

    A line ends at LF, CRLF or CR and at nothing else, and an event is decoded as a whole, so
    neither a cut nor a character that other parsers take for a line end can harm a text. A field
    `error` makes an event `error`: some servers report failures so. Without data there is no event.
    """

    def __init__(self, limit: int = EVENT_LIMIT, total: int = STREAM_LIMIT) -> None:
        self._limit = limit
        self._total = total
        self._size = 0
        # Flat, so that they take no more than what came, however small its pieces are.
        self._line = bytearray()
        self._data = bytearray()  # with a line end after each line
        self._name = b""
        self._after_cr = False
        self._first = True

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that these bytes complete.

        Raises:
            TooLarge: an event, or all of them together, are larger than the limit.
        """
        events: list[SseEvent] = []
        if not data:
            return events
        self._size += len(data)
        if self._size > self._total:
            raise TooLarge(f"the answer is larger than {self._total} bytes")
        if (whole := self._whole(data)) is not None:
            return [whole]
        # A CR ends its line at once; the LF of a CRLF may come with the next piece.
        ends_with_cr = data.endswith(b"\r")
        if self._after_cr:
            data = data.removeprefix(b"\n")
        self._after_cr = ends_with_cr
        # For bytes, splitlines knows only LF, CRLF and CR.
        for piece in data.splitlines(keepends=True):
            line = piece.rstrip(b"\r\n")
            self._line += line
            if len(self._line) + len(self._data) > self._limit:
                raise TooLarge(f"an event is larger than {self._limit} bytes")
            if len(line) < len(piece):
                self._end_line(events)
        return events

    def _whole(self, data: bytes) -> SseEvent | None:
        """The event that these bytes are, if they are just one: so it is nearly always."""
        fresh = not (self._line or self._data or self._name or self._after_cr or self._first)
        if not (fresh and data.startswith(b"data: {") and data.endswith(b"}\n\n")):
            return None
        if b"\r" in data or data.find(b"\n") < len(data) - 2 or len(data) > self._limit:
            return None
        return SseEvent("message", data[6:-2].decode(errors="replace"))

    def close(self) -> list[SseEvent]:
        """The last event, where the stream ended without the blank line after it."""
        events: list[SseEvent] = []
        self._end_line(events)
        self._dispatch(events)
        return events

    def _end_line(self, events: list[SseEvent]) -> None:
        line = bytes(self._line)
        self._line.clear()
        if self._first:
            self._first = False
            line = line.removeprefix(_BOM)
        if line:
            self._field(line)
        else:
            self._dispatch(events)

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data" | b"error":
                self._data += value + b"\n"
                if name == b"error":
                    self._name = name
            case b"event":
                self._name = value
            case _:
                pass  # a comment (no name), id, retry, or a field that nobody knows

    def _dispatch(self, events: list[SseEvent]) -> None:
        data = self._data[:-1].decode(errors="replace")
        name = self._name.decode(errors="replace") or "message"
        self._data.clear()
        self._name = b""
        if data.strip():
            events.append(SseEvent(name, data))
