"""A server that works for long is afterwards what it was before; what may grow is stated here."""

import sys
from pathlib import Path

import pytest

from load.crowd import ACTS, Member, path_of, require_whole
from load.figures import MIB, Figures
from load.stage import Stage, alone
from turnbuckle.lsp import names
from turnbuckle.session.verification import verify_file
from turnbuckle.testing.strategies import soak

if sys.platform != "linux":
    pytest.skip("its figures are Linux's", allow_module_level=True)

TURNS = soak(500)
SESSIONS = soak(200)
LOOPS = soak(300)
WARM = 50
"""Turns, or sessions, after which everything that is made once has been made."""

OF_A_TURN = 48 * 1024
"""Bytes by which an open session may grow with each of these turns: its facts are kept at hand."""

SLACK = 6 * MIB
"""Bytes by which a server may grow on top, however long it works: what the allocator keeps."""

DESCRIPTORS, THREADS = 4, 8
"""How many more of them there may be at one moment than at another."""


def figures(stage: Stage) -> Figures:
    """Those of the server now."""
    assert stage.life is not None
    return Figures.of(stage.life.pid, stage.temporary, stage.work, stage.state)


def require_as_before(grown: Figures, *, memory: int, files: int) -> None:
    """Pass if a server has grown by no more than this."""
    print(grown)  # noqa: T201
    assert grown.memory <= memory
    assert grown.descriptors <= DESCRIPTORS
    assert grown.threads <= THREADS
    assert grown.children == 0
    assert grown.files <= files


@pytest.mark.timeout(60 + TURNS)
async def test_five_hundred_turns_in_one_session_leave_its_facts_and_nothing_else(
    tmp_path: Path,
) -> None:
    async with alone(tmp_path) as stage:
        member = await stage.join(1)
        for number in range(WARM):
            await one_turn(stage, member, number)
        before = figures(stage)
        for number in range(WARM, WARM + TURNS):
            await one_turn(stage, member, number)
        made = 1 + len(range(WARM, WARM + TURNS)) // len(ACTS)  # files that the turns wrote
        grown = figures(stage) - before
        require_as_before(grown, memory=SLACK + TURNS * OF_A_TURN, files=made)
        await stage.crowd.leave(member)
        verified = verify_file(path_of(stage.state, member))
        assert verified.ok, verified
        assert verified.requests == stage.ears.asked[member.name]


async def one_turn(stage: Stage, member: Member, number: int) -> None:
    """One turn of which this test keeps nothing."""
    await member.turn(ACTS[number % len(ACTS)])
    member.forget()
    stage.model.requests.clear()


@pytest.mark.timeout(60 + SESSIONS)
async def test_two_hundred_sessions_one_after_another_leave_their_files_and_nothing_else(
    tmp_path: Path,
) -> None:
    async with alone(tmp_path) as stage:
        for number in range(WARM):
            await one_session(stage, number)
        before = figures(stage)
        for number in range(WARM, WARM + SESSIONS):
            await one_session(stage, number)
        # Its log, the lock of that, and what it reads and wrote.
        require_as_before(figures(stage) - before, memory=SLACK, files=4 * SESSIONS)


async def one_session(stage: Stage, number: int) -> None:
    """A session that is opened, has turns, and is closed."""
    member = await stage.join(number)
    for act in ("talk", ACTS[number % len(ACTS)]):
        await member.turn(act)
    await stage.crowd.leave(member)
    if number % 20 == 0:
        require_whole(stage.state, stage.work, member)
    stage.model.requests.clear()


@pytest.mark.timeout(60 + LOOPS)
async def test_those_who_watch_and_go_again_leave_nothing(tmp_path: Path) -> None:
    async with alone(tmp_path) as stage:
        member = await stage.join(1)
        await member.turn("write")
        for number in range(WARM):
            await come_and_go(stage, member, number)
        before = figures(stage)
        for number in range(WARM, WARM + LOOPS):
            await come_and_go(stage, member, number)
        require_as_before(figures(stage) - before, memory=SLACK, files=0)
        await member.turn("talk")


async def come_and_go(stage: Stage, member: Member, number: int) -> None:
    """Somebody hears of a session, and of all sessions, and goes away again."""
    client = stage.client
    told = {"sessionId": member.session_id, "token": f"told {number}"}
    await client.request(names.SESSION_EVENTS, told)
    await client.request(names.WATCH, {"token": f"watch {number}"})
    for token in (f"told {number}", f"watch {number}"):
        await client.request(names.SESSION_EVENTS_STOP, {"token": token})
