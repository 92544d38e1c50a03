"""A disk that fills up in the middle of an answer, and in the middle of an edit: a real one."""

import sys
from collections import Counter
from pathlib import Path

import anyio
import pytest

from load.mounting import SMALL, can_mount, mounted, seen_by
from process.autopsy import Case, require_seen
from process.life import Life
from process.world import World
from turnbuckle.session.codec import parse
from turnbuckle.session.events import AssistantMessage
from turnbuckle.session.store import read_lines
from turnbuckle.testing.completions import answer
from turnbuckle.testing.modelserver import ModelServer

LIMIT = 60
WORDS = 20_000
"""So many that what is said of them does not fit on what is left of the disk."""

KEPT = "what was said last is kept in memory only"


class Disk:
    """What is left of a disk, in our hands."""

    def __init__(self, folder: Path) -> None:
        self._filler = folder / "filler"

    def fill(self, left: int) -> None:
        """Leave so many bytes."""
        with self._filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                file.truncate(max(0, file.tell() - left))

    def empty(self) -> None:
        """Make room."""
        self._filler.unlink()


async def test_a_disk_that_fills_up_ends_the_turn_and_with_room_all_of_it_is_there(
    tmp_path: Path,
) -> None:
    world, state = World(0, tmp_path), tmp_path / "state"
    state.mkdir()
    if not can_mount(SMALL, state):
        pytest.skip("nothing can be mounted here")
    async with ModelServer() as model, anyio.create_task_group() as tasks:
        model.script = [world.play] * 100
        life = Life("small")
        life.argv = (*mounted(SMALL, state), *Life.argv)
        tasks.start_soon(life.run, world.work, state, model.url)
        with anyio.fail_after(LIMIT):
            await life.ready.wait()
            world.state = seen_by(life.pid, state)
            case, disk = Case(world, (await life.open(None)).session_id), Disk(world.state)
            assert (await life.turn(case.session_id, "first")).end == {"kind": "completed"}

            disk.fill(16 * 1024)
            world.plan = [answer("word " * WORDS)]
            await is_ended(life, case, KEPT)
            disk.fill(1024)
            before, world.plan = world.files(), world.edit_turn()
            await is_ended(life, case, "nothing was run")
            assert world.files() == before

            disk.empty()
            world.plan = []
            assert (await life.turn(case.session_id, "again")).end == {"kind": "completed"}
            lines, _ = read_lines(case.path)
            for value in life.values:
                require_seen(value, lines)
            case.whole(Counter())
            life.kill()
            await life.buried()


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of another process")
async def test_an_answer_that_does_not_fit_is_told_as_unwritten_and_is_written_later(
    tmp_path: Path,
) -> None:
    import resource  # not on Windows

    world = World(0, tmp_path)
    async with ModelServer() as model, anyio.create_task_group() as tasks:
        model.script = [world.play] * 100
        life = Life("limited")
        tasks.start_soon(life.run, world.work, world.state, model.url)
        with anyio.fail_after(LIMIT):
            await life.ready.wait()
            case = Case(world, (await life.open(None)).session_id)
            assert (await life.turn(case.session_id, "first")).end == {"kind": "completed"}
            hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
            room = case.path.stat().st_size + 16 * 1024
            resource.prlimit(life.pid, resource.RLIMIT_FSIZE, (room, hard))
            world.plan = [answer("word " * WORDS)]
            await is_ended(life, case, KEPT)
            resource.prlimit(life.pid, resource.RLIMIT_FSIZE, (hard, hard))
            await life.client.shutdown()
            life.over.set()
        lines, _ = read_lines(case.path)
        said = [
            fact.content
            for fact in (parse(one).fact for one in lines)
            if isinstance(fact, AssistantMessage)
        ]
        assert said[-1] == "word " * WORDS
        case.whole(Counter())


async def is_ended(life: Life, case: Case, kept: str) -> None:
    """A turn ends with what became of it and what to do, and the file holds whole lines."""
    full = await life.turn(case.session_id, "more")
    assert full.end.get("failure", {}).get("kind") == "store", full.end
    assert "Make room" in full.end["failure"]["message"]
    assert kept in full.end["failure"]["message"]
    assert not read_lines(case.path)[1]
