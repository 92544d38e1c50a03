"""Every setting as a row: for messages about wrong ones, and for the documentation."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from turnbuckle.config.settings import Settings

Key: TypeAlias = tuple[str, ...]
"""A setting's name after the names of the tables it stands in."""

Schema: TypeAlias = dict[str, Any]  # Any: JSON Schema

_TYPES = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text that is not empty",
    "boolean": "true or false",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One setting, or one table: what is right for it, and its default."""

    key: Key
    right: str
    default: object = None
    table: bool = False

    @property
    def name(self) -> str:
        """The key with dots."""
        return ".".join(self.key)


@cache
def rows() -> tuple[Row, ...]:
    """Every setting and every table, in the order of the model."""
    schema = Settings.model_json_schema()
    return tuple(_walk(schema, schema.get("$defs", {}), ()))


def right_for(key: Key) -> str | None:
    """What would be right for a setting, or for one that holds it; None if there is no such one."""
    for length in range(len(key), 0, -1):
        if row := next((row for row in rows() if row.key == key[:length]), None):
            return row.right if length == len(key) or not row.table else None
    return None


def _walk(schema: Schema, definitions: Schema, above: Key) -> Iterator[Row]:
    for name, shape in schema["properties"].items():
        key = (*above, name)
        kind = _bare(shape)
        if "$ref" in kind:
            yield Row(key=key, right="a table", table=True)
            yield from _walk(definitions[kind["$ref"].rpartition("/")[2]], definitions, key)
        else:
            right = shape.get("right") or _right(kind)
            yield Row(key=key, right=right, default=shape.get("default"))


def _bare(shape: Schema) -> Schema:
    """The schema of what may also be absent."""
    for one in shape.get("anyOf", ()):
        if one.get("type") != "null":
            return dict(one)
    return shape


def _right(kind: Schema) -> str:
    right = _TYPES[kind["type"]]
    if "exclusiveMinimum" in kind:
        return f"{right} greater than {kind['exclusiveMinimum']:g}"
    return f"{right}, {kind['minimum']:g} or more" if "minimum" in kind else right
