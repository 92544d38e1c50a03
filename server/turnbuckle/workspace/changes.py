"""A proposed change: what it was made on, and its hunks; apply some, undo some. Pure."""

import hashlib
import secrets
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias
from urllib.parse import unquote, urlsplit

from turnbuckle.workspace.diff import Block, changed_lines, differing
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.text import Splice, common_end, smallest, split_lines

Kind: TypeAlias = Literal["create", "edit", "delete", "rename"]


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

    @property
    def counts(self) -> tuple[int, int]:
        """How many lines it adds and how many it removes."""
        return len(split_lines(self.new)), len(split_lines(self.old))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file as it would become.

    `digest` is that of the base text, `""` for a file that is not there; `base` is that text.
    Hunks stand in order and never touch, so any of them can be applied without the others. A file
    that is deleted is one hunk; one that is renamed is a hunk without text, and goes to `target`.
    """

    uri: str
    kind: Kind
    digest: str
    base: str
    hunks: tuple[Hunk, ...]
    target: Place | None = None

    @property
    def result(self) -> str:
        """The text with all hunks applied."""
        return self.with_hunks({hunk.hunk_id for hunk in self.hunks})

    def with_hunks(self, hunk_ids: Collection[str]) -> str:
        """The base with only these hunks applied."""
        parts: list[str] = []
        at, wanted = 0, frozenset(hunk_ids)
        for hunk in self.hunks:
            if hunk.hunk_id in wanted:
                parts += self.base[at : hunk.start], hunk.new
                at = hunk.end
        return "".join(parts) + self.base[at:]

    def offset_of(self, hunk_id: str, applied: Collection[str]) -> int:
        """Where a hunk starts in the base with these others applied.

        Raises:
            KeyError: the change has no such hunk.
        """
        shift = 0
        for hunk in self.hunks:
            if hunk.hunk_id == hunk_id:
                return hunk.start + shift
            if hunk.hunk_id in applied:
                shift += len(hunk.new) - len(hunk.old)
        raise KeyError(hunk_id)


def new_id() -> str:
    """128 random bits in hex."""
    return secrets.token_hex(16)


def make_change(uri: str, base: str, new: str, kind: Kind) -> FileChange:
    """The change from one text to another, a hunk for each run of lines that differ.

    A new file is one hunk, also where it is empty.
    """
    if kind == "create":
        hunk = Hunk(hunk_id=new_id(), start=0, end=len(base), old=base, new=new)
        return FileChange(uri=uri, kind=kind, digest="", base=base, hunks=(hunk,))
    hunks = tuple(
        Hunk(hunk_id=new_id(), start=a, end=b, old=base[a:b], new=new[c:d])
        for part in differing(base, new)
        for a, b, c, d in _lines_of(base, new, part)
        if base[a:b] != new[c:d]  # where LF and CR meet, one text can be lines in two ways
    )
    return FileChange(uri=uri, kind=kind, digest=digest_of(base), base=base, hunks=hunks)


def _lines_of(base: str, new: str, part: Block) -> Iterator[Block]:
    """The runs of lines that differ in one part of both texts, in characters."""
    start, stop, new_start, new_stop = part
    tail = _same_end(base[start:stop], new[new_start:new_stop])
    old_lines = split_lines(base[start : stop - tail])
    new_lines = split_lines(new[new_start : new_stop - tail])
    starts = list(accumulate(map(len, old_lines), initial=start))
    new_starts = list(accumulate(map(len, new_lines), initial=new_start))
    for a, b, c, d in changed_lines(old_lines, new_lines):
        yield starts[a], starts[b], new_starts[c], new_starts[d]


def _same_end(one: str, other: str) -> int:
    """How many characters of whole lines both end with."""
    tail = common_end(one, other)
    after = one.find("\n", len(one) - tail)
    return len(one) - after - 1 if after >= 0 else 0


def make_deletion(uri: str, base: str) -> FileChange:
    """The change that takes a file away."""
    hunk = Hunk(hunk_id=new_id(), start=0, end=len(base), old=base, new="")
    return FileChange(uri=uri, kind="delete", digest=digest_of(base), base=base, hunks=(hunk,))


def make_renaming(uri: str, base: str, target: Place) -> tuple[FileChange, FileChange]:
    """The change that takes a file to another place, and what that makes there.

    Both are judged and shown, and have one hunk, which is decided once; the first is applied.
    """
    hunk = Hunk(hunk_id=new_id(), start=0, end=0, old="", new="")
    digest = digest_of(base)
    gone = FileChange(
        uri=uri, kind="rename", digest=digest, base=base, hunks=(hunk,), target=target
    )
    there = FileChange(uri=target.uri, kind="create", digest="", base="", hunks=(hunk,))
    return gone, there


@dataclass(frozen=True, slots=True)
class Span:
    """The characters `[start, end)` of a text, where a hunk stands."""

    start: int
    end: int


def follow(span: Span, text: str, edit: Splice) -> Span:
    """Where a span stands after an edit of `text`: before it shifts, after it stays, else widens.

    Whether a hunk is stale is seen by comparing what stands there, and never stored, so that
    undoing an edit revives it.
    """
    edit = smallest(text, edit)
    grown = len(edit.new) - (edit.end - edit.start)
    if edit.end <= span.start:
        return Span(span.start + grown, span.end + grown)
    if edit.start >= span.end:
        return span
    return Span(min(span.start, edit.start), max(span.end, edit.end) + grown)


CONTEXT = 3
"""Lines shown around what differs."""


def patch(change: FileChange, name: str | None = None) -> str:
    """The change as a unified diff to look at, without the ends of lines."""
    name = name or unquote(urlsplit(change.uri).path)
    if change.target is not None:
        return f"rename from {name}\nrename to {unquote(urlsplit(change.target.uri).path)}\n"
    old, new = split_lines(change.base), split_lines(change.result)
    was = "/dev/null" if change.kind == "create" else name
    shown = [f"--- {was}\n+++ {'/dev/null' if change.kind == 'delete' else name}\n"]
    group: list[Block] = []
    for block in changed_lines(old, new):
        if group and block[0] - group[-1][1] > 2 * CONTEXT:
            shown += _group(old, new, group)
            group = []
        group.append(block)
    return "".join([*shown, *_group(old, new, group)]) if group else ""


def _group(old: list[str], new: list[str], group: list[Block]) -> list[str]:
    first, last = group[0], group[-1]
    head = min(CONTEXT, first[0])
    tail = min(CONTEXT, len(old) - last[1])
    was, is_now = _range(first[0] - head, last[1] + tail), _range(first[2] - head, last[3] + tail)
    shown = [f"@@ -{was} +{is_now} @@\n"]
    at = first[0] - head
    for a, b, c, d in group:
        shown += [_line(" ", line) for line in old[at:a]]
        shown += [_line("-", line) for line in old[a:b]]
        shown += [_line("+", line) for line in new[c:d]]
        at = b
    return shown + [_line(" ", line) for line in old[at : at + tail]]


def _range(start: int, stop: int) -> str:
    return f"{start + 1 if stop > start else start},{stop - start}"


def _line(mark: str, line: str) -> str:
    bare = line.rstrip("\r\n")
    return f"{mark}{bare}\n" + ("" if bare != line else "\\ No newline at end of file\n")
