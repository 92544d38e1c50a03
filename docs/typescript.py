"""The types of the wire for TypeScript, made from the JSON Schema of docs/generate.py."""

from collections.abc import Iterable
from typing import Any

Schema = dict[str, Any]  # Any: JSON Schema

_HEAD = """\
// The types of the wire, made by docs/generate.py from the types of the server. Do not edit.
"""


def module(made: Schema) -> str:
    """Interfaces for every shape, and tables of requests, commands and facts by their names."""
    parts = [_HEAD]
    parts += [_interface(name, shape) for name, shape in made["$defs"].items()]
    for title, kind in (("Requests", "requests"), ("Asked", "asked"), ("Commands", "commands")):
        rows = (
            f"{{ params: {_type(pair['params'])}; result: {_type(pair['result'])} }}"
            for pair in made[kind].values()
        )
        parts.append(_table(title, zip(made[kind], rows, strict=True)))
    facts = ((tag, _type(ref)) for tag, ref in made["facts"].items() if "*" not in tag)
    parts.append(_table("Facts", facts))
    parts.append(
        "/** A fact as it travels: `seq` counts from 0, `time` is in milliseconds since 1970. */\n"
        "export type Fact = {\n"
        "  [T in keyof Facts]: { seq: number; time: number; type: T; data: Facts[T] };\n"
        "}[keyof Facts];\n"
    )
    return "\n".join(parts)


def _interface(name: str, shape: Schema) -> str:
    said = _comment(shape.get("description"), "")
    if "properties" not in shape and shape.get("type") != "object":
        return f"{said}export type {name} = {_type(shape)};\n"
    required = shape.get("required", [])
    fields = "".join(
        f"{_comment(kind.get('description'), '  ')}"
        f"  {field}{'' if field in required else '?'}: {_type(kind)};\n"
        for field, kind in shape.get("properties", {}).items()
    )
    return f"{said}export interface {name} {{\n{fields}}}\n"


def _comment(text: str | None, indent: str) -> str:
    if not text:
        return ""
    lines = text.strip().replace("*/", "* /").splitlines()
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    body = "".join(f"{indent} * {line}".rstrip() + "\n" for line in lines)
    return f"{indent}/**\n{body}{indent} */\n"


def _table(name: str, rows: Iterable[tuple[str, str]]) -> str:
    body = "".join(f'  "{key}": {value};\n' for key, value in rows)
    return f"export interface {name} {{\n{body}}}\n"


_PLAIN = {
    "string": "string", "integer": "number", "number": "number", "boolean": "boolean",
    "null": "null",
}  # fmt: skip


def _type(kind: Schema) -> str:
    if "$ref" in kind:
        return str(kind["$ref"]).rpartition("/")[2]
    if either := kind.get("anyOf") or kind.get("oneOf"):
        # What is null on the server is absent on the wire.
        shown = [_type(one) for one in either if one.get("type") != "null"]
        return " | ".join(dict.fromkeys(shown))
    if "const" in kind or "enum" in kind:
        return " | ".join(f'"{value}"' for value in kind.get("enum", [kind.get("const")]))
    if "prefixItems" in kind:
        return f"[{', '.join(_type(one) for one in kind['prefixItems'])}]"
    if kind.get("type") == "array":
        inner = _type(kind.get("items") or {})
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if kind.get("type") == "object":
        more = kind.get("additionalProperties")
        return f"Record<string, {_type(more) if isinstance(more, dict) else 'unknown'}>"
    return _PLAIN.get(str(kind.get("type")), "unknown")
