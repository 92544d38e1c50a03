"""Fresh processes, and what they hold."""

from benchmarks.bench import MS, Bench, Rounds, memory
from benchmarks.contestants import ALL, OURS, Agent, Ours
from benchmarks.figures import Figure, Limit
from benchmarks.processes import resident, settled
from benchmarks.script import Script


def start(bench: Bench) -> list[Figure]:
    """Fresh processes: how soon they are ready, what they hold, how slow the first prompt is."""
    found: Rounds = {}
    for number in range(bench.size.starts + 1):
        for contestant in ALL:
            agent = contestant.spawn(bench.model, bench.place)
            try:
                values = _start(agent)
            finally:
                agent.wire.end()
            if number:  # the first one fills the caches of the system
                for name, value in values.items():
                    found.setdefault(name, {}).setdefault(contestant.name, []).append(value)
    return [
        Figure(name="start to the answer of initialize", unit="ms", rounds=found["answered"]),
        Figure(name="start to ready", unit="ms", rounds=found["ready"], limit=Limit(1.2)),
        Figure(name="first prompt to request", unit="ms", rounds=found["first"], limit=Limit(0.4)),
        *memory("memory idle", found.get("idle"), Limit(1.7)),
    ]


def _start(agent: Agent) -> dict[str, float]:
    answered, ready = agent.start()
    settled(agent.pid)
    idle = resident(agent.pid)
    turn = agent.say(Script())
    return {
        "answered": (answered - agent.wire.spawned) / MS,
        "ready": (ready - agent.wire.spawned) / MS,
        "first": turn.to_request,
        **({} if idle is None else {"idle": idle}),
    }


def sessions(bench: Bench) -> list[Figure]:
    """What one more open session holds."""
    with bench.running((OURS,)) as agents:
        ours = agents["ours"]
        before = resident(ours.pid)
        if before is None or not isinstance(ours, Ours):
            return []
        for _ in range(bench.size.sessions):
            ours.open_session()
        settled(ours.pid)
        more = (resident(ours.pid) or before) - before
    return memory("memory of a further session", {"ours": [more / bench.size.sessions]})
