"""What model servers run on this machine: their usual ports are asked, all at the same time."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import anyio

from turnbuckle.config import Found, Local
from turnbuckle.model.port import ModelFailed

Ask: TypeAlias = Callable[[Local], Awaitable[tuple[str, ...]]]
"""Gives the names of a server's models; raises `ModelFailed` where there is no such server."""


class Machine:
    """Looks when it is wanted, and remembers what was there; `ask` has a short time limit."""

    def __init__(self, local: Sequence[Local], ask: Ask) -> None:
        self.local = local
        self.found: tuple[Found, ...] = ()
        self._ask = ask
        self._looked = False
        self._looking = anyio.Lock()

    async def look(self, *, again: bool = False) -> None:
        """Look, once; with `again` another time, unless somebody looks already."""
        sees_soon = self._looking.locked()
        async with self._looking:
            if self._looked and (sees_soon or not again):
                return
            found: dict[str, Found] = {}
            async with anyio.create_task_group() as group:
                for local in self.local:
                    group.start_soon(self._look_at, local, found)
            self.found = tuple(found[local.id] for local in self.local)
            self._looked = True

    async def _look_at(self, local: Local, found: dict[str, Found]) -> None:
        try:
            found[local.id] = Found(local, await self._ask(local))
        except ModelFailed as error:
            found[local.id] = Found(local, problem=str(error))
