"""Open documents as an editor holds them, and how it applies a workspace edit."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from turnbuckle.testing.documents import Unit, edited, position_at

# Any: ranges and edits are JSON here, as on the wire.
Json: TypeAlias = dict[str, Any]


@dataclass(slots=True)
class Open:
    """An open document."""

    text: str
    version: int


class OpenDocuments:
    """The documents of a fake editor by URI; every change is told by `notify(method, params)`."""

    def __init__(self, notify: Callable[[str, object], None], encoding: Unit) -> None:
        self._notify = notify
        self._encoding = encoding
        self._open: dict[str, Open] = {}

    def __getitem__(self, uri: str) -> Open:
        return self._open[uri]

    def open(self, uri: str, text: str, *, version: int = 1, language: str = "plaintext") -> None:
        """Open a document."""
        self._open[uri] = Open(text, version)
        document = {"uri": uri, "languageId": language, "version": version, "text": text}
        self._notify("textDocument/didOpen", {"textDocument": document})

    def close(self, uri: str) -> None:
        """Close a document."""
        del self._open[uri]
        self._notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def type(self, uri: str, start: int, end: int, new: str) -> None:
        """Replace characters `start` to `end`, as a person who types."""
        text = self._open[uri].text
        self.edit(uri, [{"range": self.range(text, start, end), "newText": new}])

    def apply(self, edit: Json) -> str | None:
        """Apply a workspace edit as a whole, or give the reason why not."""
        try:
            parts = document_edits(edit)
        except ValueError as error:
            return str(error)
        for uri, version, _ in parts:
            if uri not in self._open:
                return f"{uri} is not open"
            if version is not None and version != self._open[uri].version:
                return f"version {version} of {uri} is not the current one"
        for uri, _, edits in parts:
            self.edit(uri, edits)
        return None

    def edit(self, uri: str, edits: Iterable[Json]) -> None:
        """Change a document by text edits and tell so, from its end to its start."""
        document = self._open[uri]
        ordered = from_the_end(edits)
        for edit in ordered:
            change = (*_span(edit), edit["newText"])
            document.text = edited(document.text, change, self._encoding)
        document.version += 1
        self._notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": uri, "version": document.version},
                "contentChanges": [
                    {"range": edit["range"], "text": edit["newText"]} for edit in ordered
                ],
            },
        )

    def range(self, text: str, start: int, end: int) -> Json:
        """The range between two indexes of a text."""
        ends = (position_at(text, offset, self._encoding) for offset in (start, end))
        first, last = ({"line": line, "character": character} for line, character in ends)
        return {"start": first, "end": last}


def from_the_end(edits: Iterable[Json]) -> list[Json]:
    """Edits that all speak of one text, in an order in which they can be done one by one."""
    numbered = sorted(enumerate(edits), key=lambda pair: (*_span(pair[1]), pair[0]), reverse=True)
    return [edit for _, edit in numbered]


def _span(edit: Json) -> tuple[tuple[int, int], tuple[int, int]]:
    start, end = edit["range"]["start"], edit["range"]["end"]
    return (start["line"], start["character"]), (end["line"], end["character"])


def document_edits(edit: Json) -> Sequence[tuple[str, int | None, list[Json]]]:
    """The parts of a workspace edit: URI, version or None, text edits.

    Raises:
        ValueError: it creates, renames or deletes.
    """
    if "documentChanges" not in edit:
        return [(uri, None, edits) for uri, edits in edit.get("changes", {}).items()]
    if any("kind" in change for change in edit["documentChanges"]):
        raise ValueError("creating, renaming and deleting is not supported")
    return [
        (change["textDocument"]["uri"], change["textDocument"].get("version"), change["edits"])
        for change in edit["documentChanges"]
    ]
