"""The files that an editor has open, whose texts may not be on disk: the port for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """A file that is open in an editor, as it stands there now.

    `path` has no links in it. `touched` is whether it was changed since it was opened or saved;
    `doubt` says why its text is not known for sure, None where it is.
    """

    path: Path
    uri: str
    text: str
    touched: bool = False
    doubt: str | None = None


class Buffers(Protocol):
    """The open files."""

    def open(self) -> Sequence[Buffer]:
        """Those that are open now, each file once."""
        ...

    async def save(self, buffers: Sequence[Buffer]) -> None:
        """Have the editor save these, where it can.

        Nothing is promised, and saving may change a text: whoever wants to know looks again.
        """
        ...


class _NothingOpen:
    """No editor."""

    def open(self) -> Sequence[Buffer]:
        """None."""
        return ()

    async def save(self, buffers: Sequence[Buffer]) -> None:
        """Nothing to save."""


NOTHING_OPEN = _NothingOpen()
"""The port where there is no editor."""
