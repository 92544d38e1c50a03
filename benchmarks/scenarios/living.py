"""Long sessions: opening one, and a step in it, against reading its file and against a new one."""

import subprocess
import sys

import orjson

from benchmarks.bench import Bench
from benchmarks.environment import ROOT
from benchmarks.figures import Figure, Limit
from benchmarks.wire import NoAnswer

SHAPES = {"said": "much was said", "done": "much was done"}


def living(bench: Bench) -> list[Figure]:
    """Sessions of 20,000 facts, in a process of their own."""
    argv = [
        sys.executable,
        "-m",
        "benchmarks.lives",
        str(bench.size.lives),
        str(bench.place.scratch),
    ]
    done = subprocess.run(argv, cwd=ROOT, check=False, capture_output=True)
    if done.returncode:
        raise NoAnswer(done.stderr.decode("utf-8", "replace")[-1000:])
    found: dict[str, list[float]] = orjson.loads(done.stdout)
    figures = []
    for shape, words in SHAPES.items():
        figures += [
            Figure(
                name=f"open 20,000 facts, {words}, against their JSON",
                unit="×",
                rounds={"ours": found[f"open {shape}"]},
                limit=Limit(4, of="itself"),
            ),
            Figure(
                name="longest pause of all else meanwhile",
                unit="ms",
                rounds={"ours": found[f"pause {shape}"]},
                limit=Limit(50, of="itself"),
            ),
        ]
    pairs = zip(found["long"], found["new"], strict=True)
    return [
        *figures,
        Figure(name="a step in a new session", unit="ms", rounds={"ours": found["new"]}),
        Figure(name="a step after 20,000 facts", unit="ms", rounds={"ours": found["long"]}),
        Figure(
            name="after 20,000 facts against new, requests of one size",
            unit="×",
            rounds={"ours": [long / new for long, new in pairs]},
            limit=Limit(1.3, of="itself"),
        ),
    ]
