"""Bodies that a server compressed though nobody asked for it, unpacked a bite at a time."""

import zlib
from collections.abc import AsyncIterator, Iterator

import httpx
from anyio.lowlevel import checkpoint

from turnbuckle.model.limits import BITE

_PLAIN = ("", "identity")
_PACKED = ("gzip", "x-gzip", "deflate")
_EITHER = zlib.MAX_WBITS | 32  # the header tells whether it is gzip or zlib
_GZIP = b"\x1f\x8b"


async def pieces_of(response: httpx.Response) -> AsyncIterator[bytes]:
    """The body as it comes, in pieces of a bounded size whatever it unpacks to.

    Raises:
        httpx.DecodingError: it cannot be unpacked.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in _PLAIN and encoding not in _PACKED:
        raise httpx.DecodingError(f"compressed as {encoding[:40]}, which nobody asked for")
    inflating = Inflating() if encoding in _PACKED else None
    async for data in response.aiter_raw():
        if inflating is None:
            yield data
            continue
        for piece in inflating.feed(data):
            yield piece
            await checkpoint()  # a small piece may unpack to very much


class Inflating:
    """Unpacks gzip and deflate; where gzip follows gzip, all of it."""

    def __init__(self, bite: int = BITE) -> None:
        self._bite = bite
        self._begun = False
        self._unpack = zlib.decompressobj(_EITHER)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What these bytes unpack to, at most a bite in each piece.

        Raises:
            httpx.DecodingError: they are not what they should be.
        """
        more = bool(data)
        while more:
            if self._unpack.eof:
                if not data.startswith(_GZIP[: len(data)]):
                    return  # what pads a body means nothing
                self._begun = False
                self._unpack = zlib.decompressobj(_EITHER)
            try:
                piece = self._some(data)
            except zlib.error as error:
                raise httpx.DecodingError("not compressed as it says") from error
            if piece:
                yield piece
            data = self._unpack.unconsumed_tail or self._unpack.unused_data
            # A whole bite may leave something behind, though all was taken in.
            more = bool(data) or len(piece) == self._bite

    def _some(self, data: bytes) -> bytes:
        try:
            piece = self._unpack.decompress(data, self._bite)
        except zlib.error:
            if self._begun:
                raise
            # Some servers call that deflate which has no header at all.
            self._unpack = zlib.decompressobj(-zlib.MAX_WBITS)
            piece = self._unpack.decompress(data, self._bite)
        self._begun = True
        return piece
