"""What the agent has written: for each file what stood there before, and what it left. A fold."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from turnbuckle.session.codec import Entry
from turnbuckle.session.events import EditApplied, EditApplying, EditUndone

NOTHING = ""
"""The digest of a file that is not there."""

_UNTOUCHED = ("stale", "declined", "failed")
"""Outcomes after which a file is as it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One file: the digest of the text before the first edit, and of the one after the last.

    `after` is None where it is not known. `shared` says that somebody else changed the file between
    two edits. `call_id` is that of the first edit, `hunks` are those of all.
    """

    uri: str
    call_id: str
    hunks: tuple[str, ...]
    before: str
    after: str | None
    shared: bool = False


def written(entries: Iterable[Entry]) -> list[Written]:
    """The files that were written in these facts, in the order of their first edits."""
    files: dict[str, Written] = {}
    begun: dict[str, EditApplying] = {}
    for entry in entries:
        match entry.fact:
            case EditApplying(uri=uri) as applying:
                begun[uri] = applying
            case EditApplied(uri=uri, outcome=outcome) as applied if uri in begun:
                applying = begun.pop(uri)
                if outcome not in _UNTOUCHED:
                    after = applied.after if outcome == "applied" else None
                    files[uri] = _more(files.get(uri), applying, after)
            case EditUndone(uri=uri) as undone if uri in files:
                files[uri] = replace(files[uri], after=_left(undone))
            case _:
                pass
    # What was cut off in the middle may have been done or not.
    for uri, applying in begun.items():
        files.setdefault(uri, _more(None, applying, None))
    return list(files.values())


def taken_back(entries: Iterable[Entry]) -> list[Written]:
    """The files that a rewind put back in these facts: to what it left from what had stood there.

    So each is as if it had been written the other way round.
    """
    return [
        Written(
            uri=undone.uri,
            call_id=undone.call_id,
            hunks=undone.hunks,
            before=undone.before or NOTHING,
            after=undone.after or NOTHING,
        )
        for entry in entries
        if isinstance(undone := entry.fact, EditUndone) and undone.by == "rewind"
    ]


def _more(file: Written | None, applying: EditApplying, after: str | None) -> Written:
    before = applying.before or NOTHING
    if file is None:
        return Written(
            uri=applying.uri, call_id=applying.call_id, hunks=applying.hunks, before=before,
            after=after,
        )  # fmt: skip
    return replace(
        file,
        hunks=(*file.hunks, *applying.hunks),
        after=after,
        shared=file.shared or file.after != before,
    )


def _left(undone: EditUndone) -> str | None:
    """What stands after hunks were undone; a rewind that leaves nothing has removed the file."""
    return undone.after or (NOTHING if undone.by == "rewind" else None)
