"""One server for a crowd, in this process or as a process of its own, and the model that it asks."""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import anyio

from load.crowd import Crowd, Ears, Member, named
from process.life import Life, require_no_children
from turnbuckle.lsp.client import Client
from turnbuckle.testing.modelserver import ModelServer
from turnbuckle.testing.served import Served, served

PLAYS = 100_000


@dataclass(slots=True, kw_only=True)
class Stage:
    """A server with a crowd: `here` where it runs in this process, `life` where it is one itself.

    `temporary` is where that process puts files that are to go again.
    """

    crowd: Crowd
    client: Client
    model: ModelServer
    ears: Ears
    work: Path
    state: Path
    temporary: Path
    here: Served | None = None
    life: Life | None = None

    async def join(self, number: int) -> Member:
        """One more member, with a file of its own."""
        name = named(number)
        (self.work / f"{name}.txt").write_text(f"what {name} reads\n", encoding="utf-8")
        return await self.crowd.join(number)


Begin: TypeAlias = Callable[[Path], AbstractAsyncContextManager[Stage]]


@asynccontextmanager
async def here(folder: Path) -> AsyncIterator[Stage]:
    """A server in this process."""
    async with _played() as (model, ears):
        env = _env(folder, model)
        async with served(None, folder, events=True, env=env) as server:
            yield Stage(
                crowd=Crowd(server.client), client=server.client, model=model, ears=ears,
                work=server.work, state=server.state, temporary=folder / "tmp", here=server,
            )  # fmt: skip


@asynccontextmanager
async def alone(folder: Path, *, life: type[Life] = Life) -> AsyncIterator[Stage]:
    """A server as a process of its own, of which nothing is left at the end."""
    work, state = folder / "work", folder / "state"
    work.mkdir(parents=True, exist_ok=True)
    mark = secrets.token_hex(8)
    async with _played() as (model, ears), anyio.create_task_group() as tasks:
        lives = life(mark, **_env(folder, model))
        tasks.start_soon(lives.run, work, state, model.url)
        await lives.ready.wait()
        try:
            yield Stage(
                crowd=Crowd(lives.client), client=lives.client, model=model, ears=ears,
                work=work, state=state, temporary=folder / "tmp", life=lives,
            )  # fmt: skip
        finally:
            with anyio.CancelScope(shield=True):
                await lives.client.shutdown()
                lives.over.set()
    await require_no_children(mark)


def _env(folder: Path, model: ModelServer) -> dict[str, str]:
    (folder / "tmp").mkdir(parents=True)
    return {
        "TURNBUCKLE_BASE_URL": model.url,
        "TURNBUCKLE_MODEL": "scripted",
        "TMPDIR": str(folder / "tmp"),
    }


@asynccontextmanager
async def _played() -> AsyncIterator[tuple[ModelServer, Ears]]:
    async with ModelServer() as model:
        ears = Ears()
        model.script = [ears.play] * PLAYS
        yield model, ears
