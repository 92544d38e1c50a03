"""Pictures that come with a message: checked, and on disk before a fact names them."""

import re
from base64 import b64decode
from collections.abc import Iterable, Mapping

from anyio import to_thread

from turnbuckle.agent.sessions import OpenSession
from turnbuckle.lsp.protocol import ImagePart
from turnbuckle.lsp.rpc import INVALID_PARAMS, Refused
from turnbuckle.session.events import InboxAdded
from turnbuckle.session.parts import Context, Image

LIMIT = 5 * 1024 * 1024
"""Bytes that a picture may have: providers take no larger ones."""

MOST = 20
"""Pictures that a message may have."""

_BEGINNINGS = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
}


async def kept(opened: OpenSession, parts: Iterable[ImagePart]) -> tuple[Context, ...]:
    """The pictures as facts name them, each on disk when this returns.

    Raises:
        Refused: one is no picture of its type, is too large, is not known, or cannot be kept.
    """
    pictures = tuple(parts)
    if len(pictures) > MOST:
        raise Refused(f"input: a message has at most {MOST} images", code=INVALID_PARAMS)
    shown = _shown_in(opened) if any(one.digest for one in pictures) else {}
    images = [await _image(opened, one, shown) for one in pictures]
    return tuple(Context(kind="image", image=image) for image in images)


async def _image(opened: OpenSession, part: ImagePart, shown: Mapping[str, Image]) -> Image:
    if part.data is None or part.mime_type is None:
        image = shown.get(part.digest or "")
        if image is None:
            said = "input: this session was shown no image of that digest"
            raise Refused(said, code=INVALID_PARAMS)
        return image
    data = await to_thread.run_sync(_checked, part.data, part.mime_type)
    try:
        digest = await opened.agent.blobs.put(data)
    except OSError as error:
        said = f"the image could not be kept: {error.strerror or error}"
        raise Refused(said, kind="store", retryable=True) from error
    return Image(digest=digest, mime_type=part.mime_type, size=len(data))


def _checked(text: str, mime_type: str) -> bytes:
    if len(text) > LIMIT * 4 // 3 + 4:
        said = f"input: an image has at most {LIMIT // 1024 // 1024} MiB; make it smaller"
        raise Refused(said, code=INVALID_PARAMS)
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        raise Refused("input: data is not base64", code=INVALID_PARAMS) from None
    if not _BEGINNINGS[mime_type].match(data):
        raise Refused(f"input: the data is not {mime_type}", code=INVALID_PARAMS)
    return data


def _shown_in(opened: OpenSession) -> dict[str, Image]:
    return {
        context.image.digest: context.image
        for entry in opened.session.log.entries
        if isinstance(entry.fact, InboxAdded)
        for context in entry.fact.context
        if context.image
    }
