"""Model servers, commands, editors and servers that are killed at random, one after another."""

import os
import secrets
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.abc
import pytest

from process.autopsy import Case, require_all_open
from process.life import Life, require_no_children
from process.person import Person
from process.world import Fate, World, require_killed
from turnbuckle.lsp import names
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.rpc import NoAnswer
from turnbuckle.testing.modelserver import ModelServer

if sys.platform != "linux":
    pytest.skip("looks at /proc", allow_module_level=True)

FAULTS = int(os.environ.get("TURNBUCKLE_KILLS", "200")) // 10
SEED = int(os.environ.get("TURNBUCKLE_KILL_SEED", "0")) or int.from_bytes(os.urandom(3))
LIMIT = 90
"""Seconds that one fault and what follows may take, on a machine that does much else."""

KINDS = ("model", "model", "tool", "tool", "editor", "server")


class Edited(Life):
    """A server that an editor has started, which is a process too."""

    argv: Sequence[str] = (sys.executable, str(Path(__file__).parent / "relay.py"), *Life.argv)

    @property
    def editor(self) -> int:
        """The editor's process."""
        return self.pid

    @property
    def server(self) -> int:
        """The server's process."""
        (found,) = _children(self.editor)
        return found


def _children(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        said = [(task / "children").read_text("ascii") for task in tasks]
    except OSError:
        return []  # it has ended meanwhile
    return [int(child) for one in said for child in one.split()]


def _below(pid: int) -> list[int]:
    """Everything that a process has started, and what that has."""
    return [one for child in _children(pid) for one in (child, *_below(child))]


class Faults:
    """One session over many lives of its server, with a fault after a random number of things."""

    def __init__(self, world: World, model: ModelServer, tasks: anyio.abc.TaskGroup) -> None:
        self.world = world
        self.stats: Counter[str] = Counter()
        self._model = model
        self._tasks = tasks
        self._life: Edited | None = None
        self._case: Case | None = None

    async def one(self) -> None:
        """One fault: the server goes on after it, or is gone and another goes on in its place."""
        life, case = await self._living()
        kind = self.world.rng.choice(KINDS)
        faults = {
            "model": self._model.kill,
            "tool": self._kill_a_tool,
            "editor": lambda: os.kill(life.editor, signal.SIGKILL),
            "server": lambda: os.kill(life.server, signal.SIGKILL),
        }
        self.world.calm = False
        self.world.fate = Fate(1 + int(200 * self.world.rng.random() ** 2), faults[kind])
        life.on_message = self.world.tick
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._after, life, case, kind)
                await Person(life, self.world, case.session_id).go()
            self.stats[kind] += 1
            if kind in ("model", "tool"):
                await self._goes_on(life, case)
                return
        except NoAnswer:
            require_killed(life.last_words, self.world)
        await self._bury(life, case)

    async def end(self) -> None:
        """Look at all sessions that there are, after one more kill."""
        if self._life is not None:
            assert self._case is not None
            os.kill(self._life.server, signal.SIGKILL)
            await self._bury(self._life, self._case)
        require_all_open(self.world.state, self.stats)

    async def _living(self) -> tuple[Edited, Case]:
        """A server that lives, and the session, in which no turn runs."""
        if self._life is None:
            life = self._life = Edited(secrets.token_hex(8))
            self.world.begin()
            self._tasks.start_soon(life.run, self.world.work, self.world.state, self._model.url)
            await life.ready.wait()
            opened = await life.open(self._case.session_id if self._case else None)
            if self._case is None:
                self._case = Case(self.world, opened.session_id)
            else:
                self._case.opened(self.stats)
            await self._goes_on(life, self._case)
        assert self._case is not None
        return self._life, self._case

    def _kill_a_tool(self) -> None:
        """Kill one of the processes of a command, now or as soon as one runs."""
        assert self._life is not None
        if not (found := _below(self._life.server)):
            self.world.fate = Fate(1, self._kill_a_tool)
            return
        os.kill(self.world.rng.choice(found), signal.SIGKILL)
        self.stats["killed while commands ran"] += 1

    async def _after(self, life: Edited, case: Case, kind: str) -> None:
        """Once the fault has come, see to it that what runs comes to its end."""
        while (fate := self.world.fate) is not None and not fate.came.is_set():
            await fate.came.wait()
        self.world.calm = True
        if kind == "model":
            await self._model.listen()
        try:
            await life.client.request(names.CANCEL, {"sessionId": case.session_id})
            while not await self._awake(life, case):
                pass
        except NoAnswer:
            pass  # the server was killed

    async def _awake(self, life: Edited, case: Case) -> bool:
        """Send one more message, with which all that waits has its turn; False if it was dropped."""
        try:
            await life.turn(case.session_id, "and now?")
        except ServerRefused:
            return False
        return True

    async def _goes_on(self, life: Edited, case: Case) -> None:
        """A turn is as if nothing had been."""
        self.world.calm, self.world.fate = True, None
        result = await life.turn(case.session_id, "how is it?")
        assert result.end == {"kind": "completed"}
        case.whole(self.stats)

    async def _bury(self, life: Edited, case: Case) -> None:
        await life.buried()
        await require_no_children(life.mark)
        case.killed(life, self.stats)
        self._life = None


@pytest.mark.timeout(LIMIT * FAULTS)
async def test_whoever_is_killed_at_any_moment_nothing_is_lost_and_all_goes_on(
    tmp_path: Path,
) -> None:
    print(f"TURNBUCKLE_KILL_SEED={SEED}")  # noqa: T201
    world = World(SEED, tmp_path)
    async with ModelServer() as model, anyio.create_task_group() as tasks:
        model.script = [world.play] * 100_000
        faults = Faults(world, model, tasks)
        try:
            for _ in range(FAULTS):
                with anyio.fail_after(LIMIT):
                    await faults.one()
            await faults.end()
        except BaseException as error:
            error.add_note(f"TURNBUCKLE_KILL_SEED={SEED} makes the same choices again")
            raise
    print(dict(sorted(faults.stats.items())))  # noqa: T201
    assert sum(faults.stats[kind] for kind in set(KINDS)) <= FAULTS
