"""Twenty sessions that work at once on one server, each as if it were alone."""

import asyncio
import os
import random
import sys
from collections import Counter
from pathlib import Path

import anyio
import pytest

from load.crowd import ACTS, ENDLESS, Member, require_whole
from load.stage import Begin, alone, here
from turnbuckle.testing.strategies import soak

if sys.platform == "win32":
    pytest.skip("its commands are a shell's", allow_module_level=True)

SESSIONS = 20
ROUNDS = soak(2)
"""How often each member asks for each thing that can be asked for."""

SEED = int(os.environ.get("TURNBUCKLE_KILL_SEED", "0")) or int.from_bytes(os.urandom(3))
LIMIT = 120.0

HEARD = 1_000
"""Characters that each must say again and again, while all the others talk on."""

SOME = ("talk", "write", "stop-stream", "command")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("begin", [here, alone])
async def test_twenty_sessions_at_once_do_what_each_was_asked_and_nothing_else(
    begin: Begin, tmp_path: Path
) -> None:
    print(f"TURNBUCKLE_KILL_SEED={SEED}")  # noqa: T201
    rng = random.Random(SEED)
    async with begin(tmp_path) as stage:
        members = [await stage.join(number) for number in range(1, SESSIONS + 1)]
        plans = [rng.sample([*ACTS] * ROUNDS, len(ACTS) * ROUNDS) for _ in members]
        async with anyio.create_task_group() as tasks:
            for member, plan in zip(members, plans, strict=True):
                tasks.start_soon(follow, member, plan)
        assert stage.ears.mixed == []
        for member in members:
            await stage.crowd.leave(member)
        assert stage.crowd.strangers == []
    found: Counter[str] = Counter()
    for member in members:
        found += require_whole(stage.state, stage.work, member)
        assert len(member.turns) == len(ACTS) * ROUNDS
    assert found["requests"] == sum(stage.ears.asked.values())
    print(dict(sorted(found.items())))  # noqa: T201


@pytest.mark.timeout(300)
@pytest.mark.parametrize("begin", [here, alone])
async def test_sessions_that_are_closed_in_the_middle_of_their_turns_end_and_leave_nothing(
    begin: Begin, tmp_path: Path
) -> None:
    async with begin(tmp_path) as stage:
        members = [await stage.join(number) for number in range(1, SESSIONS + 1)]
        acts = [[*ENDLESS][1 + number % 3] for number in range(SESSIONS)]
        async with anyio.create_task_group() as tasks:
            for member, act in zip(members, acts, strict=True):
                tasks.start_soon(shut_down, member, act)
            for member, act in zip(members, acts, strict=True):
                await member.under_way(act)
            async with anyio.create_task_group() as closing:
                for member in members:
                    closing.start_soon(stage.crowd.leave, member)
        last = await stage.join(SESSIONS + 1)
        await follow(last, [*SOME])
        for member in (*members, last):
            require_whole(stage.state, stage.work, member)
    assert not [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


async def shut_down(member: Member, act: str) -> None:
    """A turn that ends with its session."""
    await member.turn(act, ends={"kind": "aborted", "cause": "shutdown"})


async def heard(members: list[Member], more: int) -> None:
    """Wait until each has said more than so many characters from now on."""
    begun = {member.name: member.said for member in members}
    for member in members:
        await member.until(lambda m=member: m.said > begun[m.name] + more)  # type: ignore[misc]


async def follow(member: Member, plan: list[str]) -> None:
    """Ask for one thing after the other."""
    for act in plan:
        await member.turn(act)


@pytest.mark.timeout(300)
async def test_who_floods_who_waits_and_who_runs_for_ever_hold_up_nobody(tmp_path: Path) -> None:
    async with alone(tmp_path) as stage:
        members = [await stage.join(number) for number in range(1, SESSIONS + 1)]
        busy, others = members[: len(ENDLESS)], members[len(ENDLESS) :]
        async with anyio.create_task_group() as tasks:
            for member, act in zip(busy, ENDLESS, strict=True):
                tasks.start_soon(member.turn, act)
            for member, act in zip(busy, ENDLESS, strict=True):
                await member.under_way(act)
            async with anyio.create_task_group() as working:
                for member in others:
                    working.start_soon(follow, member, [*SOME])
            for member in busy:
                assert not member.turns, "it was to be busy all the time"
                await member.stop()
        for member in others:
            require_whole(stage.state, stage.work, member)
        assert stage.ears.mixed == []


@pytest.mark.timeout(300)
async def test_twenty_models_that_never_come_to_an_end_are_all_heard_again_and_again(
    tmp_path: Path,
) -> None:
    async with alone(tmp_path) as stage:
        members = [await stage.join(number) for number in range(1, SESSIONS + 1)]
        async with anyio.create_task_group() as tasks:
            for member in members:
                tasks.start_soon(member.turn, "flood")
            with anyio.fail_after(LIMIT):
                for member in members:
                    await member.under_way("flood")
                begun = [member.said for member in members]
                for _ in range(3):
                    await heard(members, HEARD)
            said = sorted(m.said - before for m, before in zip(members, begun, strict=True))
            for member in members:
                tasks.start_soon(member.stop)
        print(f"characters heard: {said[0]} to {said[-1]}")  # noqa: T201
