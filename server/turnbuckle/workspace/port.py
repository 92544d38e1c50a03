"""Read a place, apply a change: what the disk and an editor's open documents have in common."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from turnbuckle.workspace.changes import FileChange
from turnbuckle.workspace.paths import Place, Roots

AppliedOutcome: TypeAlias = Literal[
    "applied", "stale", "declined", "unverified", "misplaced", "failed"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The text of a file now: the person's, if an editor has it open.

    `text` has no BOM and keeps its line ends; `version` is that of the open document, None on disk.
    """

    uri: str
    text: str
    digest: str
    version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What came of applying hunks, as seen by looking.

    `after` is the digest of the text that stands now, None if that is not known; `said` is what an
    editor or the system gave as its reason.
    """

    outcome: AppliedOutcome
    after: str | None = None
    said: str | None = None


class Texts(Protocol):
    """Text files by place."""

    async def read(self, place: Place) -> Snapshot:
        """The text that stands at a place.

        Raises:
            WorkspaceError: with the code NOT_FOUND, BINARY, ENCODING, TOO_LARGE or NOT_A_FILE.
        """
        ...

    async def apply(self, place: Place, change: FileChange, hunk_ids: tuple[str, ...]) -> Applied:
        """Apply these hunks of a change onto exactly its base, and look whether they stand.

        Hunks of the same change that were applied before are allowed for. Never raises for a
        refusal: the outcome says what happened.
        """
        ...


class WorkspaceError(Exception):
    """Something about a file, with the code that a tool's result bears."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """What the tools of one session see of the person's files.

    `seen` gives the digest at which a URI was last read or written in this session, or None.
    """

    roots: Roots
    texts: Texts
    seen: Callable[[str], str | None]
