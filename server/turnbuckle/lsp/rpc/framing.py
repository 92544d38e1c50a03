"""Frames of the wire: bytes in any pieces → message bodies, and back; pure and incremental."""

import re
from collections.abc import Iterator

from turnbuckle.lsp.rpc.errors import INVALID_REQUEST, PARSE_ERROR

MAX_BODY = 64 * 1024 * 1024
"""The largest body that is taken, in bytes."""

MAX_HEADER = 16 * 1024
"""The longest header that is taken, in bytes."""

_BLANK_LINE = re.compile(rb"\n\r?\n")


class BadFrame(Exception):
    """The stream is out of step and cannot be read on; `code` is that of the last answer."""

    def __init__(self, message: str, code: int = PARSE_ERROR) -> None:
        super().__init__(message)
        self.code = code


def frame(body: bytes) -> bytes:
    """A body with its header; the length is in bytes."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Frames:
    """Cuts a stream of bytes into bodies, however the bytes arrive.

    `max_body` is how many bytes the next one may have.
    """

    def __init__(self, max_body: int = MAX_BODY) -> None:
        self.max_body = max_body
        self._buffer = bytearray()
        self._scanned = 0
        self._length: int | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take the next bytes and yield each body that is complete now.

        Raises:
            BadFrame: a header is broken or a body too large; nothing can be read after it.
        """
        self._buffer += data
        while (body := self._body()) is not None:
            yield body

    def _body(self) -> bytes | None:
        if self._length is None:
            self._length = self._header()
        if self._length is None or len(self._buffer) < self._length:
            return None
        body = bytes(memoryview(self._buffer)[: self._length])
        del self._buffer[: self._length]
        self._length = None
        return body

    def _header(self) -> int | None:
        """Take a whole header away and give the length it names; None while it is not whole."""
        while self._buffer.startswith((b"\r", b"\n")):  # some clients end a body with a line end
            del self._buffer[:1]
        end = _end_of_header(self._buffer, self._scanned)
        if (end or len(self._buffer)) > MAX_HEADER:
            raise BadFrame(f"no end of the header within {MAX_HEADER} bytes")
        if end is None:
            self._scanned = max(0, len(self._buffer) - 3)
            return None
        header = bytes(self._buffer[:end])
        del self._buffer[:end]
        self._scanned = 0
        return self._checked(_content_length(header))

    def _checked(self, length: int) -> int:
        if length > self.max_body:
            raise BadFrame(f"a message is limited to {self.max_body} bytes", INVALID_REQUEST)
        return length


def _end_of_header(buffer: bytearray, start: int) -> int | None:
    found = _BLANK_LINE.search(buffer, start)
    return found.end() if found else None


def _content_length(header: bytes) -> int:
    lengths = set()
    for line in header.splitlines():
        name, colon, value = line.partition(b":")
        if not colon and line:
            raise BadFrame("a header line is not `name: value`; is something else on this stream?")
        if name.strip().lower() == b"content-length":
            lengths.add(value.strip())
    if len(lengths) != 1:
        raise BadFrame("the header must give one Content-Length")
    (length,) = lengths
    # `isdigit` of bytes is ASCII only, so that no sign, underscore or other script passes.
    if not length.isdigit() or len(length) > 18:
        raise BadFrame("Content-Length must be a number of bytes")
    return int(length)
