"""Deleting and renaming a file that an editor has open: it does it, and the disk shows it."""

from __future__ import annotations

from typing import TypeAlias

import anyio

from turnbuckle.lsp.clientfacts import ClientFacts
from turnbuckle.lsp.documents import OpenDocument
from turnbuckle.lsp.edits.flight import Calls
from turnbuckle.lsp.rpc import NoAnswer
from turnbuckle.lsp.rpc.late import types
from turnbuckle.workspace.changes import FileChange
from turnbuckle.workspace.errors import Missing, WorkspaceError
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Applied, Texts

UNSAVED = "it has unsaved changes in the editor; they must be saved or taken back first"

Operation: TypeAlias = "types.DeleteFile | types.RenameFile"


async def relocate(
    document: OpenDocument,
    place: Place,
    change: FileChange,
    *,
    disk: Texts,
    connection: Calls,
    client: ClientFacts,
    limit: float,
) -> Applied:
    """Have the editor delete or rename the file of a document; `limit` seconds for its answer.

    Only where nothing is unsaved, and the file is what the change was made for.
    """
    try:
        stored = await disk.read(place)
    except WorkspaceError as error:
        return Applied(outcome="failed", code=error.code, said=str(error))
    if stored.digest != document.digest:
        return Applied(outcome="failed", code="STALE", said=UNSAVED)
    if stored.digest != change.digest:
        return Applied(outcome="stale", after=stored.digest)
    if change.kind not in client.resource_operations or not client.apply_edit:
        said = f"it is open in an editor that lets nobody else {change.kind} it; close it there"
        return Applied(outcome="declined", after=stored.digest, said=said)
    word, said_ = await _asked(connection, _operation(document, change), limit)
    done = await _seen(disk, place, change)
    if done is not None:
        return done
    if word == "yes":
        said = "the editor says that it did it, but the disk does not show it"
        return Applied(outcome="unverified", said=said)
    return Applied(outcome="declined" if word == "no" else "unverified", said=said_)


def _operation(document: OpenDocument, change: FileChange) -> Operation:
    if change.target is None:
        return types.DeleteFile(uri=document.uri)
    return types.RenameFile(old_uri=document.uri, new_uri=change.target.uri)


async def _asked(connection: Calls, operation: Operation, limit: float) -> tuple[str, str | None]:
    """The editor's word, and what it said."""
    params = types.ApplyWorkspaceEditParams(
        label="Turnbuckle edit", edit=types.WorkspaceEdit(document_changes=[operation])
    )
    answer: object = None
    with anyio.move_on_after(limit) as scope:
        try:
            answer = await connection.call(types.WORKSPACE_APPLY_EDIT, params, timeout=None)
        except NoAnswer as error:
            return "no", error.said or "the editor refused it"
    if scope.cancelled_caught:
        return "silent", f"the editor did not answer within {limit:g} s"
    if not isinstance(answer, types.ApplyWorkspaceEditResult):
        return "no", "the editor gave no usable answer"
    return "yes" if answer.applied else "no", answer.failure_reason or "the editor refused it"


async def _seen(disk: Texts, place: Place, change: FileChange) -> Applied | None:
    """What the disk shows of it; None where it is as it was."""
    try:
        await disk.read(place)
    except Missing:
        pass
    except WorkspaceError:
        return None
    else:
        return None
    if change.target is None:
        return Applied(outcome="applied", after="")
    try:
        there = await disk.read(change.target)
    except WorkspaceError:
        return Applied(outcome="misplaced", said=f"it is not at {change.target.shown}")
    if there.digest != change.digest:
        said = f"{change.target.shown} holds another text"
        return Applied(outcome="misplaced", after=there.digest, said=said)
    return Applied(outcome="applied", after=there.digest)
