"""Turns and steps: what stands between two requests to the model."""

import statistics
from itertools import pairwise

from benchmarks.bench import MS, Bench, Rounds, interleaved
from benchmarks.contestants import Agent, Turn
from benchmarks.figures import Figure, Limit
from benchmarks.processes import cpu
from benchmarks.script import Script

FEW = Script(chunks=5)


def turns(bench: Bench) -> list[Figure]:
    """Short turns in a warm process."""

    def one(agent: Agent) -> dict[str, float]:
        turn = agent.say(Script())
        return {"request": turn.to_request, "end": (turn.done - turn.asked[0].end) / MS}

    with bench.running() as agents:
        found = interleaved(agents, bench.size.turns, one)
    return [
        Figure(name="later prompt to request", unit="ms", rounds=found["request"], limit=Limit(2)),
        Figure(name="end of the answer to end of the turn", unit="ms", rounds=found["end"]),
    ]


def steps(bench: Bench) -> list[Figure]:
    """Turns of 20 steps, each a file read: from an answer's end to the next request."""
    script = bench.read_steps(20)

    def one(agent: Agent) -> dict[str, float]:
        spent = cpu(agent.pid)
        turn = agent.say(script)
        now = cpu(agent.pid)
        values = {"step": statistics.median(_gaps(turn))}
        if spent is not None and now is not None:
            values["cpu"] = (now - spent) / script.steps * 1e3
        return values

    with bench.running() as agents:
        interleaved(agents, 1, one)
        found = interleaved(agents, bench.size.step_turns, one)
    return [
        Figure(name="a step (a file read)", unit="ms", rounds=found["step"], limit=Limit(2.5)),
        *([Figure(name="CPU of a step", unit="ms", rounds=found["cpu"])] if "cpu" in found else []),
    ]


def _gaps(turn: Turn) -> list[float]:
    return [(later.began - asked.end) / MS for asked, later in pairwise(turn.asked)]


def growth(bench: Bench) -> list[Figure]:
    """One turn of many steps: whether a step costs more when much lies behind it."""
    script = bench.read_steps(bench.size.growth_steps)

    def one(agent: Agent) -> dict[str, float]:
        gaps = _gaps(agent.say(script))
        early, late = statistics.median(gaps[2:18]), statistics.median(gaps[-16:])
        return {"early": early, "late": late, "growth": late / early}

    found: Rounds = {}
    for _ in range(bench.size.growth_turns):
        with bench.running() as agents:
            for name, by in interleaved(agents, 1, one).items():
                for contestant, values in by.items():
                    found.setdefault(name, {}).setdefault(contestant, []).extend(values)
    return [
        Figure(name="step 10 of a turn", unit="ms", rounds=found["early"]),
        Figure(name="step 200 of it", unit="ms", rounds=found["late"]),
        Figure(
            name="step 200 against step 10",
            unit="×",
            rounds=found["growth"],
            limit=Limit(1.3, of="itself"),
        ),
    ]


def long(bench: Bench) -> list[Figure]:
    """Many turns in one session: whether a prompt is slower when much lies behind it."""
    with bench.running() as agents:
        found = interleaved(
            agents, bench.size.long_turns, lambda agent: {"request": agent.say(FEW).to_request}
        )["request"]
    early = {name: [statistics.median(values[2:12])] for name, values in found.items()}
    late = {name: [statistics.median(values[-10:])] for name, values in found.items()}
    grown = {name: [late[name][0] / early[name][0]] for name in found}
    return [
        Figure(name="turn 7, prompt to request", unit="ms", rounds=early),
        Figure(name="turn 95, prompt to request", unit="ms", rounds=late),
        Figure(name="turn 95 against turn 7", unit="×", rounds=grown),
    ]
