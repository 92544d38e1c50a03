"""What is done with a document whose text is not known for sure: nothing, until it is."""

from turnbuckle.lsp.documents import OpenDocument
from turnbuckle.workspace.errors import WorkspaceError
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Applied, Texts
from turnbuckle.workspace.unsaved import alike


async def trust(document: OpenDocument, place: Place, disk: Texts) -> None:
    """Pass where the text of a document is known, or the disk says the same.

    Raises:
        WorkspaceError: UNVERIFIED.
    """
    doubt = document.doubt
    if doubt is None:
        return
    revision = document.revision
    try:
        stored = await disk.read(place)
    except WorkspaceError:
        stored = None
    if stored is not None and document.revision == revision and alike(document.text, stored.text):
        document.doubt = None
        return
    raise WorkspaceError("UNVERIFIED", f"{place.shown}: {_said(doubt)}")


def doubted(document: OpenDocument) -> Applied | None:
    """The refusal to edit a document whose text is not known."""
    if document.doubt is None:
        return None
    return Applied(outcome="failed", said=_said(document.doubt), code="UNVERIFIED")


def _said(doubt: str) -> str:
    return (
        f"what the editor shows is not known for sure, because {doubt}; it must be saved, closed"
        " and opened again there"
    )
