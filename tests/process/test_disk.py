"""A disk that is full under a real server: a clear end, nothing lost, and on it goes with room."""

import errno
import os
import sys
from collections import Counter
from pathlib import Path

import anyio
import pytest

from process.autopsy import Case, require_seen
from process.life import Life
from process.world import World
from turnbuckle.session.codec import parse
from turnbuckle.session.events import InboxAdded
from turnbuckle.session.store import read_lines
from turnbuckle.testing.completions import answer
from turnbuckle.testing.modelserver import ModelServer

if sys.platform != "linux":
    pytest.skip("needs limits of another process", allow_module_level=True)

import resource

ROOM = 512
"""Bytes that the log may still grow by."""


async def test_a_full_disk_ends_the_turn_and_with_room_the_next_one_goes_on(tmp_path: Path) -> None:
    world = World(0, tmp_path)
    async with ModelServer() as model, anyio.create_task_group() as tasks:
        model.script = [world.play] * 100
        life = Life("full")
        tasks.start_soon(life.run, world.work, world.state, model.url)
        with anyio.fail_after(60):
            await life.ready.wait()
            case = Case(world, (await life.open(None)).session_id)
            assert (await life.turn(case.session_id, "first")).end == {"kind": "completed"}
            asked, hard = world.requests, resource.getrlimit(resource.RLIMIT_FSIZE)[1]
            limit = case.path.stat().st_size + ROOM
            resource.prlimit(life.pid, resource.RLIMIT_FSIZE, (limit, hard))
            full = await life.turn(case.session_id, "x" * 2 * ROOM)
            assert full.end["kind"] == "error"
            assert full.end["failure"]["kind"] == "store"
            assert f"({os.strerror(errno.EFBIG)})" in full.end["failure"]["message"]
            assert "Make room" in full.end["failure"]["message"]
            assert world.requests == asked, "a model was asked, and that was not on disk"
            lines, torn = read_lines(case.path)
            assert not torn
            assert [parse(line).seq for line in lines] == list(range(len(lines)))

            resource.prlimit(life.pid, resource.RLIMIT_FSIZE, (hard, hard))
            world.plan = [answer("There is room.")]
            assert (await life.turn(case.session_id, "again")).end == {"kind": "completed"}
            lines, torn = read_lines(case.path)
            facts = [parse(line).fact for line in lines]
            sent = [fact.input for fact in facts if isinstance(fact, InboxAdded)]
            assert sent == ["first", "x" * 2 * ROOM, "again"]
            for value in life.values:
                require_seen(value, lines)
            life.kill()
            await life.buried()
            case.whole(Counter())


async def test_without_a_state_folder_the_server_lives_and_says_what_to_do(tmp_path: Path) -> None:
    world = World(0, tmp_path)
    world.state.parent.mkdir(parents=True, exist_ok=True)
    world.state.write_text("in the way")
    async with ModelServer() as model, anyio.create_task_group() as tasks:
        model.script = [world.play] * 100
        life = Life("nowhere")
        tasks.start_soon(life.run, world.work, world.state, model.url)
        with anyio.fail_after(60):
            await life.ready.wait()
            session_id = (await life.open(None)).session_id
            lost = await life.turn(session_id, "first")
            assert lost.end["failure"]["kind"] == "store"
            assert str(world.state) in lost.end["failure"]["message"]
            assert "check the folder" in lost.end["failure"]["message"]
            assert world.requests == 0, "a model was asked, and that was not on disk"
            assert world.state.read_text() == "in the way"

            world.state.unlink()
            world.plan = [answer("There is a folder.")]
            assert (await life.turn(session_id, "again")).end == {"kind": "completed"}
            (path,) = world.state.glob(f"sessions/**/{session_id}.jsonl")
            lines, torn = read_lines(path)
            assert not torn
            sent = [f.input for f in (parse(x).fact for x in lines) if isinstance(f, InboxAdded)]
            assert sent == ["first", "again"]
            for value in life.values:
                require_seen(value, lines)
            life.kill()
            await life.buried()
