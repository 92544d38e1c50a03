"""How large the installed environment is: the runtime alone, without pip."""

import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import orjson

from benchmarks.figures import Figure, Limit
from benchmarks.processes import disk_usage

ROOT = Path(__file__).resolve().parent.parent


def environment(results: Path, say: Callable[[str], None]) -> list[Figure]:
    """Its size, installed once and remembered until the dependencies change."""
    cache = results / "environment.json"
    key = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + sys.version.encode()).hexdigest()
    known = orjson.loads(cache.read_bytes()) if cache.exists() else {}
    if known.get("key") != key:
        with tempfile.TemporaryDirectory(dir=results) as folder:
            fault = _install(Path(folder) / "venv")
            if fault:
                say(f"the environment could not be installed, so its size is left out:\n{fault}")
                return []
            known = {"key": key, "mib": disk_usage(Path(folder))}
        cache.write_bytes(orjson.dumps(known))
    size = float(known["mib"])
    limit = Limit(90, of="itself")
    return [Figure(name="installed, on disk", unit="MiB", rounds={"ours": [size]}, limit=limit)]


def _install(folder: Path) -> str | None:
    """Make a virtual environment with this project in it; what went wrong, if something did."""
    make = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
    for argv in (make, [*pip, "install", "--quiet", str(ROOT)]):
        done = subprocess.run(
            argv, check=False, capture_output=True, text=True, encoding="utf-8", errors="replace"
        )
        if done.returncode:
            return done.stderr.strip()[-1000:]
    return None
