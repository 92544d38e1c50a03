"""Positions and edits of a text in the naive way, to hold against the ones of the product."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

Unit: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]
Edit: TypeAlias = tuple[tuple[int, int], tuple[int, int], str]
"""Start and end as (line, character), and the new text."""

_CODEC = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def offset_at(text: str, position: tuple[int, int], unit: Unit) -> int:
    """The offset of a position, found by walking; clamped as the protocol says."""
    line, character = position
    offset = 0
    for _ in range(line):
        while offset < len(text) and text[offset] not in "\r\n":
            offset += 1
        if offset == len(text):
            return offset
        offset += 2 if text[offset : offset + 2] == "\r\n" else 1
    units = 0
    while offset < len(text) and text[offset] not in "\r\n":
        units += units_of(text[offset], unit)
        if units > character:
            break
        offset += 1
    return offset


def position_at(text: str, offset: int, unit: Unit) -> tuple[int, int]:
    r"""The position of an offset that does not lie inside of `\r\n`."""
    line = start = 0
    for index, character in enumerate(text[:offset]):
        if character == "\n" or (character == "\r" and text[index + 1 : index + 2] != "\n"):
            line, start = line + 1, index + 1
    return line, units_of(text[start:offset], unit)


def units_of(text: str, unit: Unit) -> int:
    """The length of a text in units of a position encoding."""
    codec, size = _CODEC[unit]
    return len(text.encode(codec)) // size


def edited(text: str, edit: Edit, unit: Unit) -> str:
    """The text after one edit; ends in the wrong order are swapped."""
    first, last, new = edit
    start, end = sorted((offset_at(text, first, unit), offset_at(text, last, unit)))
    return text[:start] + new + text[end:]


def edited_at_once(text: str, edits: Iterable[Edit], unit: Unit) -> str:
    """The text after edits that are all made for the text as it is, and do not overlap."""
    for edit in sorted(edits, key=lambda edit: edit[:2], reverse=True):
        text = edited(text, edit, unit)
    return text
