"""JSON of a message's body, both ways: nothing a peer sends can do more than fail to parse."""

import json
import re
from collections.abc import Callable

import orjson

Default = Callable[[object], object]

_ESCAPES = re.compile(
    rb"\\(?:u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair: one character
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})"  # half of one
    rb"|.)",  # any other, so that an escaped backslash is not taken for the start of one
    re.DOTALL,
)


def decode(body: bytes) -> object:
    """The JSON value of a body; half a character (a lone surrogate escape) becomes U+FFFD.

    Raises:
        ValueError: it is not JSON in UTF-8, is nested too deeply, or has a number out of range.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        if (cleaned := _whole(body)) == body:
            raise
        return orjson.loads(cleaned)


def encode(value: object, default: Default) -> bytes:
    """Compact JSON; `default` makes plain what is not.

    Raises:
        TypeError, ValueError: something in it is not JSON.
    """
    try:
        return orjson.dumps(value, default, orjson.OPT_PASSTHROUGH_DATACLASS)
    except TypeError:
        # Names of files may hold lone surrogates, and orjson refuses them.
        text = json.dumps(value, default=default, allow_nan=False, separators=(",", ":"))
        return _whole(text.encode("ascii"))


def _whole(body: bytes) -> bytes:
    return _ESCAPES.sub(lambda found: rb"\ufffd" if found[1] else found[0], body)
