"""Text of others in Markdown: nothing in it is fetched or breaks out of its place."""

import re
from collections.abc import Iterator

_LOADS = re.compile(
    r"(?P<image>!\[)"
    r"|(?P<link>\]\((?!(?!//)[\w./#%-]*\)))"  # any but a relative path
    r"|(?P<name>(?:^|\r)[ \t>*+\-\d.)]*\[(?:[^\]\\]|\\.){1,300}\]:)"
    r"|(?P<tag><(?=[a-z][a-z0-9-]*[\s/:@.+]|[!?/]"
    # What swallows the text after it: of a frame, of a field, of a fold, of what is not shown.
    r"|(?:style|script|pre|xmp|plaintext|textarea|title|template|select|details|summary"
    r"|i?frame|noframes|noembed|noscript|object|table|form|base|svg|math)\b))",
    re.IGNORECASE | re.MULTILINE,
)
"""What a Markdown viewer may fetch, or show under another name than its own."""

_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}(?=[^`]*$)|~{3,})[ \t]*(?P<info>.*)")
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_RUN = re.compile(r"`+")
_UNSEEN = dict.fromkeys(range(0xE0000, 0xE0080))
"""What others may take out of a text later, so that what stood around it comes together."""


def plain(text: str) -> str:
    """Markdown without pictures, remote links and HTML that does more than mark: spelt out."""

    def spelt(found: re.Match[str]) -> str:
        match found.lastgroup:
            case "image":
                return "!\\["
            case "link":
                return "]\\("
            case "tag":
                return "&lt;"
            case _:
                # What looks like a name may hold all the others.
                before, _, inner = found[0].partition("[")
                return f"{before}\\[{_LOADS.sub(spelt, inner)}"

    return _LOADS.sub(spelt, text)


def prose(text: str) -> str:
    """Markdown as in `plain`, but with blocks of code as they are, each closed where it ends."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    parts = (fenced(part, info) if info is not None else plain(part) for part, info in _parts(text))
    return "\n\n".join(part for part in parts if part.strip())


def _parts(text: str) -> Iterator[tuple[str, str | None]]:
    """Pieces in order: what is no block of code, without info, and what is one, with it."""
    rows: list[str] = []
    mark, info = "", None
    for row in text.split("\n"):
        found = _FENCE.fullmatch(row)
        if info is None and found:
            yield "\n".join(rows), None
            mark, info, rows = found["mark"], found["info"], []
        elif info is not None and found and not found["info"] and _closes(mark, found["mark"]):
            yield "\n".join(rows), info
            info, rows = None, []
        else:
            rows.append(row)
    yield "\n".join(rows), info


def _closes(mark: str, other: str) -> bool:
    return mark[0] == other[0] and len(other) >= len(mark)


def fenced(text: str, info: str = "") -> str:
    """Text as a block of code, verbatim, that ends nowhere but at its end."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    closed = text if text.isascii() else text.translate(_UNSEEN)
    fence = "`" * max(3, 1 + max(map(len, _RUN.findall(closed)), default=0))
    language = _LANGUAGE.match(info)
    body = text if not text or text.endswith("\n") else f"{text}\n"
    return f"{fence}{language[0] if language else ''}\n{body}{fence}"


def quoted(text: str) -> str:
    """Text as a quotation."""
    return "\n".join(f"> {row}".rstrip() for row in plain(text).splitlines())


def code(text: str) -> str:
    """Text as code in a line; nothing if there is none."""
    line = " ".join(text.replace("`", "'").split())
    return f"`{line}`" if line else ""


def folded(summary: str, *blocks: str) -> str:
    """Blocks that are shown when the summary is clicked; `summary` is text, not Markdown."""
    spelt = " ".join(summary.replace("&", "&amp;").replace("<", "&lt;").split())
    inside = "\n\n".join(blocks)
    return f"<details>\n<summary>{spelt}</summary>\n\n{inside}\n\n</details>"
