"""Read a place, apply a change: what the disk and an editor's open documents have in common."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from turnbuckle.workspace.buffers import NOTHING_OPEN, Buffers
from turnbuckle.workspace.changes import FileChange
from turnbuckle.workspace.errors import WorkspaceError as WorkspaceError
from turnbuckle.workspace.paths import Place, Roots

AppliedOutcome: TypeAlias = Literal[
    "applied", "stale", "declined", "unverified", "misplaced", "failed"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The text of a file now: the person's, if an editor has it open.

    `text` has no BOM and keeps its line ends; `version` is that of the open document, None on disk.
    `read_only` is whether the file may not be written as it stands.
    """

    uri: str
    text: str
    digest: str
    version: int | None = None
    read_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What came of applying hunks, as seen by looking.

    `after` is the digest of the text that stands now, None if that is not known; `said` is what an
    editor or the system gave as its reason, `code` the code of an error result where the outcome
    alone does not say it.
    """

    outcome: AppliedOutcome
    after: str | None = None
    said: str | None = None
    code: str | None = None


class Texts(Protocol):
    """Text files by place."""

    async def read(self, place: Place) -> Snapshot:
        """The text that stands at a place.

        Raises:
            Missing: nothing stands there.
            WorkspaceError: with the code NOT_FOUND (it is no file), BINARY, ENCODING, TOO_LARGE,
                OUTSIDE or TOOL_FAILED.
        """
        ...

    async def apply(
        self,
        place: Place,
        change: FileChange,
        hunk_ids: tuple[str, ...],
        already: tuple[str, ...] = (),
    ) -> Applied:
        """Apply these hunks of a change onto exactly its base, and look whether they stand.

        `already` names the hunks of the same change that were applied before. Never raises for a
        refusal: the outcome says what happened.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """What the tools of one session see of the person's files.

    `seen` gives the digest at which a URI was last read or written in this session, or None;
    `known` gives all such URIs. `buffers` are the files that an editor has open.
    """

    roots: Roots
    texts: Texts
    seen: Callable[[str], str | None]
    known: Callable[[], Collection[str]] = tuple
    buffers: Buffers = NOTHING_OPEN
