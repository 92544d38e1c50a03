"""A proposed change: what it was made on, and its hunks; apply some, undo some. Pure."""

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal


def digest_of(text: str) -> str:
    """The identity of a text: SHA-256 of its UTF-8 bytes, without BOM, line ends as they are."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """`old` at `[start, end)` of the base becomes `new`; offsets count characters.

    The id is 128 random bits in hex: it names the hunk in a decision and is told to no model.
    """

    hunk_id: str
    start: int
    end: int
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file as it would become.

    `digest` is that of the base text, `""` for a file that is not there; `base` is that text.
    """

    uri: str
    kind: Literal["create", "edit"]
    digest: str
    base: str
    hunks: tuple[Hunk, ...]

    @property
    def result(self) -> str:
        """The text with all hunks applied."""
        return self.with_hunks({hunk.hunk_id for hunk in self.hunks})

    def with_hunks(self, hunk_ids: Collection[str]) -> str:
        """The base with only these hunks applied."""
        raise NotImplementedError


def new_id() -> str:
    """128 random bits in hex."""
    return secrets.token_hex(16)
