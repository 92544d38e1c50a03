"""The log appends, numbers and tells."""

import asyncio

import pytest

from turnbuckle.kernel.scope import Scope
from turnbuckle.session.codec import Entry, NotJson
from turnbuckle.session.events import PluginFact, StepStart, TurnStart
from turnbuckle.session.log import Log


def new_log() -> Log:
    return Log(lambda: 7)


def test_seq_is_contiguous_from_zero() -> None:
    log = new_log()
    assert log.seq == -1
    assert [log.append(TurnStart(turn=n)).seq for n in (1, 2, 3)] == [0, 1, 2]


def test_a_fact_that_is_not_json_leaves_the_log_as_it_was() -> None:
    log = new_log()
    log.append(TurnStart(turn=1))
    with pytest.raises(NotJson):
        log.append(PluginFact(name="x", data={"a": float("nan")}))
    assert log.append(TurnStart(turn=2)).seq == 1


def test_an_appended_payload_is_detached() -> None:
    data = {"list": [1]}
    log = new_log()
    entry = log.append(PluginFact(name="x", data=data))
    data["list"].append(2)
    assert entry.fact == PluginFact(name="x", data={"list": [1]})


def test_observers_see_one_order_even_if_one_appends() -> None:
    log, scope = new_log(), Scope("s")
    seen: list[tuple[str, int]] = []

    def eager(entry: Entry, _line: bytes) -> None:
        seen.append(("eager", entry.seq))
        if isinstance(entry.fact, TurnStart):
            log.append(StepStart(turn=1, step=1))

    log.observe(scope, eager)
    log.observe(scope, lambda entry, _line: seen.append(("calm", entry.seq)))
    log.append(TurnStart(turn=1))
    assert seen == [("eager", 0), ("calm", 0), ("eager", 1), ("calm", 1)]


@pytest.mark.parametrize("error", [RuntimeError(), SystemExit(1), asyncio.CancelledError()])
def test_an_observer_that_throws_cannot_hurt_anybody(error: BaseException) -> None:
    log, scope = new_log(), Scope("s")
    seen: list[int] = []

    def broken(_entry: Entry, _line: bytes) -> None:
        raise error

    log.observe(scope, broken)
    log.observe(scope, lambda entry, _line: seen.append(entry.seq))
    log.append(TurnStart(turn=1))
    assert seen == [0]
    assert log.seq == 0


async def test_an_observer_leaves_with_its_scope() -> None:
    log, scope = new_log(), Scope("s")
    seen: list[int] = []
    log.observe(scope, lambda entry, _line: seen.append(entry.seq))
    log.append(TurnStart(turn=1))
    await scope.aclose()
    log.append(TurnStart(turn=2))
    assert seen == [0]
