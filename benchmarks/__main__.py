"""`python -m benchmarks`: run the scenarios, print the table, keep the raw figures."""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import orjson

from benchmarks.bench import FULL, QUICK, Bench
from benchmarks.contestants import Place
from benchmarks.environment import ROOT, environment
from benchmarks.figures import Figure, table
from benchmarks.model import ScriptedModel
from benchmarks.processes import busy, file_system, sync_time
from benchmarks.scenarios import SCENARIOS
from benchmarks.wire import Failed, NoAnswer

RESULTS = ROOT / "build" / "benchmarks"
"""Not part of the repository."""

NAMES = (*SCENARIOS, "environment", "loop")


def main() -> int:
    """Measure what the arguments name; 1 if a scenario failed. A missed target is no failure."""
    arguments = _arguments()
    RESULTS.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(dir=RESULTS, prefix="run-") as folder:
        place = Place(Path(folder) / "workspace", Path(folder) / "scratch")
        place.make()
        machine: dict[str, object] = {
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "cores": os.cpu_count(),
            "file_system": file_system(Path(folder)),
            "sync_ms": round(sync_time(Path(folder)), 3),
            "size": "quick" if arguments.quick else "full",
        }
        with ScriptedModel() as model:
            bench = Bench(model, place, QUICK if arguments.quick else FULL)
            figures, load, faults = _measure(bench, arguments.only)
    loop = _loop() if "loop" in arguments.only else ""
    machine |= {"busy": load, "seconds": round(time.monotonic() - begun)}
    print(_report(machine, figures, loop))  # noqa: T201
    _keep(machine, figures, loop)
    return 1 if faults else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a look, no claim")
    parser.add_argument(
        "--only", type=_names, default=NAMES, metavar="NAME,…", help="some of: " + ", ".join(NAMES)
    )
    return parser.parse_args()


def _names(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := set(names) - set(NAMES):
        raise argparse.ArgumentTypeError(f"no scenario {', '.join(sorted(unknown))}")
    return names


def _measure(
    bench: Bench, names: tuple[str, ...]
) -> tuple[list[Figure], dict[str, float | None], list[str]]:
    """The figures, the load of the machine before each scenario, and the scenarios that failed."""
    figures: list[Figure] = []
    load: dict[str, float | None] = {}
    faults: list[str] = []
    for name, scenario in SCENARIOS.items():
        if name not in names:
            continue
        load[name] = busy()
        begun = time.monotonic()
        try:
            figures += scenario(bench)
        except (NoAnswer, Failed) as error:
            faults.append(name)
            say(f"{name} failed: {error}")
        say(f"{name}: {time.monotonic() - begun:.1f} s")
    if "environment" in names:
        figures += environment(RESULTS, say)
    return figures, load, faults


def _loop() -> str:
    """The loop by itself, without wire or model."""
    argv = [sys.executable, "-m", "benchmarks.loop"]
    done = subprocess.run(argv, cwd=ROOT, check=False, capture_output=True, encoding="utf-8")
    return done.stdout if done.returncode == 0 else done.stderr


def _report(machine: dict[str, object], figures: list[Figure], loop: str) -> str:
    load = machine["busy"]
    shares = (
        [share for share in load.values() if share is not None] if isinstance(load, dict) else []
    )
    others = f"{min(shares):.0%} to {max(shares):.0%}" if shares else "an unknown share"
    head = f"""
Python {machine["python"]}, {machine["system"]}, {machine["cores"]} cores; {machine["size"]} run \
of {machine["seconds"]} s. Before the scenarios, others used {others} of the CPU.
Ours writes its log to {machine["file_system"]}, with its syncs on: before every request to the
model and every run of a tool, {machine["sync_ms"]} ms each (median).
plain: asyncio and json. stock: pygls and httpx. Both forward what the model says and do nothing \
else. Medians over the rounds.
"""
    parts = [head, table(figures)]
    return "\n".join([*parts, "", "The loop by itself:", loop] if loop else parts)


def _keep(machine: dict[str, object], figures: list[Figure], loop: str) -> None:
    raw = {
        "machine": machine,
        "figures": [figure.as_json() for figure in figures],
        "loop": loop.splitlines(),
    }
    path = RESULTS / f"{datetime.now(UTC):%Y%m%d-%H%M%S}.json"
    path.write_bytes(orjson.dumps(raw, option=orjson.OPT_INDENT_2))
    say(f"raw figures: {path}")


def say(text: str) -> None:
    """Tell whoever waits."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
