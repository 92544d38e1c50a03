"""Carry out a change hunk by hunk, as the person accepts it, and tell the model what came of it."""

from functools import partial

import anyio
from anyio import to_thread

from turnbuckle.session.events import EditApplied, EditApplying
from turnbuckle.session.parts import JsonObject
from turnbuckle.session.written import NOTHING
from turnbuckle.tools.builtin.telling import (
    SHOWN,
    Landed,
    done,
    left_out,
    meta_of,
    told_of_theirs,
)
from turnbuckle.tools.tool import Go, Outcome, ToolError, Verdict
from turnbuckle.workspace.changes import FileChange, make_change
from turnbuckle.workspace.errors import WorkspaceError
from turnbuckle.workspace.line_ends import keep_line_ends
from turnbuckle.workspace.paths import Place, canonical
from turnbuckle.workspace.port import Applied, AppliedOutcome, Workspace
from turnbuckle.workspace.text import Positions, whole

_CODES: dict[AppliedOutcome, str] = {
    "stale": "STALE",
    "declined": "TOOL_FAILED",
    "unverified": "UNVERIFIED",
    "misplaced": "MISPLACED",
    "failed": "TOOL_FAILED",
}
_SENTENCES: dict[AppliedOutcome, str] = {
    "stale": "the file was changed since this edit was made; nothing of it was applied",
    "declined": "the editor refused the edit",
    "unverified": "the edit was sent, but the file does not show it; look before trying again",
    "misplaced": "the edit landed in another place than meant; look before trying again",
    "failed": "the file could not be written",
}
_AROUND = 10  # lines shown around a place that is stale


async def carry_out(go: Go, workspace: Workspace, place: Place, change: FileChange) -> Outcome:
    """Apply the hunks that are accepted, batch by batch, until nothing is open.

    The outcome is PARTLY where something of it stands and something that should does not.

    Raises:
        ToolError: nothing of it stands.
    """
    landed = Landed(change, change.base)
    try:
        async for hunk_ids in go.accepted():
            # Once begun, a batch is brought to its end, so that the log tells what stands.
            with anyio.CancelScope(shield=True):
                await _apply(go, workspace, place, landed, hunk_ids)
    except anyio.get_cancelled_exc_class():
        if not landed.applied:
            raise
        return _partly(place, landed, "the turn was stopped before it was decided")
    if landed.refused:
        return await _refused(workspace, place, landed)
    return _stands(go, place, landed)


async def _apply(
    go: Go, workspace: Workspace, place: Place, landed: Landed, hunk_ids: tuple[str, ...]
) -> None:
    change, already = landed.change, tuple(landed.applied)
    before = None
    if change.kind != "create" or already:
        try:
            before = await go.blobs.put(landed.text.encode())
        except OSError as error:
            said = f"what stood there could not be kept for undoing: {error.strerror or error}"
            landed.refused.append((hunk_ids, Applied(outcome="failed", said=said)))
            return
    wheres = [(change.uri, before)]
    if change.target is not None:  # what stands there afterwards is written, too
        wheres.append((change.target.uri, None))
    for uri, kept in wheres:
        fact = EditApplying(call_id=go.call_id, uri=uri, before=kept, hunks=hunk_ids)
        await go.record(fact)
    theirs = _edited_text(go.verdict(), landed)
    if theirs is None:
        applied = await workspace.texts.apply(place, change, hunk_ids, already)
    else:
        applied = await _apply_theirs(workspace, place, landed, theirs)
    await _record(go, change, hunk_ids, applied)
    if applied.outcome == "applied":
        landed.applied.update(dict.fromkeys(hunk_ids))
        landed.after = applied.after
        landed.theirs = theirs
        landed.text = change.with_hunks(landed.applied) if theirs is None else theirs
    else:
        landed.refused.append((hunk_ids, applied))


async def _record(go: Go, change: FileChange, hunk_ids: tuple[str, ...], applied: Applied) -> None:
    """Put down what came of it; a file that went away leaves the digest of nothing."""
    after = applied.after if applied.outcome == "applied" else None
    wheres = [(change.uri, after)]
    if change.target is not None:
        wheres = [(change.uri, None if after is None else NOTHING), (change.target.uri, after)]
    for uri, left in wheres:
        fact = EditApplied(
            call_id=go.call_id, uri=uri, after=left, hunks=hunk_ids, outcome=applied.outcome
        )
        await go.record(fact)


def _edited_text(verdict: Verdict, landed: Landed) -> str | None:
    """The whole text that the person made of the file, written as the file writes its lines."""
    mine = canonical(landed.change.uri)
    for uri, text in verdict.edits.items() if landed.change.kind in ("edit", "create") else ():
        if canonical(uri) == mine:
            text = whole(text)
            return text if "\r" in text else keep_line_ends(landed.change.base, text)
    return None


async def _apply_theirs(workspace: Workspace, place: Place, landed: Landed, theirs: str) -> Applied:
    """Apply what leads from the text as it should be by now to the one that the person made."""
    if landed.change.kind == "create" and not landed.applied:
        change = make_change(landed.change.uri, "", theirs, "create")
    else:
        make = partial(make_change, landed.change.uri, landed.text, theirs, "edit")
        change = await to_thread.run_sync(make)
    if not change.hunks:
        return Applied(outcome="applied", after=change.digest)
    return await workspace.texts.apply(place, change, tuple(h.hunk_id for h in change.hunks))


def _stands(go: Go, place: Place, landed: Landed) -> Outcome:
    """All that was accepted stands."""
    verdict = go.verdict()
    note = f"\nThe person's note: {verdict.note}" if verdict.note else ""
    if not landed.applied:
        raise ToolError("DENIED", f"the person rejected the change of {place.shown}{note}")
    if landed.theirs is not None:
        content = told_of_theirs(place, landed, landed.theirs)
        return Outcome(content=content + note, meta=meta_of(place, landed))
    if len(landed.applied) == len(landed.change.hunks):
        return Outcome(content=done(place, landed) + note, meta=meta_of(place, landed))
    lines = [
        f"{done(place, landed)} The person rejected the rest, so these places are as they were:",
        *left_out(landed),
    ]
    return Outcome(content="\n".join(lines) + note, meta=meta_of(place, landed))


async def _refused(workspace: Workspace, place: Place, landed: Landed) -> Outcome:
    hunk_ids, first = landed.refused[0]
    reason = _SENTENCES[first.outcome]
    if first.said:
        reason += f": {first.said}"
    if landed.applied:
        return _partly(place, landed, reason)
    meta: JsonObject | None = None
    if first.outcome == "stale":
        now, meta = await _now(workspace, place, landed.change, hunk_ids)
        reason += now
    code = first.code or _CODES[first.outcome]
    raise ToolError(code, f"{place.shown}: {reason}", meta)


def _partly(place: Place, landed: Landed, reason: str) -> Outcome:
    said = [
        f"<tool error: only a part stands. {done(place, landed)} Of the rest: {reason}:",
        *left_out(landed),
    ]
    return Outcome(content="\n".join(said) + ">", code="PARTLY", meta=meta_of(place, landed))


async def _now(
    workspace: Workspace, place: Place, change: FileChange, hunk_ids: tuple[str, ...]
) -> tuple[str, JsonObject | None]:
    """What stands now where the hunks would have gone, to save a call that reads it."""
    try:
        snapshot = await workspace.texts.read(place)
    except WorkspaceError as error:
        return f"; {error}", None
    hunk = next(hunk for hunk in change.hunks if hunk.hunk_id in hunk_ids)
    line = change.base.count("\n", 0, hunk.start)
    positions = Positions(snapshot.text)
    first = max(0, min(line, len(positions.starts) - 1) - _AROUND)
    stop = min(line + _AROUND, len(positions.starts))
    text = snapshot.text[positions.starts[first] : positions.line_stop(stop - 1)][:SHOWN]
    meta = {"read": {"uri": place.uri, "digest": snapshot.digest}}
    return f". Lines {first + 1}-{stop} read now:\n{text}", meta
