"""The person decides: an approval, and a cancel."""

import statistics
import time

from benchmarks.bench import MS, Bench, interleaved
from benchmarks.contestants import OURS, Agent
from benchmarks.figures import Figure, Limit
from benchmarks.script import Script

ASKS = Script(steps=1, tool="run_command", arguments='{"command": "echo done"}')
SLOW = Script(chunks=3_000, rate=200)
FASTER = Script(chunks=40_000, rate=4_000)
PATIENCE = 3.0
"""Seconds after which a connection counts as never closed."""


def approval(bench: Bench) -> list[Figure]:
    """A command that is asked about, and allowed at once by the client."""

    def one(agent: Agent) -> dict[str, float]:
        wire, before = agent.wire, agent.model.requests
        wire.progress.clear()
        wire.watched = b'"type":"approval/asked"'
        identity, _ = agent.send(ASKS)
        shown, body = wire.next_watched()
        approval_id = body.partition(b'"approvalId":"')[2].partition(b'"')[0].decode()
        allowed, answered, _ = wire.call(
            "turnbuckle/approve", {"approvalId": approval_id, "decision": "allow"}
        )
        wire.answer(identity)
        first, second = agent.model.since(before, 2)
        begun = next(at for at, text in wire.progress if b'"type":"tool/start"' in text)
        return {
            "shown": (shown - first.end) / MS,
            "answered": (answered - allowed) / MS,
            "begun": (begun - allowed) / MS,
            "next": (second.began - allowed) / MS,
        }

    with bench.running((OURS,)) as agents:
        found = interleaved(agents, bench.size.approvals, one)
    return [
        Figure(name="end of the answer to the question", unit="ms", rounds=found["shown"]),
        Figure(name="approval to its answer", unit="ms", rounds=found["answered"]),
        Figure(name="approval to the command's start", unit="ms", rounds=found["begun"]),
        Figure(name="approval to the next request", unit="ms", rounds=found["next"]),
    ]


def cancel(bench: Bench) -> list[Figure]:
    """A turn is cancelled while its answer comes: until the model's connection is closed."""
    with bench.running() as agents:
        found = interleaved(agents, bench.size.cancels, lambda agent: _cancelled(agent, SLOW))
        unread = interleaved(agents, bench.size.unread_cancels, _cancelled_unread)
    closed = found["closed"]
    return [
        Figure(name="cancel to closed connection", unit="ms", rounds=closed, limit=Limit(2)),
        Figure(name="cancel to the turn's answer", unit="ms", rounds=found["answered"]),
        Figure(
            name="the same, client does not read",
            unit="ms",
            rounds=unread["closed"],
            limit=Limit(2),
            reference=statistics.median(closed["stock"]),
        ),
    ]


def _cancelled(agent: Agent, script: Script) -> dict[str, float]:
    wire, before = agent.wire, agent.model.requests
    wire.progress.clear()
    identity, _ = agent.send(script)
    while len(wire.progress) < 50:
        time.sleep(0.01)
    sent = wire.notify("$/cancelRequest", {"id": identity})
    answered = wire.refusal(identity)
    (asked,) = agent.model.since(before, 1)
    return {"closed": (asked.closed - sent) / MS, "answered": (answered - sent) / MS}


def _cancelled_unread(agent: Agent) -> dict[str, float]:
    wire, before = agent.wire, agent.model.requests
    wire.stop_reading()
    identity, _ = agent.send(FASTER)
    agent.model.wait_for_request(before)
    time.sleep(1)  # long enough to fill the pipe several times over
    sent = wire.notify("$/cancelRequest", {"id": identity})
    ended = agent.model.since(before, 1, PATIENCE)
    wire.go_on_reading()
    wire.refusal(identity)
    return {"closed": (ended[0].closed - sent) / MS if ended else float("inf")}
