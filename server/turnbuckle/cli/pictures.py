"""Picture files that go along with a prompt."""

from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path

import typer

from turnbuckle.lsp.protocol import ImagePart

_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}


def pictures(paths: Iterable[Path]) -> tuple[ImagePart, ...]:
    """The files as parts of a message.

    Raises:
        BadParameter: one is no picture by its name, or cannot be read.
    """
    return tuple(map(_picture, paths))


def _picture(path: Path) -> ImagePart:
    if (mime_type := _TYPES.get(path.suffix.lower())) is None:
        said = f"{path.name} is no picture: {', '.join(_TYPES)} can be shown"
        raise typer.BadParameter(said, param_hint="--image")
    try:
        data = b64encode(path.read_bytes()).decode()
    except OSError as error:
        said = f"{path.name} cannot be read: {error.strerror}"
        raise typer.BadParameter(said, param_hint="--image") from error
    return ImagePart.model_validate({"type": "image", "mimeType": mime_type, "data": data})
