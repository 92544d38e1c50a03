"""Open files without an editor: what tools see of unsaved texts, and a way to save them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from turnbuckle.workspace.buffers import Buffer


def write(buffer: Buffer) -> None:
    """Save as an editor does that changes nothing."""
    buffer.path.write_text(buffer.text, encoding="utf-8", newline="")


def refuse(buffer: Buffer) -> None:
    """Save nothing."""


@dataclass(slots=True)
class MemoryBuffers:
    """Texts by path; `asked` is every file that was to be saved, `saving` what saving one does."""

    texts: dict[Path, str] = field(default_factory=dict)
    saving: Callable[[Buffer], None] = refuse
    doubt: str | None = None
    asked: list[Path] = field(default_factory=list)

    def open(self) -> Sequence[Buffer]:
        """All of them."""
        return [
            Buffer(path=path, uri=path.as_uri(), text=text, touched=True, doubt=self.doubt)
            for path, text in self.texts.items()
        ]

    async def save(self, buffers: Sequence[Buffer]) -> None:
        """Save each of these."""
        for buffer in buffers:
            self.asked.append(buffer.path)
            self.saving(buffer)
