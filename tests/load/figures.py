"""What a process holds: memory, descriptors, threads, children, files; as Linux tells it."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self

MIB = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """`memory` in bytes that are resident; everything else is a count."""

    memory: int
    descriptors: int
    threads: int
    children: int
    files: int

    @classmethod
    def of(cls, pid: int, *folders: Path) -> Self:
        """Those of a process now; `folders` are where its files are counted."""
        place = Path(f"/proc/{pid}")
        status = (place / "status").read_text("ascii", "replace")
        threads = list((place / "task").iterdir())
        return cls(
            memory=int(_field("VmRSS", status)) * 1024,
            descriptors=len(os.listdir(place / "fd")),  # noqa: PTH208 - names are enough
            threads=len(threads),
            children=sum(len((one / "children").read_text("ascii").split()) for one in threads),
            files=sum(len(names) for folder in folders for _, _, names in os.walk(folder)),
        )

    def __sub__(self, before: "Figures") -> "Figures":
        return Figures(
            **{name: getattr(self, name) - getattr(before, name) for name in self.__slots__}
        )

    def __str__(self) -> str:
        return (
            f"memory {self.memory / MIB:+.1f} MiB, descriptors {self.descriptors:+}, "
            f"threads {self.threads:+}, children {self.children:+}, files {self.files:+}"
        )


def _field(name: str, status: str) -> str:
    found = re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)
    assert found is not None, status
    return found[1]
