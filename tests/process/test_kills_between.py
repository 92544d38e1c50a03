"""Servers that are killed while another waits for the session, and in the middle of its changes."""

import os
import sys
from collections import Counter
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

if sys.platform == "win32":
    pytest.skip("needs SIGKILL", allow_module_level=True)

SEED = int(os.environ.get("TURNBUCKLE_KILL_SEED", "0")) or int.from_bytes(os.urandom(3))
TAKEN_OVER = 8
CHANGES = 5
LIMIT = 60


class Street:
    """Where servers live, one after another and beside each other."""

    def __init__(self, folder: Path, url: str, tasks: anyio.abc.TaskGroup) -> None:
        print(f"TURNBUCKLE_KILL_SEED={SEED}")  # noqa: T201
        self.world = World(SEED, folder)
        self.stats: Counter[str] = Counter()
        self._url = url
        self._tasks = tasks
        allowed = f"[approvals.writes]\nallow = ['{self.world.work}']\n"
        (folder / "config.toml").write_text(allowed, encoding="utf-8")

    def begun(self) -> Life:
        """A server that starts."""
        mark = f"{self.world.rng.getrandbits(64):x}"
        life = Life(mark, TURNBUCKLE_CONTEXT_WINDOW="8000")
        self._tasks.start_soon(life.run, self.world.work, self.world.state, self._url)
        return life

    def doom(self, life: Life, after: int) -> None:
        """Kill a server after so many things have happened."""
        self.world.begin()
        self.world.fate = Fate(after, life.kill)
        life.on_message = self.world.tick


async def test_the_second_window_goes_on_when_the_first_is_killed(tmp_path: Path) -> None:
    async with ModelServer() as model, anyio.create_task_group() as tasks:
        street = Street(tmp_path, model.url, tasks)
        model.script, world = [street.world.play] * 100_000, street.world
        owner, second = street.begun(), street.begun()
        await owner.ready.wait()
        case = Case(world, (await owner.open(None)).session_id)
        assert (await owner.turn(case.session_id, "begin")).end == {"kind": "completed"}
        for _ in range(TAKEN_OVER):
            with anyio.fail_after(LIMIT):
                await second.ready.wait()
                assert (await second.open(case.session_id)).read_only
                street.doom(owner, 1 + int(200 * world.rng.random() ** 2))
                world.calm = False
                await Person(owner, world, case.session_id).go()
                await owner.buried()
                await require_no_children(owner.mark)
                case.killed(owner, street.stats)
                world.begin()
                assert (await second.turn(case.session_id, "go on")).end == {"kind": "completed"}
                case.taken_over(street.stats)
                owner, second = second, street.begun()
        for life in (owner, second):
            await life.ready.wait()
            life.kill()
            await life.buried()
        require_all_open(world.state, street.stats)
    assert street.stats["turns that were cut off"]


OPERATIONS: dict[str, tuple[str, dict[str, object]]] = {
    "fork": (names.SESSION_FORK, {"turn": 1}),
    "rewind": (names.SESSION_REWIND, {"files": "restore"}),
    "compact": (names.SESSION_COMPACT, {}),
    "delete": (names.SESSION_DELETE, {}),
}


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_kill_in_the_middle_of_a_change_leaves_sessions_that_open(
    operation: str, tmp_path: Path
) -> None:
    async with ModelServer() as model, anyio.create_task_group() as tasks:
        street = Street(tmp_path, model.url, tasks)
        model.script, world = [street.world.play] * 100_000, street.world
        life, case = street.begun(), None
        for number in range(CHANGES):
            with anyio.fail_after(LIMIT):
                following = street.begun()
                world.begin()
                await life.ready.wait()
                opened = await life.open(case.session_id if case else None)
                if case is not None:
                    case.opened(street.stats)
                case = case or Case(world, opened.session_id)
                world.plan = world.edit_turn()
                result = await life.turn(case.session_id, "edit")
                assert result.end == {"kind": "completed"}
                case.whole(street.stats)
                await operate(life, case, operation, street, result.turn, number)
                await life.buried()
                if case.path.exists():
                    case.killed(life, street.stats)
                else:
                    assert operation == "delete"
                    case = None
                require_all_open(world.state, street.stats)
                life = following
        await life.ready.wait()
        life.kill()
        await life.buried()
    print(dict(sorted(street.stats.items())))  # noqa: T201


async def operate(
    life: Life, case: Case, operation: str, street: Street, turn: int, number: int
) -> None:
    """Ask for the change, and kill while it is made, the earlier the smaller the number.

    Other questions are answered meanwhile.
    """
    method, more = OPERATIONS[operation]
    params: dict[str, object] = {"sessionId": case.session_id, **more}
    if "files" in params:
        params["turn"] = turn
    # Most of these take as long as some ten or twenty questions.
    street.doom(life, street.world.rng.randrange(number * number, (number + 1) ** 2) + 1)
    asked = life.client.ask(method, params)
    async with anyio.create_task_group() as group:
        group.start_soon(ask_on, life, case, street.world, group.cancel_scope)
        try:
            await asked.answer()
            street.stats["done before the kill"] += 1
        except NoAnswer:
            require_killed(life.last_words, street.world)
        group.cancel_scope.cancel()
    if street.world.fate is not None and not street.world.fate.came.is_set():
        life.kill()


async def ask_on(life: Life, case: Case, world: World, until: anyio.CancelScope) -> None:
    """Ask one thing after the other; each answer is one of the moments."""
    while not until.cancel_called:
        try:
            await life.client.request(names.GRANTS, {"sessionId": case.session_id})
        except ServerRefused:
            pass  # a session that is deleted has no grants
        except NoAnswer:
            return
        world.tick()
