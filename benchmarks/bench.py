"""What the scenarios share: how much is measured, who takes part, and in which order."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from benchmarks.contestants import ALL, Agent, Contestant, Place
from benchmarks.figures import Figure, Limit
from benchmarks.model import ScriptedModel
from benchmarks.processes import settled
from benchmarks.script import Script

MS = 1e6
"""Nanoseconds in a millisecond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How often everything is done; each contestant in turn, so that noise meets all alike."""

    starts: int = 7
    turns: int = 30
    paced_rounds: int = 9
    paced_chunks: int = 400
    floods: int = 5
    flood_chunks: int = 20_000
    step_turns: int = 6
    growth_turns: int = 5
    growth_steps: int = 208
    long_turns: int = 100
    approvals: int = 20
    cancels: int = 12
    unread_cancels: int = 3
    sessions: int = 20
    lives: int = 11


FULL = Size()
QUICK = Size(
    starts=3,
    turns=10,
    paced_rounds=3,
    paced_chunks=200,
    floods=3,
    step_turns=3,
    growth_turns=1,
    approvals=5,
    cancels=4,
    unread_cancels=1,
    lives=3,
)


@dataclass(frozen=True, slots=True)
class Bench:
    """The model, a place to work in, and the size of it all."""

    model: ScriptedModel
    place: Place
    size: Size

    @contextmanager
    def running(
        self, contestants: tuple[Contestant, ...] = ALL, *, warm: bool = True
    ) -> Iterator[Mapping[str, Agent]]:
        """Processes that are ready, by name, and that end with the block.

        `warm`: each has had a first turn, and rests.
        """
        with ExitStack() as stack:
            agents: dict[str, Agent] = {}
            for contestant in contestants:
                agent = contestant.spawn(self.model, self.place)
                stack.callback(agent.wire.end)
                agent.start()
                agents[contestant.name] = agent
            for agent in agents.values():
                if warm:
                    agent.say(Script(chunks=3))
                settled(agent.pid)
            yield agents

    def read_steps(self, steps: int) -> Script:
        """A turn of so many steps, each of which reads another file."""
        path = self.place.file("{step}").replace("\\", "\\\\")
        return Script(steps=steps, arguments=f'{{"path": "{path}"}}')


Measure = Callable[[Agent], dict[str, float]]
Rounds = dict[str, dict[str, list[float]]]


def interleaved(agents: Mapping[str, Agent], rounds: int, measure: Measure) -> Rounds:
    """What `measure` found, by its own names and by contestant, one value a round."""
    found: Rounds = {}
    for _ in range(rounds):
        for contestant, agent in agents.items():
            for name, value in measure(agent).items():
                found.setdefault(name, {}).setdefault(contestant, []).append(value)
    return found


def percentile(values: list[float], percent: float) -> float:
    """The value below which so much of them lies."""
    return sorted(values)[min(len(values) - 1, int(percent / 100 * len(values)))]


def memory(
    name: str, rounds: Mapping[str, list[float]] | None, limit: Limit | None = None
) -> list[Figure]:
    """A figure in MiB, where the system tells it."""
    return [Figure(name=name, unit="MiB", rounds=rounds, limit=limit)] if rounds else []
