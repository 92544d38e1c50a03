"""One word of a command line: what it is once quotes and backslashes are taken away."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_SPECIAL = re.compile(r"[*?\[\]~]")
_EXPANDS = re.compile(r"(?<!\\)(?:\\\\)*[$`]")


@dataclass(frozen=True, slots=True)
class Word:
    """A word; where it is not `literal`, the shell may make other words of it (`*.py`, `~`)."""

    text: str
    literal: bool


def word_of(node: Node) -> Word | None:
    """The word that a node of the grammar is; None if its value is not known before it runs."""
    text = (node.text or b"").decode("utf-8", "replace")
    match node.type:
        case "command_name" if len(node.children) == 1:
            return word_of(node.children[0])
        case "word" | "number":
            return _bare(text)
        case "raw_string" if len(text) > 1 and text[0] == text[-1] == "'":
            return Word(text[1:-1], literal=True)
        case "string":
            return _quoted(node, text)
        case "concatenation":
            return _joined(node)
        case _:
            return None


def _bare(text: str) -> Word | None:
    if "$" in text or "`" in text or "\n" in text:
        return None
    outside = re.sub(r"\\.", "", text)
    if outside.endswith("\\") or any(character in outside for character in "\"'{}"):
        return None
    return Word(re.sub(r"\\(.)", r"\1", text), literal=_SPECIAL.search(outside) is None)


def _quoted(node: Node, text: str) -> Word | None:
    # The text itself is read: the grammar leaves white space out of its pieces.
    inner = text[1:-1]
    whole = len(text) > 1 and text[0] == text[-1] == '"'
    if not whole or any(child.type not in ('"', "string_content") for child in node.children):
        return None
    if _EXPANDS.search(inner):
        return None
    return Word(re.sub(r'\\([$`"\\])', r"\1", inner), literal=True)


def _joined(node: Node) -> Word | None:
    text, literal, at = "", True, node.start_byte
    for child in node.children:
        word = word_of(child)
        if word is None or child.start_byte != at:
            return None
        text, literal, at = text + word.text, literal and word.literal, child.end_byte
    return Word(text, literal=literal)
