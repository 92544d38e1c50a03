"""Our values as LSP's, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from turnbuckle.lsp.rpc.late import types
from turnbuckle.workspace.changes import Hunk
from turnbuckle.workspace.text import Positions, Unit


class HasPosition(Protocol):
    """A position of any of the libraries that read one from JSON."""

    @property
    def line(self) -> int: ...

    @property
    def character(self) -> int: ...


class HasRange(Protocol):
    """A range of any of them."""

    @property
    def start(self) -> HasPosition: ...

    @property
    def end(self) -> HasPosition: ...


def to_range(positions: Positions, start: int, end: int, unit: Unit) -> types.Range:
    """The characters `[start, end)` of a text as a range."""
    return types.Range(
        start=types.Position(*positions.position(start, unit)),
        end=types.Position(*positions.position(end, unit)),
    )


def to_offsets(positions: Positions, range_: HasRange, unit: Unit) -> tuple[int, int]:
    """The offsets of a range, clamped to the text, the smaller one first."""
    start = positions.offset(range_.start.line, range_.start.character, unit)
    end = positions.offset(range_.end.line, range_.end.character, unit)
    return min(start, end), max(start, end)


def to_edits(positions: Positions, hunks: Sequence[Hunk], unit: Unit) -> list[types.TextEdit]:
    """Hunks that stand in a text as edits of it, in their order."""
    edits: list[types.TextEdit] = []
    for hunk in hunks:
        start, end, new = _on_line_ends(positions.text, hunk)
        edits.append(types.TextEdit(range=to_range(positions, start, end, unit), new_text=new))
    return edits


def to_workspace_edit(
    uri: str, edits: Sequence[types.TextEdit], version: int | None
) -> types.WorkspaceEdit:
    """Edits of one document, bound to its version; None for a client that takes no versions."""
    if version is None:
        return types.WorkspaceEdit(changes={uri: list(edits)})
    name = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=version)
    edit = types.TextDocumentEdit(text_document=name, edits=list(edits))
    return types.WorkspaceEdit(document_changes=[edit])


def only_end(text: str) -> str | None:
    """How the lines of a text end, where they all end alike."""
    crlf = text.count("\r\n")
    counts = {"\r\n": crlf, "\n": text.count("\n") - crlf, "\r": text.count("\r") - crlf}
    ends = [end for end, count in counts.items() if count]
    return ends[0] if len(ends) == 1 else None


def fitted(new: str, text: str) -> str:
    """New text with the line ends of a text that has only one kind of them."""
    return ended(new, only_end(text))


def ended(new: str, end: str | None) -> str:
    """New text whose lines all end so; as it is without an end to give them."""
    if end is None:
        return new
    return new.replace("\r\n", "\n").replace("\r", "\n").replace("\n", end)


def _on_line_ends(text: str, hunk: Hunk) -> tuple[int, int, str]:
    r"""The hunk widened where it would begin or end inside of `\r\n`, which has no position."""
    start, end, new = hunk.start, hunk.end, hunk.new
    if text[start - 1 : start + 1] == "\r\n":
        start, new = start - 1, "\r" + new
    if text[end - 1 : end + 1] == "\r\n":
        end, new = end + 1, new + "\n"
    return start, end, new
