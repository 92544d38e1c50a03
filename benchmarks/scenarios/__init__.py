"""The scenarios: what is done to each contestant, and which figures come of it."""

from collections.abc import Callable, Mapping

from benchmarks.bench import Bench
from benchmarks.documents import documents
from benchmarks.figures import Figure
from benchmarks.scenarios.deciding import approval, cancel
from benchmarks.scenarios.forwarding import flood, paced
from benchmarks.scenarios.living import living
from benchmarks.scenarios.starting import sessions, start
from benchmarks.scenarios.stepping import growth, long, steps, turns

SCENARIOS: Mapping[str, Callable[[Bench], list[Figure]]] = {
    "start": start,
    "sessions": sessions,
    "turns": turns,
    "paced": paced,
    "flood": flood,
    "steps": steps,
    "growth": growth,
    "long": long,
    "living": living,
    "approval": approval,
    "cancel": cancel,
    "documents": documents,
}
