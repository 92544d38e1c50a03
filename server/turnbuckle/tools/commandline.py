"""What a command line runs, read with the grammar of bash.

Two questions are asked, and they lean to different sides. `simple_commands` reads only what is
plain, so that nothing is allowed that was not understood; `every_command` finds whatever may be a
command anywhere, so that nothing is overlooked that is forbidden.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from turnbuckle.tools.words import Word, word_of

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

Words: TypeAlias = tuple[Word, ...]
"""A simple command: the program, and its arguments."""

LONGEST = 16 * 1024
"""Bytes of a line that is looked at; a longer one is not understood."""

REACH = 256
"""Words that are looked at where any word may begin a command."""

_PLAIN = frozenset({
    "program", "list", "pipeline", "command", "command_name", "redirected_statement",
    "word", "number", "string", "string_content", "raw_string", "concatenation",
    "&&", "||", ";", "|", '"', "\n",
})  # fmt: skip
"""What a line may be made of to be understood; `|&` is not there, as `sh` reads it otherwise."""

_DUPLICATE = re.compile(r"[0-9]?>&[0-9]")
"""A redirection that touches no file."""

_REDIRECTS = ("file_redirect", "herestring_redirect")
_RUNS = ("command", "declaration_command", "unset_command", *_REDIRECTS)
_LOOSE = re.compile(r"[\s;&|()<>`{}$]+")


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in a line.

    `loose` is every place where a command may begin, if the grammar does not say. `lines` are
    other lines in it that run, `texts` what runs if a shell gets it to read.
    """

    commands: tuple[Words, ...]
    loose: tuple[Words, ...]
    lines: tuple[str, ...]
    texts: tuple[str, ...]


def simple_commands(line: str) -> tuple[Words, ...] | None:
    """The simple commands that a line runs; None unless every bit of it is understood.

    Understood are words and quotes, put together with `;`, `&&`, `||`, `|` and new lines. A second
    reading, which knows nothing of the grammar, has to come to the same words.
    """
    source = line.encode("utf-8", "replace")
    readable = all(c.isprintable() or c in "\t\n" for c in line) and "\\\n" not in line
    if len(source) > LONGEST or not readable:
        return None
    root = _parser().parse(source).root_node
    nodes = list(_nodes(root, opaque="file_redirect"))
    if root.has_error or not all(_is_plain(node) for node in nodes):
        return None
    commands: list[Words] = []
    rest = bytearray(source)
    for node in nodes:
        if node.type == "file_redirect":
            rest[node.start_byte : node.end_byte] = b" " * (node.end_byte - node.start_byte)
        elif node.type == "command":
            words = tuple(word for child in node.children if (word := word_of(child)))
            if len(words) != len(node.children):
                return None
            commands.append(words)
    again = _second_reading(rest.decode("utf-8", "replace"))
    if again != [[word.text for word in words] for words in commands]:
        return None
    return tuple(commands) or None


def _is_plain(node: Node) -> bool:
    if node.type == "file_redirect":
        return _DUPLICATE.fullmatch(_text(node)) is not None
    return node.type in _PLAIN


def every_command(line: str) -> Found:
    """All that may be a simple command in a line, also where the line is broken or nested."""
    root = _parser().parse(line.encode("utf-8", "replace")).root_node
    commands: list[Words] = []
    texts: list[str] = []
    lines = [line.replace("\\\n", "")] if "\\\n" in line else []
    for node in _nodes(root):
        text = _text(node)
        if node.type in ("heredoc_body", "variable_assignment"):
            texts.append(text)
        elif node.type == "command_substitution" and "\\`" in text:
            lines.append(re.sub(r"\\([`\\$])", r"\1", text.strip("`")))
        elif node.type == "test_command":
            lines += _indexes(node)
        elif node.type in _RUNS:
            words = _loose_words(node)
            # The grammar puts words into a redirection that follow its file and are the command's.
            commands += [words, words[1:]] if node.type in _REDIRECTS else [words]
            texts += [word.text for word in words if word.literal]
    unsure = root.has_error or any(words and not words[0].literal for words in commands)
    return Found(
        commands=tuple(words for words in commands if words),
        loose=tuple(loose_commands(line)) if unsure else (),
        lines=tuple(lines),
        texts=tuple(texts),
    )


def _indexes(node: Node) -> Iterator[str]:
    """What in a test may be the name of a variable with an index, in which commands may stand."""
    for child in _nodes(node):
        word = word_of(child)
        if word is not None and "[" in word.text and child is not node:
            yield word.text


def loose_commands(line: str) -> Iterator[Words]:
    """Each word of a line, taken for the beginning of a command: for what has no grammar."""
    bare = line.replace("\\\n", "").translate(dict.fromkeys(map(ord, "\"'\\^")))
    words = tuple(Word(text, literal=True) for text in _LOOSE.split(bare) if text)
    for start, word in enumerate(words):
        yield words[start : start + REACH]
        if value := word.text.partition("=")[2]:
            yield (Word(value, literal=True), *words[start + 1 : start + REACH])


def _nodes(root: Node, opaque: str = "") -> Iterator[Node]:
    """A tree in the order of its text, without recursion: lines nest as deep as they like.

    What is in nodes of the type `opaque` is left out.
    """
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if node.type != opaque:
            waiting += reversed(node.children)


def _loose_words(node: Node) -> Words:
    """The words of a command, a star for what is not known."""
    found: list[Word] = []
    for child in node.children:
        if child.type == "variable_assignment" or child.type in _REDIRECTS:
            continue
        if child.is_named or node.type.endswith("_command"):
            found.append(word_of(child) or Word(_guess(child), literal=False))
    return tuple(found)


def _guess(node: Node) -> str:
    """A pattern of what a word may become: what is literal in it, stars for the rest."""
    if node.type in ("command_name", "concatenation", "string"):
        inner = [child for child in node.children if child.type != '"']
        return "".join(word.text if (word := word_of(child)) else _guess(child) for child in inner)
    if node.type == "ansi_c_string":
        return _text(node)[2:-1].encode("latin-1", "replace").decode("unicode_escape", "replace")
    return _text(node) if node.type == "string_content" else "*"


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _second_reading(line: str) -> list[list[str]] | None:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";|&\n<>()")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t", True, ""
    commands: list[list[str]] = [[]]
    try:
        for token in lexer:
            if token and not token.strip(";|&\n<>()"):
                commands.append([])
            else:
                commands[-1].append(token)
    except ValueError:
        return None
    return [words for words in commands if words]


@cache
def _parser() -> Parser:
    # Imported late: it is needed only once a command is judged.
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))
