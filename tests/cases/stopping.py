"""What may outlive a cancel: the cases E."""

import asyncio
from pathlib import Path
from typing import Any

import anyio
import pytest

from cases import stopping_wire
from cases.case import Case, Run
from cases.stopping_phases import PHASES, STUBBORN, command, hanging, talk
from process.leftovers import require_none, running
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.rpc import REQUEST_FAILED
from turnbuckle.testing.completions import answer, chunk, failure
from turnbuckle.testing.modelserver import Response

IDLE = 2.0
"""Seconds after a stop within which a session must be there for the next message."""

ABORTED = ("aborted", "user")
COMPLETED = ("completed", None)


async def no_grandchild(case: Case, folder: Path) -> None:
    """A stop ends all that a command has started."""
    data, expect = case.data, case.data["expect"]
    async with talk([command(data["command"]), answer("done")], folder) as there:
        turn = there.server.send(there.session_id, "go")
        await there.allow()
        await there.server.fact("tool/start")
        await anyio.sleep(data["cancel_after_s"])  # so long does the person wait
        there.stop()
        with anyio.fail_after(expect["ends_within_s"]):
            await turn.answer()
        assert len(running(there.server.work)) == expect["survivors"]
        await require_none(there.server.work)


async def in_each_phase(_case: Case, folder: Path) -> None:
    """Wherever a turn is stopped, it ends once and the session is there for the next."""
    for number, (name, phase) in enumerate(PHASES.items()):
        later = [answer("Words."), answer("on")] if phase.window else [answer("on")]
        script = [*phase.plays, *later]
        async with talk(script, folder / str(number), phase.window) as there:
            for _ in range(phase.before):
                await there.turn("speak")
            turn = there.server.send(there.session_id, "go")
            await phase.reached(there)
            there.stop()
            with anyio.fail_after(IDLE):
                assert (await there.server.answer(turn)).end["kind"] == "aborted", name
            # It is accepted only by a session that is idle.
            after = await there.turn("go on", whenBusy="reject")
            assert after.end == {"kind": "completed"}, name
            assert there.ends() == [COMPLETED] * phase.before + [ABORTED, COMPLETED], name
            await require_none(there.server.work)


async def and_sent_at_once(_: Case, folder: Path) -> None:
    """What is sent right behind a stop runs once the stop is through; without one it waits."""
    go_on = asyncio.Event()
    slow = Response(chunks=[go_on, *answer("three").chunks])
    script = [command(STUBBORN), answer("two"), slow, answer("four")]
    async with talk(script, folder) as there:
        first = there.server.send(there.session_id, "one")
        await there.allow()
        await there.shown("begun")
        there.stop()
        second = there.server.send(there.session_id, "two")
        assert (await there.server.answer(first)).end["kind"] == "aborted"
        assert (await there.server.answer(second)).end["kind"] == "completed"
        # And one that is sent into a turn: it waits for it, or is refused, as it says.
        third = there.server.send(there.session_id, "three")
        await there.model.received(3)
        fourth = there.server.send(there.session_id, "four", whenBusy="queue")
        with pytest.raises(ServerRefused) as refused:
            await there.turn("five", whenBusy="reject")
        assert refused.value.code == REQUEST_FAILED
        data: Any = refused.value.data  # Any: JSON
        assert data["kind"] == "busy"
        go_on.set()
        answers = [await there.server.answer(one) for one in (third, fourth)]
        assert [one.turn for one in answers] == [3, 4]
        assert there.ends() == [ABORTED, COMPLETED, COMPLETED, COMPLETED]


async def before_a_retry(case: Case, folder: Path) -> None:
    """A stop in the wait for another attempt is the last that the model hears of it."""
    for number, data in enumerate(case.data["cases"]):
        refusal = data["responses"][0]
        script = [failure(refusal["status"], {"message": "later"}, refusal["headers"])]
        async with talk(script, folder / str(number)) as there:
            turn = there.server.send(there.session_id, "go")
            await there.server.fact("llm/failed")
            await anyio.sleep(data["cancel_after_s"])  # so long does the person wait
            there.stop()
            with anyio.fail_after(data["expect"]["ends_within_s"]):
                assert (await there.server.answer(turn)).end["kind"] == "aborted"
            await there.server.opened(there.session_id).driver.idle()
            assert len(there.model.requests) == data["expect"]["attempts"]
            assert there.ends() == [ABORTED]


async def and_gone_on(_: Case, folder: Path) -> None:
    """A stop is no failure: what was granted and what was said is still there."""
    script = [
        command("echo granted"),
        command("echo granted", "c2"),
        hanging(chunk({"content": "I was going to"})),
        command("echo granted", "c3"),
        answer("done"),
    ]
    async with talk(script, folder) as there:
        turn = there.server.send(there.session_id, "one")
        await there.allow(remember="session")
        await there.said("I was going to")
        there.stop()
        assert (await there.server.answer(turn)).end == {"kind": "aborted", "cause": "user"}
        assert (await there.turn("go on")).end == {"kind": "completed"}
        assert len(there.server.facts("approval/asked")) == 1
        assert not there.server.facts("llm/failed")
        sent = [(m["role"], m["content"]) for m in there.model.requests[3].json["messages"]]
        said = [content for role, content in sent if role in ("user", "assistant")]
        assert said[0] == "one"
        assert said[-2:] == ["I was going to", "go on"]
        assert sum(role == "tool" for role, _ in sent) == 2


RUN: dict[str, Run] = {
    "E01": no_grandchild,
    "E03": in_each_phase,
    "E04": and_sent_at_once,
    "E08": before_a_retry,
    "E10": and_gone_on,
    **stopping_wire.RUN,
}
