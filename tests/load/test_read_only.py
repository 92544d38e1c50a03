"""A state folder on a disk that is mounted to be read only: all is shown, nothing is lost or done."""

from collections import Counter
from pathlib import Path

import anyio
import anyio.abc
import pytest

from load.mounting import READ_ONLY, can_mount, mounted
from process.autopsy import Case
from process.life import Life
from process.world import World
from turnbuckle.lsp import names
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.testing.completions import answer
from turnbuckle.testing.modelserver import ModelServer

LIMIT = 60


async def test_a_state_folder_that_can_only_be_read_shows_all_and_loses_nothing(
    tmp_path: Path,
) -> None:
    world = World(0, tmp_path)
    world.state.mkdir()
    if not can_mount(READ_ONLY, world.state):
        pytest.skip("nothing can be mounted here")
    async with ModelServer() as model, anyio.create_task_group() as tasks:
        model.script = [world.play] * 100
        with anyio.fail_after(LIMIT):
            first = await begun(Life("first"), world, model, tasks)
            case = Case(world, (await first.open(None)).session_id)
            assert (await first.turn(case.session_id, "first")).end == {"kind": "completed"}
            await ended(first)
            written = case.path.read_bytes()

            life = Life("reads")
            life.argv = (*mounted(READ_ONLY, world.state), *Life.argv)
            await begun(life, world, model, tasks)
            await is_shown_and_refused(life, case)
            await begins_nothing(life, world)
            assert case.path.read_bytes() == written
            await ended(life)

            last = await begun(Life("last"), world, model, tasks)
            assert not (await last.open(case.session_id)).read_only
            world.plan = [answer("It can be written again.")]
            assert (await last.turn(case.session_id, "again")).end == {"kind": "completed"}
            assert case.path.read_bytes().startswith(written)
            await ended(last)
        case.whole(Counter())


async def begun(life: Life, world: World, model: ModelServer, tasks: anyio.abc.TaskGroup) -> Life:
    """A server that is ready."""
    tasks.start_soon(life.run, world.work, world.state, model.url)
    await life.ready.wait()
    return life


async def ended(life: Life) -> None:
    """End a server in the usual way."""
    await life.client.shutdown()
    life.over.set()


async def is_shown_and_refused(life: Life, case: Case) -> None:
    """The session is listed and opens to be read; a message is refused with what to do."""
    listed = await life.client.request(names.SESSION_LIST, {})
    assert [one.session_id for one in listed.sessions] == [case.session_id]
    opened = await life.open(case.session_id)
    assert opened.read_only
    assert opened.damaged is None
    with pytest.raises(ServerRefused, match="check the folder"):
        await life.turn(case.session_id, "next")


async def begins_nothing(life: Life, world: World) -> None:
    """A turn in a new session ends at once, says why, and no model is asked."""
    asked = world.requests
    opened = await life.client.request(names.SESSION_OPEN, {})
    lost = await life.turn(opened.session_id, "new")
    assert lost.end["failure"]["kind"] == "store"
    assert "check the folder" in lost.end["failure"]["message"]
    assert world.requests == asked
