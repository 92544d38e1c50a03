"""What the person allowed for the rest of a session: a fold over `grant/added` and its end."""

from collections.abc import Sequence
from dataclasses import dataclass

from turnbuckle.session.codec import Entry
from turnbuckle.session.events import GrantAdded, GrantRevoked
from turnbuckle.session.parts import JsonObject
from turnbuckle.tools.caution import Caution, only_text, paths_of
from turnbuckle.tools.subject import Change, Command, Read, Subject
from turnbuckle.workspace.paths import uri_of


@dataclass(frozen=True, slots=True)
class Grant:
    """One thing that is allowed; `since` in milliseconds since 1970.

    `subject` is `{kind: "command", command, cwd}`, `{kind: "change", uri}` or
    `{kind: "read", uri}`.
    """

    grant_id: str
    subject: JsonObject
    since: int


class Grants:
    """The grants that hold, as far as the log was followed."""

    def __init__(self) -> None:
        self._held: dict[str, Grant] = {}
        self._seen = 0

    def follow(self, entries: Sequence[Entry]) -> tuple[Grant, ...]:
        """Read what was appended since the last time; all that hold now, oldest first."""
        if len(entries) < self._seen:
            self._held, self._seen = {}, 0
        for entry in entries[self._seen :]:
            match entry.fact:
                case GrantAdded(grant_id=grant_id, subject=subject):
                    self._held[grant_id] = Grant(grant_id, subject, entry.time)
                case GrantRevoked(grant_id=grant_id):
                    self._held.pop(grant_id, None)
                case _:
                    pass
        self._seen = len(entries)
        return tuple(self._held.values())


def grantable(subject: Subject, caution: Caution) -> tuple[JsonObject, ...]:
    """What a yes for the session would allow: exactly this, and nothing that is like it.

    Empty where there can be no such yes. A file is named without links, so that a link that leads
    elsewhere later is another file.
    """
    if caution.reason(subject) is not None:
        return ()
    match subject:
        case Command(command=command, cwd=cwd):
            return ({"kind": "command", "command": command, "cwd": cwd},)
        case Change(files=files) if only_text(subject):
            paths = [[*paths_of(file)][-1] for file in files]
            return tuple({"kind": "change", "uri": uri_of(path)} for path in paths if path)
        case Read(places=places):
            outside = dict.fromkeys(place.path for place in places if not place.inside)
            return tuple({"kind": "read", "uri": uri_of(path)} for path in outside)
        case _:
            return ()


def covers(grants: Sequence[Grant], subject: Subject, caution: Caution) -> bool:
    """Whether everything that a subject is about was granted."""
    wanted = grantable(subject, caution)
    held = [grant.subject for grant in grants]
    return bool(wanted) and all(one in held for one in wanted)
