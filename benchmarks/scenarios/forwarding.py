"""Text on its way from the model to the client."""

from benchmarks.bench import MS, Bench, interleaved, memory, percentile
from benchmarks.contestants import Agent
from benchmarks.figures import Figure, Limit
from benchmarks.processes import cpu, peak
from benchmarks.script import Script


def paced(bench: Bench) -> list[Figure]:
    """200 chunks a second: from the model's write to the client's read, for each chunk."""
    script = Script(chunks=bench.size.paced_chunks, rate=200, times=True)

    def one(agent: Agent) -> dict[str, float]:
        turn = agent.say(script)
        arrivals = turn.arrivals()
        delays = [
            (arrivals[number] - written) / MS for number, written in enumerate(turn.asked[0].times)
        ]
        return {"p50": percentile(delays, 50), "p99": percentile(delays, 99)}

    with bench.running() as agents:
        found = interleaved(agents, bench.size.paced_rounds, one)
    return [
        Figure(
            name="a chunk, at 200 a second, p50", unit="ms", rounds=found["p50"], limit=Limit(1.2)
        ),
        Figure(
            name="a chunk, at 200 a second, p99", unit="ms", rounds=found["p99"], limit=Limit(1.8)
        ),
    ]


def flood(bench: Bench) -> list[Figure]:
    """As many chunks as the model can write: until the last one has arrived."""
    chunks = bench.size.flood_chunks
    script = Script(chunks=chunks, times=True)

    def one(agent: Agent) -> dict[str, float]:
        spent = cpu(agent.pid)
        turn = agent.say(script)
        now = cpu(agent.pid)
        arrivals = turn.arrivals()
        took = (max(arrivals.values()) - turn.asked[0].times[0]) / 1e9
        values = {"speed": len(arrivals) / took, "frames": float(len(turn.texts))}
        if spent is not None and now is not None:
            values["cpu"] = (now - spent) / chunks * 1e6
        return values

    with bench.running() as agents:
        found = interleaved(agents, bench.size.floods, one)
        peaks = {
            name: [held] for name, agent in agents.items() if (held := peak(agent.pid)) is not None
        }
    total = bench.size.floods * chunks
    return [
        Figure(
            name=f"{chunks:,} chunks at once",
            unit="chunks/s",
            rounds=found["speed"],
            limit=Limit(1.5, most=False),
        ),
        *(
            [Figure(name="CPU of a chunk", unit="µs", rounds=found["cpu"], limit=Limit(0.8))]
            if "cpu" in found
            else []
        ),
        Figure(name="frames that carried them", unit="", rounds=found["frames"]),
        *memory(f"memory at peak, after {total:,} chunks", peaks, Limit(2)),
    ]
