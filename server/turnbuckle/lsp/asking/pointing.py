"""What the person points at, with its text: from the mirror where the document is open."""

from collections.abc import Iterable, Iterator
from typing import Any

from turnbuckle.lsp.convert import to_offsets
from turnbuckle.lsp.documents import Documents
from turnbuckle.lsp.positions import Range
from turnbuckle.lsp.protocol import ContextItem
from turnbuckle.session.codec import scrub
from turnbuckle.session.parts import Context

TEXT_LIMIT = 64 * 1024
"""How many characters of text one item carries at most."""

_SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}


def contexts(items: Iterable[ContextItem], documents: Documents) -> tuple[Context, ...]:
    """The items as facts hold them, with the text that stands there now."""
    return tuple(_context(item, documents) for item in items)


def _context(item: ContextItem, documents: Documents) -> Context:
    document = documents.lookup(item.uri) if item.uri else None
    text, version = item.text, item.version
    if document is not None:
        version = document.version
        if item.kind == "selection" and item.range is not None:
            text = selected(documents, document.uri, item.range) or None
        elif item.kind in ("file", "selection") and text is not None:
            text = document.text
    return Context(
        kind=item.kind,
        uri=item.uri,
        range=item.range.model_dump() if item.range else None,
        version=version,
        text=None if text is None else _bounded(scrub(text)),
    )


def selected(documents: Documents, uri: str, range_: Range) -> str:
    """The text of a range in an open document; empty where there is none."""
    document = documents.lookup(uri)
    if document is None:
        return ""
    start, end = to_offsets(document.positions, range_, documents.unit)
    return document.text[start:end]


def _bounded(text: str) -> str:
    if len(text) <= TEXT_LIMIT:
        return text
    return f"{text[:TEXT_LIMIT]}\n[{len(text) - TEXT_LIMIT} characters left out]"


RELATED = 10
"""Places of a diagnostic's own that are told at most."""


# Any: LSP diagnostics as the client wrote them.
def diagnostics_text(diagnostics: Iterable[dict[str, Any]]) -> str:
    """Diagnostics as lines: place, severity, source, code, message and related places."""
    return "\n".join(line for diagnostic in diagnostics for line in _diagnostic(diagnostic))


def _diagnostic(diagnostic: dict[str, Any]) -> Iterator[str]:  # Any: as above
    place = _place(diagnostic)
    match diagnostic:
        case {"severity": int(number)}:
            severity = _SEVERITIES.get(number, "error")
        case _:
            severity = "error"
    parts = (diagnostic.get("source"), diagnostic.get("code"))
    origin = " ".join(str(part) for part in parts if isinstance(part, str | int) and part != "")
    where = f"{place}: " if place else ""
    yield f"{where}{severity}{f' ({origin})' if origin else ''}: {_message(diagnostic)}"
    match diagnostic:
        case {"relatedInformation": [*related]}:
            yield from (f"  {line}" for one in related[:RELATED] if (line := _related(one)))
        case _:
            pass


def _related(related: object) -> str | None:
    match related:
        case {"location": {"uri": str(uri)} as location} if isinstance(related, dict):
            place = _place(location)
            return f"see {uri}{f', {place}' if place else ''}: {_message(related)}"
        case _:
            return None


def _place(where: dict[str, Any]) -> str:  # Any: as above
    match where:
        case {"range": {"start": {"line": int(first)}, "end": {"line": int(last)}}}:
            return f"lines {first + 1} to {last + 1}" if last > first else f"line {first + 1}"
        case {"range": {"start": {"line": int(first)}}}:
            return f"line {first + 1}"
        case _:
            return ""


def _message(said: dict[str, Any]) -> str:  # Any: as above
    match said:
        case {"message": {"value": str(message)}} | {"message": str(message)}:
            return message
        case _:
            return "(no message)"
