"""How comments and strings are written, by language: data for finding the one and not the other.

Whatever is not closed ends with its line, or with the text, so that a scan is linear.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

_DOUBLE = r'"(?:[^"\\\r\n]++|\\(?:\r\n|.))*+"?'
_SINGLE = r"'(?:[^'\\\r\n]++|\\(?:\r\n|.))*+'?"
_LETTER = r"'(?:\\[^\r\n']{1,10}|[^'\\\r\n])'"
_DOUBLED = r"'[^'\r\n]*+'?"
_TRIPLE = (
    r'"""(?:[^"\\]++|\\.|"(?!""))*+(?:"""|\Z)',
    r"'''(?:[^'\\]++|\\.|'(?!''))*+(?:'''|\Z)",
)
_TEMPLATE = r"`(?:[^`\\]++|\\.)*+`?"
_RAW = r"`[^`]*+`?"
_LISP = (r'"(?:[^"\\]++|\\.)*+"?', r"\\.")


@dataclass(frozen=True, slots=True)
class Syntax:
    """Marks of comments to the end of a line, pairs of marks around others, regexes of strings."""

    line: tuple[str, ...] = ()
    block: tuple[tuple[str, str], ...] = ()
    strings: tuple[str, ...] = ()

    def regex(self) -> re.Pattern[str]:
        """Matches strings, and comments as the groups `line` and `block`."""
        parts = list(self.strings)
        if self.block:
            parts.append(f"(?P<block>{'|'.join(_block(*pair) for pair in self.block)})")
        if self.line:
            marks = "|".join(_AFTER.get(mark, "") + re.escape(mark) for mark in self.line)
            parts.append(rf"(?P<line>(?:{marks})[^\r\n]*+)")
        return re.compile("|".join(parts), re.DOTALL)


_AFTER = {"#": r"(?<!\S)", ";": r"(?<!\S)", "//": "(?<!:)", "%": r"(?<!\\)"}
"""Where a mark is one: `$#` begins no comment, and `http://` neither."""


def _block(opening: str, closing: str) -> str:
    return rf"{re.escape(opening)}.*?(?:{re.escape(closing)}|\Z)"


_STAR, _MARKUP = (("/*", "*/"),), (("<!--", "-->"),)
_HASH = Syntax(("#",), (), (_DOUBLE, _SINGLE))
_PYTHON = Syntax(("#",), (), (*_TRIPLE, _DOUBLE, _SINGLE))
_C = Syntax(("//",), _STAR, (_DOUBLE, _LETTER))
_SCRIPT = Syntax(("//",), _STAR, (_DOUBLE, _SINGLE, _TEMPLATE))
_STYLE = Syntax((), _STAR, (_DOUBLE, _SINGLE))
_XML = Syntax((), _MARKUP)
_PAGE = Syntax((), (*_MARKUP, *_STAR))

_BY_LANGUAGE: tuple[tuple[str, Syntax], ...] = (
    ("python cython starlark bazel toml gdscript nim", _PYTHON),
    ("julia", Syntax(("#",), (("#=", "=#"),), (*_TRIPLE, _DOUBLE))),
    ("elixir crystal", Syntax(("#",), (), (*_TRIPLE, _DOUBLE, _SINGLE))),
    ("shellscript sh bash zsh fish ruby perl yaml r make makefile dockerfile cmake tcl awk", _HASH),
    ("properties gitignore ignore graphql nginx puppet just meson nu", _HASH),
    ("powershell", Syntax(("#",), (("<#", "#>"),), (_DOUBLE, _DOUBLED))),
    ("nix", Syntax(("#",), _STAR, (_DOUBLE,))),
    ("terraform hcl tf", Syntax(("#", "//"), _STAR, (_DOUBLE,))),
    ("php", Syntax(("#", "//"), (*_MARKUP, *_STAR), (_DOUBLE, _SINGLE))),
    ("c cpp csharp cs java rust zig objective-c objective-cpp cuda-cpp cuda d vala glsl hlsl", _C),
    ("wgsl proto proto3 solidity systemverilog verilog fsharp haxe jsonc odin v", _C),
    ("swift kotlin scala", Syntax(("//",), _STAR, (_TRIPLE[0], _DOUBLE, _LETTER))),
    ("go", Syntax(("//",), _STAR, (_DOUBLE, _LETTER, _RAW))),
    ("javascript javascriptreact typescript typescriptreact jsx tsx json5 js ts", _SCRIPT),
    ("dart groovy", Syntax(("//",), _STAR, (*_TRIPLE, _DOUBLE, _SINGLE))),
    ("scss less sass stylus", Syntax(("//",), _STAR, (_DOUBLE, _SINGLE))),
    ("css", _STYLE),
    ("html xml xsl svg markdown gfm dtd", _XML),
    ("vue svelte astro handlebars razor twig erb eruby jinja django-html", _PAGE),
    ("lua luau", Syntax(("--",), (("--[[", "]]"),), (_DOUBLE, _SINGLE))),
    ("sql plsql mysql", Syntax(("--",), _STAR, (_DOUBLE, _DOUBLED))),
    ("haskell elm purescript lhaskell", Syntax(("--",), (("{-", "-}"),), (_DOUBLE, _LETTER))),
    ("ada vhdl", Syntax(("--",), (), (_DOUBLE,))),
    ("lisp commonlisp common-lisp emacs-lisp elisp scheme racket", Syntax((";",), (), _LISP)),
    ("lisp-interaction clojure fennel janet", Syntax((";",), (), _LISP)),
    ("ini dosini conf editorconfig asm nasm", Syntax((";", "#"), (), ())),
    ("latex tex bibtex plaintex prolog", Syntax(("%",), (), ())),
    ("erlang matlab octave", Syntax(("%",), (), (_DOUBLE,))),
    ("ocaml", Syntax((), (("(*", "*)"),), (_DOUBLE, _LETTER))),
    ("pascal", Syntax(("//",), (("(*", "*)"), ("{", "}")), (_DOUBLED,))),
    ("vb vbnet bas vba", Syntax(("'",), (), (_DOUBLE,))),
    ("vim", Syntax(('"',), (), ())),
    ("fortran fortran90 f90", Syntax(("!",), (), (_DOUBLE, _DOUBLED))),
)

LINES = re.compile(
    r"^[ \t]*+(?:(?P<block>/\*.*?(?:\*/|\Z)|<!--.*?(?:-->|\Z))"
    r"|(?P<line>(?:#|//|--|;|%)[^\r\n]*+))",
    re.DOTALL | re.MULTILINE,
)
"""In a language that is not known, a comment is what begins its line with a usual mark."""

CLOSING = tuple(
    sorted({close for _, syntax in _BY_LANGUAGE for _, close in syntax.block}, key=len)[::-1]
)
"""What ends a comment, longest first."""


def _named(rows: Iterable[tuple[str, Syntax]]) -> dict[str, Syntax]:
    return {name: syntax for names, syntax in rows for name in names.split()}


_NAMED = _named(_BY_LANGUAGE)


@lru_cache(maxsize=64)  # as many languages as are edited at a time
def regex_of(language: str) -> re.Pattern[str]:
    """What finds the comments of a language, named as in `didOpen`: its groups `line`, `block`."""
    syntax = _NAMED.get(language.casefold())
    return LINES if syntax is None else syntax.regex()
