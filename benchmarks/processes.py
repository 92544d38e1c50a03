"""What a process costs: memory and CPU time of it and its children, as far as the system tells."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PROC = Path("/proc")
KNOWN = sys.platform == "linux"
"""Whether memory and CPU time can be read here."""

_SETTLED = 0.25
_TICK = 0.05


def family(pid: int) -> Iterator[int]:
    """A process and its living children, all the way down."""
    yield pid
    for children in (PROC / str(pid) / "task").glob("*/children"):
        for child in _read(children).split():
            yield from family(int(child))


def cpu(pid: int) -> float | None:
    """Seconds of CPU time so far; of threads and children, those that live."""
    if not KNOWN:
        return None
    spent = 0
    for member in family(pid):
        for schedule in (PROC / str(member) / "task").glob("*/schedstat"):
            spent += int(_read(schedule).partition(" ")[0] or 0)
    return spent / 1e9


def resident(pid: int) -> float | None:
    """MiB that it has for itself now, its part of shared pages included (PSS)."""
    return _sum(pid, "smaps_rollup", "Pss:")


def peak(pid: int) -> float | None:
    """MiB that it has ever had, shared pages in full (the high-water mark of its resident set)."""
    return _sum(pid, "status", "VmHWM:")


def settled(pid: int, limit: float = 5.0) -> None:
    """Wait until a process has done nothing for a while, `limit` seconds at most."""
    if not KNOWN:
        time.sleep(1)
        return
    until = time.monotonic() + limit
    quiet_since, before = time.monotonic(), cpu(pid)
    while (now := time.monotonic()) < until and now - quiet_since < _SETTLED:
        time.sleep(_TICK)
        spent = cpu(pid)
        # A heartbeat of some hundred microseconds is no work.
        if spent is not None and before is not None and spent - before > 0.002:
            quiet_since, before = time.monotonic(), spent


def busy(seconds: float = 0.3) -> float | None:
    """The share of this machine's CPU time that is in use, by whomever; 1.0 is all of it."""
    if not KNOWN:
        return None
    first = _ticks()
    time.sleep(seconds)
    total, idle = (b - a for a, b in zip(first, _ticks(), strict=True))
    return round(1 - idle / max(1, total), 2)


def disk_usage(folder: Path) -> float:
    """MiB that a folder takes on disk; links are not followed, and a file with two names is one."""
    seen: dict[tuple[int, int], int] = {}
    for path in folder.rglob("*"):
        status = path.lstat()
        # Windows tells no blocks.
        size = getattr(status, "st_blocks", 0) * 512 or status.st_size
        seen[status.st_dev, status.st_ino] = size
    return sum(seen.values()) / 2**20


def file_system(folder: Path) -> str:
    """The kind of file system that a folder is on, as far as that is known."""
    best, kind = "", "unknown file system"
    for line in _read(PROC / "mounts").splitlines():
        _, place, name, *_ = line.split()
        if os.path.commonpath([place, folder]) == place and len(place) >= len(best):
            best, kind = place, name
    return kind


def sync_time(folder: Path, times: int = 40) -> float:
    """Milliseconds that the median sync of one more line takes here."""
    sync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)
    took: list[float] = []
    path = folder / "sync-probe"
    with path.open("wb", buffering=0) as file:
        for _ in range(times):
            file.write(b"a line of about the size of a fact in a session's log, some bytes more\n")
            begin = time.perf_counter()
            sync(file.fileno())
            took.append(time.perf_counter() - begin)
    path.unlink()
    return sorted(took)[times // 2] * 1e3


def _sum(pid: int, name: str, label: str) -> float | None:
    if not KNOWN:
        return None
    kib = 0
    for member in family(pid):
        for line in _read(PROC / str(member) / name).splitlines():
            if line.startswith(label):
                kib += int(line.split()[1])
    return kib / 1024


def _ticks() -> tuple[int, int]:
    values = [int(value) for value in _read(PROC / "stat").partition("\n")[0].split()[1:9]]
    return sum(values), values[3] + values[4]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""  # the process, or this kind of file, is not there
