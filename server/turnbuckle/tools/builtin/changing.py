"""Carry out a change hunk by hunk, as the person accepts it, and tell the model what came of it."""

from dataclasses import dataclass, field

import anyio

from turnbuckle.session.events import EditApplied, EditApplying
from turnbuckle.session.parts import JsonObject
from turnbuckle.tools.tool import Go, Outcome, ToolError
from turnbuckle.workspace.changes import FileChange, Hunk
from turnbuckle.workspace.errors import WorkspaceError
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Applied, AppliedOutcome, Workspace
from turnbuckle.workspace.text import Positions

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
_SHOWN = 4096
_SHORT = 200


@dataclass(slots=True)
class _Landed:
    """What has come of a change so far."""

    change: FileChange
    applied: list[str] = field(default_factory=list)
    refused: list[tuple[tuple[str, ...], Applied]] = field(default_factory=list)
    after: str | None = None


async def carry_out(go: Go, workspace: Workspace, place: Place, change: FileChange) -> Outcome:
    """Apply the hunks that are accepted, batch by batch, until nothing is open.

    The outcome is PARTLY where something of it stands and something that should does not.

    Raises:
        ToolError: nothing of it stands.
    """
    landed = _Landed(change)
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
    go: Go, workspace: Workspace, place: Place, landed: _Landed, hunk_ids: tuple[str, ...]
) -> None:
    change, already = landed.change, tuple(landed.applied)
    before = None
    if change.kind == "edit" or already:
        try:
            before = await go.blobs.put(change.with_hunks(already).encode())
        except OSError as error:
            said = f"what stood there could not be kept for undoing: {error.strerror or error}"
            landed.refused.append((hunk_ids, Applied(outcome="failed", said=said)))
            return
    call_id, uri = go.call_id, change.uri
    await go.record(EditApplying(call_id=call_id, uri=uri, before=before, hunks=hunk_ids))
    applied = await workspace.texts.apply(place, change, hunk_ids, already)
    stands = applied.outcome == "applied"
    await go.record(
        EditApplied(
            call_id=call_id,
            uri=uri,
            after=applied.after if stands else None,
            hunks=hunk_ids,
            outcome=applied.outcome,
        )
    )
    if stands:
        landed.applied += hunk_ids
        landed.after = applied.after
    else:
        landed.refused.append((hunk_ids, applied))


def _stands(go: Go, place: Place, landed: _Landed) -> Outcome:
    """All that was accepted stands."""
    verdict = go.verdict()
    note = f"\nThe person's note: {verdict.note}" if verdict.note else ""
    rejected = [hunk for hunk in landed.change.hunks if hunk.hunk_id not in landed.applied]
    if not landed.applied:
        raise ToolError("DENIED", f"the person rejected the change of {place.shown}{note}")
    if not rejected:
        return Outcome(content=_done(place, landed) + note, meta=_meta(place, landed))
    lines = [
        f"{_done(place, landed)} The person rejected the rest, so these places are as they were:",
        *(_brief(landed.change, hunk) for hunk in rejected),
    ]
    return Outcome(content="\n".join(lines) + note, meta=_meta(place, landed))


async def _refused(workspace: Workspace, place: Place, landed: _Landed) -> Outcome:
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


def _partly(place: Place, landed: _Landed, reason: str) -> Outcome:
    missing = [hunk for hunk in landed.change.hunks if hunk.hunk_id not in landed.applied]
    said = [
        f"<tool error: only a part stands. {_done(place, landed)} Of the rest: {reason}:",
        *(_brief(landed.change, hunk) for hunk in missing),
    ]
    return Outcome(content="\n".join(said) + ">", code="PARTLY", meta=_meta(place, landed))


def _done(place: Place, landed: _Landed) -> str:
    hunks = [hunk for hunk in landed.change.hunks if hunk.hunk_id in landed.applied]
    added = sum(hunk.counts[0] for hunk in hunks)
    removed = sum(hunk.counts[1] for hunk in hunks)
    if landed.change.kind == "create":
        return f"Created {place.shown} (+{added})."
    of = "" if len(hunks) == len(landed.change.hunks) else f" of {len(landed.change.hunks)}"
    places = f"{len(hunks)}{of} place{'s' * (len(hunks) != 1 or bool(of))}"
    return f"Changed {place.shown} in {places} (+{added} \N{MINUS SIGN}{removed})."


def _meta(place: Place, landed: _Landed) -> JsonObject:
    """How many hunks were accepted, and of those how many stand where that is not all."""
    applied = len(landed.applied)
    accepted = applied + sum(len(hunk_ids) for hunk_ids, _ in landed.refused)
    hunks = {"accepted": accepted, "rejected": len(landed.change.hunks) - accepted}
    meta: JsonObject = {"hunks": hunks if applied == accepted else hunks | {"applied": applied}}
    if landed.after is not None:
        meta["read"] = {"uri": place.uri, "digest": landed.after}
    return meta


def _brief(change: FileChange, hunk: Hunk) -> str:
    line = change.base.count("\n", 0, hunk.start) + 1
    return f"line {line}: {_short(hunk.old)} \N{RIGHTWARDS ARROW} {_short(hunk.new)}"


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHORT else text[:_SHORT] + "\N{HORIZONTAL ELLIPSIS}")


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
    text = snapshot.text[positions.starts[first] : positions.line_stop(stop - 1)][:_SHOWN]
    meta = {"read": {"uri": place.uri, "digest": snapshot.digest}}
    return f". Lines {first + 1}-{stop} read now:\n{text}", meta
