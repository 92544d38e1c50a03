"""What the loop costs by itself: appends, steps, the request check.

The model and the tools run in this process, so only our own work is measured. Prints one line a
figure; run it twice, and compare ratios rather than times.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio

from turnbuckle.agent.agent import Settings
from turnbuckle.kernel.scope import Scope
from turnbuckle.model.port import Emit, Reply, Request
from turnbuckle.session.events import AssistantChunk, StepStart
from turnbuckle.session.log import Log
from turnbuckle.session.parts import Call
from turnbuckle.session.store import Store
from turnbuckle.testing.agents import MODEL, driven
from turnbuckle.testing.tools import tool
from turnbuckle.tools.tool import Go

STEPS = 210
CHUNKS = 20_000


def show(what: str, value: float, unit: str) -> None:
    """One figure."""
    print(f"{what:<58} {value:>10.2f} {unit}")  # noqa: T201


def timed(action: Callable[[], object]) -> float:
    """Seconds of one run."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def appends(folder: Path) -> None:
    """A chunk and another fact, each with a store that writes through."""
    store, log = Store(folder / "appends.jsonl"), Log(lambda: 1)
    log.observe(Scope("bench"), store)
    chunk, fact = AssistantChunk(turn=1, step=1, text="some words "), StepStart(turn=1, step=1)
    for what, one in (("append a chunk", chunk), ("append another fact, written through", fact)):
        seconds = timed(lambda one=one: [log.append(one) for _ in range(CHUNKS)])  # type: ignore[misc]
        show(what, seconds / CHUNKS * 1e6, "µs")
    store.close()


class Stepping:
    """A model that calls one tool a step, `steps` times, and notes when it is asked."""

    window = None

    def __init__(self, steps: int) -> None:
        self.asked: list[float] = []
        self._steps = steps

    async def __call__(self, _request: Request, _emit: Emit) -> Reply:
        self.asked.append(time.perf_counter())
        number = len(self.asked)
        if number >= self._steps:
            return Reply(content="done", finish="stop")
        call = Call(call_id=f"c{number}", name="read", arguments='{"path": "a"}')
        return Reply(content="", tool_calls=(call,), finish="tool_calls")


async def steps(folder: Path) -> None:
    """The gap from one request to the next, early and late in a turn of many steps."""

    async def read(_arguments: dict[str, Any], _go: Go) -> str:  # Any: of any shape
        return "line\n" * 400

    model = Stepping(STEPS)
    settings = Settings(model=MODEL, max_steps=STEPS + 1)
    async with driven(model, folder, tools=[tool("read", read)], settings=settings) as session:
        await session.say("go")
    gaps = [b - a for a, b in zip(model.asked, model.asked[1:], strict=False)]
    early, late = statistics.median(gaps[5:15]), statistics.median(gaps[-10:])
    show("a step around the 10th, two syncs in it", early * 1e3, "ms")
    show("a step around the 200th", late * 1e3, "ms")
    show("step 200 against step 10", late / early, "×")


def main() -> int:
    """Run them all."""
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, syncs on")  # noqa: T201
    with tempfile.TemporaryDirectory() as folder:
        appends(Path(folder))
        anyio.run(steps, Path(folder) / "steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
