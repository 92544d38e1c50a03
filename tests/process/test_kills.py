"""Servers that are killed at random moments of random turns, and what is there afterwards."""

import os
import sys
from collections import Counter, deque
from pathlib import Path

import anyio
import anyio.abc
import pytest

from process.autopsy import Case, require_all_open
from process.life import Life, require_no_children
from process.person import Person
from process.world import Fate, World, require_killed
from turnbuckle.lsp.rpc import NoAnswer
from turnbuckle.testing.modelserver import ModelServer

if sys.platform == "win32":
    pytest.skip("needs SIGKILL", allow_module_level=True)

KILLS = int(os.environ.get("TURNBUCKLE_KILLS", "200"))
BATCHES = 8
FIRST = int(os.environ.get("TURNBUCKLE_KILL_SEED", "0")) or int.from_bytes(os.urandom(3))
AHEAD = 2
"""How many servers start while one lives."""
LIMIT = 60
"""Seconds that one life may take, on a machine that does much else."""


class Kills:
    """Server after server on one state folder; the next ones start while one lives."""

    def __init__(self, world: World, url: str, tasks: anyio.abc.TaskGroup) -> None:
        self.world = world
        self.stats: Counter[str] = Counter()
        self._cases: list[Case] = []
        self._case: Case | None = None
        self._url = url
        self._tasks = tasks
        self._lives = 0
        self._waiting = deque(self._begun() for _ in range(AHEAD))

    def _begun(self) -> Life:
        self._lives += 1
        life = Life(f"{self.world.rng.getrandbits(64):x}-{self._lives}")
        self._tasks.start_soon(life.run, self.world.work, self.world.state, self._url)
        return life

    async def one(self) -> None:
        """One life of a server: it opens a session, works in it, and is killed."""
        life = self._waiting.popleft()
        self._waiting.append(self._begun())
        self.world.begin()
        await life.ready.wait()
        life.on_message = self.world.tick
        self._case = None
        if self._cases and not self.world.chance(0.2):
            self._case = self.world.rng.choice(self._cases[-3:])
        try:
            await self._live(life)
        except NoAnswer:
            require_killed(life.last_words, self.world)
        await life.buried()
        await require_no_children(life.mark)
        self.stats["kills"] += 1
        if self._case is None:
            return
        self._case.killed(life, self.stats)
        if not self._case.lines:  # there is no session without a fact
            self._cases.remove(self._case)

    async def end(self) -> None:
        """End the servers that were to be the next, and look at all sessions that there are."""
        for life in self._waiting:
            await life.ready.wait()
            life.kill()
            await life.buried()
        require_all_open(self.world.state, self.stats)

    async def _live(self, life: Life) -> None:
        """Open a session, look at it, let a turn complete, and then let go until the kill."""
        world, case = self.world, self._case
        if early := world.chance(0.15):
            world.fate = Fate(world.rng.randrange(1, 12), life.kill)
        opened = await life.open(case.session_id if case else None)
        if case is None:
            case = self._case = Case(world, opened.session_id)
            self._cases.append(case)
        elif not early:
            case.opened(self.stats)
            assert opened.seq == len(case.lines) - 1
        result = await life.turn(opened.session_id, "how is it?")
        if not early:
            assert result.end == {"kind": "completed"}
            case.whole(self.stats)
            # Many of the moments are early ones, some are late.
            world.fate = Fate(1 + int(400 * world.rng.random() ** 2), life.kill)
        world.calm = False
        await Person(life, world, opened.session_id).go()


@pytest.mark.timeout(LIMIT * 20)
@pytest.mark.parametrize("batch", range(BATCHES))
async def test_a_server_that_is_killed_at_any_moment_loses_nothing_that_anybody_saw(
    batch: int, tmp_path: Path
) -> None:
    seed = FIRST + batch
    print(f"TURNBUCKLE_KILL_SEED={FIRST}")  # noqa: T201
    world = World(seed, tmp_path)
    async with ModelServer() as model, anyio.create_task_group() as tasks:
        model.script = [world.play] * 100_000
        kills = Kills(world, model.url, tasks)
        try:
            for _ in range(KILLS // BATCHES):
                with anyio.fail_after(LIMIT):
                    await kills.one()
            await kills.end()
        except BaseException as error:
            error.add_note(f"TURNBUCKLE_KILL_SEED={FIRST} makes the same choices again")
            raise
    print(dict(sorted(kills.stats.items())))  # noqa: T201
    assert kills.stats["kills"] == KILLS // BATCHES
    if KILLS // BATCHES >= 25:  # enough to have met what matters
        for met in ("turns that were cut off", "commands", "result ok"):
            assert kills.stats[met], f"no {met} among {KILLS // BATCHES} kills"
