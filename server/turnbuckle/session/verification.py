"""Whether a file holds every request that its session made, and where it begins to differ."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from turnbuckle.session.reading import Unreadable, seq_of, stored_lines, tag_of
from turnbuckle.session.rebuild import Rebuild


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a file first differs from what was written: its line, from 1, and what is wrong."""

    line: int
    what: str


@dataclass(frozen=True, slots=True)
class Verified:
    """How many requests a session made, and the numbers of those that are not as the log says."""

    requests: int
    differing: tuple[int, ...]
    difference: Difference | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing differs."""
        return not self.differing and self.difference is None


def verify_file(path: Path) -> Verified:
    """Rebuild every request of a session from its stored lines, and look that no line is missing.

    Raises:
        Unreadable: the file cannot be read, or a line is damaged.
    """
    rebuild, witness = Rebuild(), _Witness()
    differing: list[int] = []
    first: Difference | None = None
    for number, line in enumerate(stored_lines(path), 1):
        before = rebuild.requests
        try:
            missing = _numbering(number, line)
            rebuild.feed(line)
            witness.feed(number, line)
        except (ValueError, KeyError, TypeError) as error:
            raise Unreadable(
                f"line {number}, after request {rebuild.requests}, is damaged: {error}"
            ) from error
        first = first or missing
        if rebuild.requests > before:
            if rebuild.digest() != rebuild.stated:
                differing.append(rebuild.requests)
                first = first or witness.difference(rebuild.requests)
            witness.settle()
    return Verified(rebuild.requests, tuple(differing), first)


def _numbering(number: int, line: bytes) -> Difference | None:
    """What is wrong with the number of a line's fact, if something is."""
    seq, due = seq_of(line), number - 1
    if seq is None:
        raise ValueError("it is not a fact")
    if seq == due:
        return None
    what = "missing before it" if seq > due else "doubled, or out of order"
    return Difference(number, f"fact {seq} stands where fact {due} was due: lines are {what}")


_ALONE = (
    b"request/header", b"tool/result", b"context/summary", b"context/pruned", b"context/rewound",
)  # fmt: skip
"""What a request is made of and nothing else testifies to."""


class _Witness:
    """Who can testify to what a request is made of: what was said twice in the log must agree.

    A prompt is in the inbox too, an answer in its chunks. What nobody testifies to is suspected
    first, if a request differs and those before it do not.
    """

    def __init__(self) -> None:
        self._prompts: dict[str, tuple[int, str]] = {}
        self._chunks: list[str] = []
        self._chunks_at = 0
        self._suspects: list[tuple[int, str]] = []
        self._contradiction: Difference | None = None
        self._stream = 0

    def feed(self, number: int, line: bytes) -> None:
        """Take the next line."""
        match tag := tag_of(line):
            case b"inbox/added" | b"inbox/changed":
                data = _data(line)
                self._prompts[data["key"]] = number, data["input"]
            case b"llm/stream":
                self._chunks, self._stream = [], number
            case b"assistant/chunk":
                self._chunks.append(_data(line).get("text") or "")
                self._chunks_at = number
            case b"user/message":
                data = _data(line)
                known = self._prompts.get(data.get("key") or "")
                self._hear(number, tag, data["content"], *(known or (0, None)))
            case b"assistant/message":
                said = "".join(self._chunks) or None
                self._hear(number, tag, _data(line)["content"], self._chunks_at, said)
            case _ if tag in _ALONE:
                self._suspects.append((number, tag.decode()))
            case _:
                pass

    def _hear(self, number: int, tag: bytes, content: str, at: int, testified: str | None) -> None:
        if testified is None:
            self._suspects.append((number, tag.decode()))
        elif testified != content and self._contradiction is None:
            what = f"this {tag.decode()} and line {at}, which says the same, do not agree"
            self._contradiction = Difference(number, what)

    def difference(self, request: int) -> Difference:
        """Where a request that differs begins to."""
        if self._contradiction is not None:
            return self._contradiction
        suspects = self._suspects or [(self._stream, "llm/stream")]
        (number, tag), *others = suspects
        more = "".join(f", or line {other} ({kind})" for other, kind in others[:5])
        more += ", …" if others[5:] else ""
        sent = f"request {request} is not what was sent"
        return Difference(number, f"{sent}; most likely this {tag}{more} was changed")

    def settle(self) -> None:
        """What stands up to here is settled."""
        self._suspects, self._contradiction = [], None


def _data(line: bytes) -> dict[str, Any]:  # Any: JSON
    data = orjson.loads(line)["data"]
    if not isinstance(data, dict):
        raise TypeError("its data is no object")
    return data
