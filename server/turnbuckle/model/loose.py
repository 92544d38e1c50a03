"""JSON as servers really send it: what a strict reader refuses is read, if it is JSON at all."""

import json
from typing import cast

import orjson


def read(text: str) -> object:
    """The value, or None if it is no JSON."""
    try:
        return cast("object", orjson.loads(text))
    except orjson.JSONDecodeError:
        pass
    try:
        # Slower, but it knows what orjson refuses: half a surrogate pair, NaN.
        return cast("object", json.loads(text))
    except (ValueError, RecursionError):
        return None


def write(value: object) -> str:
    """The compact JSON of a value that was read; one that is nested too deep says so instead."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return '"(nested too deep)"'
