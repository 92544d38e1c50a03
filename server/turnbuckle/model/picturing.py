"""Pictures as parts of a message, and in words where they cannot be sent."""

from base64 import b64encode
from collections.abc import Iterable

import orjson
from anyio import to_thread

from turnbuckle.session.blobs import Blobs
from turnbuckle.session.parts import Image

_NOT_TAKEN = "it is left out, since you take no images; say so to the person"
_NOT_KEPT = "it is missing, since its file is gone; say so to the person"


async def encoded(images: Iterable[Image], blobs: Blobs | None) -> dict[str, bytes]:
    """The bytes of pictures in base64, by digest, as far as they are there."""
    found: dict[str, bytes] = {}
    for image in images:
        data = await blobs.get(image.digest) if blobs else None
        if data is not None:
            found[image.digest] = await to_thread.run_sync(b64encode, data)
    return found


def shown(content: str, image: Image, data: bytes | None) -> bytes:
    """A picture after what is said of it, as the JSON of a message; `data` in base64."""
    if data is None:
        return _in_words(content, _NOT_KEPT)
    text = orjson.dumps({"type": "text", "text": content})
    kind = image.mime_type.encode()
    # Put together here: nobody looks through so many bytes for what would have to be escaped.
    url = b'{"type":"image_url","image_url":{"url":"data:%b;base64,%b"}}' % (kind, data)
    return b'{"role":"user","content":[%b,%b]}' % (text, url)


def told(content: str) -> bytes:
    """The same for a model that takes no pictures."""
    return _in_words(content, _NOT_TAKEN)


def _in_words(content: str, why: str) -> bytes:
    return orjson.dumps({"role": "user", "content": f"{content} [{why}]"})
