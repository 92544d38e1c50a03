"""What came of a change, in the words that the model reads. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from turnbuckle.session.parts import JsonObject
from turnbuckle.tools.subject import lines_of
from turnbuckle.workspace.changes import FileChange, make_change, patch
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Applied

SHOWN = 4096
"""Characters of a text that are shown at most."""

_SHORT = 200


@dataclass(slots=True)
class Landed:
    """What has come of a change so far.

    `applied` are the ids of the hunks that stand, the first first. `text` is what the file becomes
    with them, apart from what is changed beside it; `theirs` is the whole text that the person made
    of it, where they did.
    """

    change: FileChange
    text: str
    applied: dict[str, None] = field(default_factory=dict)
    refused: list[tuple[tuple[str, ...], Applied]] = field(default_factory=list)
    after: str | None = None
    theirs: str | None = None


def done(place: Place, landed: Landed) -> str:
    """What stands, in one sentence."""
    hunks = [hunk for hunk in landed.change.hunks if hunk.hunk_id in landed.applied]
    added = sum(hunk.counts[0] for hunk in hunks)
    removed = sum(hunk.counts[1] for hunk in hunks)
    if landed.change.kind == "create":
        return f"Created {place.shown} (+{added})."
    if landed.change.kind == "delete":
        return f"Deleted {place.shown} (\N{MINUS SIGN}{removed})."
    if landed.change.target is not None:
        return f"Renamed {place.shown} to {landed.change.target.shown}."
    of = "" if len(hunks) == len(landed.change.hunks) else f" of {len(landed.change.hunks)}"
    places = f"{len(hunks)}{of} place{'s' * (len(hunks) != 1 or bool(of))}"
    return f"Changed {place.shown} in {places} (+{added} \N{MINUS SIGN}{removed})."


def told_of_theirs(place: Place, landed: Landed, theirs: str) -> str:
    """What the person made of the change, as a diff from what was proposed."""
    proposed = landed.change.with_hunks(landed.applied)
    if theirs == proposed:
        return done(place, landed)
    said = patch(make_change(landed.change.uri, proposed, theirs, "edit"), place.shown)
    if len(said) > SHOWN:
        said = said[:SHOWN] + "\n[more was changed; read the file]"
    return (
        f"{place.shown} was changed, but the person edited the change first. From what you"
        f" proposed to what stands there now:\n{said}"
    )


def meta_of(place: Place, landed: Landed) -> JsonObject:
    """How many hunks were accepted, and of those how many stand where that is not all."""
    applied = len(landed.applied)
    accepted = applied + sum(len(hunk_ids) for hunk_ids, _ in landed.refused)
    hunks = {"accepted": accepted, "rejected": len(landed.change.hunks) - accepted}
    meta: JsonObject = {"hunks": hunks if applied == accepted else hunks | {"applied": applied}}
    if landed.after:
        where = landed.change.target or place
        meta["read"] = {"uri": where.uri, "digest": landed.after}
    return meta


def left_out(landed: Landed) -> Iterator[str]:
    """The places of a change that do not stand, each in one line."""
    for hunk, line in zip(landed.change.hunks, lines_of(landed.change), strict=True):
        if hunk.hunk_id not in landed.applied:
            yield f"line {line + 1}: {_short(hunk.old)} \N{RIGHTWARDS ARROW} {_short(hunk.new)}"


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHORT else text[:_SHORT] + "\N{HORIZONTAL ELLIPSIS}")
