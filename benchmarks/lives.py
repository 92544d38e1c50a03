"""What a long session costs: opening it, and a step in it. Prints its rounds as JSON.

It runs in a process of its own, in which garbage is looked for only between the rounds: when that
happens within one is chance, and a log is many objects.
"""

import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import orjson

from benchmarks import logs
from turnbuckle.agent.agent import Settings
from turnbuckle.model.port import Emit, Reply, Request
from turnbuckle.session.parts import Call
from turnbuckle.testing.agents import MODEL, driven
from turnbuckle.testing.tools import tool
from turnbuckle.tools.tool import Go

STEPS = 40
LEFT_OUT = 4
"""Gaps at the beginning of a turn that are not counted: there is more to do then."""


class Stepping:
    """A model that calls one tool a step, and notes when it is asked."""

    window = None

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.messages = 0
        self._calls = 0

    async def __call__(self, request: Request, _emit: Emit) -> Reply:
        self.asked.append(time.perf_counter())
        self.messages = len(request.messages)
        if len(self.asked) > STEPS:
            return Reply(content="done", finish="stop")
        self._calls += 1
        call = Call(call_id=f"n{self._calls}", name="read", arguments='{"path": "a"}')
        return Reply(content="", tool_calls=(call,), finish="tool_calls")

    def gap(self) -> float:
        """The median time from one request to the next since the last look, in seconds."""
        pairs = zip(self.asked, self.asked[1:], strict=False)
        gaps = [later - earlier for earlier, later in pairs][LEFT_OUT:]
        self.asked.clear()
        return statistics.median(gaps)


def alone(path: Path) -> float:
    """Seconds to read a log and to parse its lines, and nothing else."""
    begin = time.perf_counter()
    with path.open("rb") as file:
        kept = [orjson.loads(line) for line in file.readlines()]
    end = time.perf_counter()
    del kept
    return end - begin


async def opening(folder: Path, session_id: str) -> tuple[float, float]:
    """Seconds to open a session for writing, and the longest in which nothing else ran."""
    pauses: list[float] = []

    async def beat() -> None:
        last = time.perf_counter()
        while True:
            await anyio.sleep(0.001)
            now = time.perf_counter()
            pauses.append(now - last)
            last = now

    async with anyio.create_task_group() as group:
        group.start_soon(beat)
        await anyio.sleep(0.01)
        begin = time.perf_counter()
        async with driven(Stepping(), folder, session_id=session_id):
            seconds = time.perf_counter() - begin
            await anyio.sleep(0.01)
        group.cancel_scope.cancel()
    return seconds, max(pauses)


def collected(measure: Callable[[], float]) -> float:
    """Measure without what was left over before."""
    gc.collect()
    return measure()


def openings(folder: Path, rounds: int) -> dict[str, list[float]]:
    """By shape of the log, how many times `alone` it takes to open it, and its pauses in ms."""
    found: dict[str, list[float]] = {}
    for shape, make in logs.SHAPES.items():
        session_id = f"{shape}-0001"
        path = logs.write(folder / shape / "state", session_id, list(make()))
        for _ in range(rounds):
            floor = collected(lambda path=path: alone(path))  # type: ignore[misc]
            gc.collect()
            seconds, pause = anyio.run(opening, folder / shape, session_id)
            found.setdefault(f"open {shape}", []).append(seconds / floor)
            found.setdefault(f"pause {shape}", []).append(pause * 1e3)
    return found


async def steps(folder: Path, rounds: int) -> dict[str, list[float]]:
    """A step in a long session and one in a new one, with requests of the same size, in ms."""
    long = logs.summed_up(list(logs.done()))
    new = logs.summed_up(list(logs.done(2 * logs.TURN)))
    found: dict[str, list[float]] = {"long": [], "new": []}
    models = {"long": Stepping(), "new": Stepping()}
    for name, facts in (("long", long), ("new", new)):
        logs.write(folder / name / "state", f"{name}-0001", facts)
    async with (
        stepping(models["long"], folder, "long") as one,
        stepping(models["new"], folder, "new") as other,
    ):
        for _ in range(rounds):
            for name, session in (("long", one), ("new", other)):
                gc.collect()
                await session.say("go on")
                found[name].append(models[name].gap() * 1e3)
            assert models["long"].messages == models["new"].messages
    return found


def stepping(model: Stepping, folder: Path, name: str) -> Any:  # Any: contextlib's own class
    """The session of this name, with a tool to call."""

    async def read(_arguments: dict[str, Any], _go: Go) -> str:  # Any: of any shape
        return "line\n" * 400

    settings = Settings(model=MODEL, max_steps=STEPS + 2)
    tools = [tool("read", read)]
    return driven(model, folder / name, tools=tools, settings=settings, session_id=f"{name}-0001")


def main() -> int:
    """Measure, with as many rounds as the argument says."""
    rounds = int(sys.argv[1])
    gc.disable()
    with tempfile.TemporaryDirectory(dir=sys.argv[2]) as folder:
        found = openings(Path(folder), rounds)
        found |= anyio.run(steps, Path(folder), rounds)
    sys.stdout.buffer.write(orjson.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
