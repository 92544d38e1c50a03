"""Which plugins the sessions have: installed in each, and exchanged while they live."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import anyio

from turnbuckle.agent.agent import Agent
from turnbuckle.agent.plugin import Install, Installed, PluginFailed, install
from turnbuckle.kernel.scope import Scope, ScopeClosed

Named: TypeAlias = tuple[str, Install]

Tell: TypeAlias = Callable[[str, str], None]
"""Gets the name of a plugin that could not be installed, and why."""


def _nobody(_name: str, _why: str) -> None:
    return None


@dataclass(slots=True, eq=False)
class _Equipped:
    """An open session; `added` stands beside those that may be exchanged, None where one failed."""

    agent: Agent
    scope: Scope
    added: list[Installed | None] = field(default_factory=list)


class Plugins:
    """The plugins of all sessions: those that stay, and after them those that may be exchanged.

    The first is outermost. One that fails is told, and the session goes on without it.
    """

    def __init__(
        self, lasting: Sequence[Named], added: Sequence[Named] = (), *, failed: Tell = _nobody
    ) -> None:
        self._lasting = tuple(lasting)
        self._added = tuple(added)
        self._failed = failed
        self._sessions: list[_Equipped] = []
        self._changing = anyio.Lock()

    @property
    def lasting(self) -> tuple[str, ...]:
        """The names of those that stay, in order."""
        return tuple(name for name, _ in self._lasting)

    @property
    def added(self) -> tuple[Named, ...]:
        """Those that may be exchanged, in order."""
        return self._added

    async def equip(self, agent: Agent, scope: Scope) -> None:
        """Install all of them in a session, for as long as its scope is open.

        Raises:
            ScopeClosed: it is closed already.
        """
        async with self._changing:
            session = _Equipped(agent, scope)
            self._sessions.append(session)
            scope.defer(lambda: self._sessions.remove(session), "plugins")
            for one in self._lasting:
                await self._install(session, one)
            session.added = [await self._install(session, one) for one in self._added]

    async def exchange(self, added: Sequence[Named]) -> None:
        """From now on, have these plugins after those that stay, in every session.

        What is the same at the beginning of the list stays as it is; all that follows leaves, last
        first, and comes in the new order. No step, call or request begins between the two: only
        then is undone what the old ones deferred. What runs already ends with the layers that it
        began with.
        """
        # Half an exchange would be worse than one that nobody waits for any more.
        with anyio.CancelScope(shield=True):
            async with self._changing:
                same = _common(self._added, added)
                self._added = tuple(added)
                for session in tuple(self._sessions):
                    await self._exchange_in(session, same)

    async def _exchange_in(self, session: _Equipped, same: int) -> None:
        leaving = [one for one in reversed(session.added[same:]) if one]
        del session.added[same:]
        for one in leaving:
            await one.withdraw()
        try:
            for named in self._added[same:]:
                session.added.append(await self._install(session, named))
        except ScopeClosed:
            pass  # the session ends just now
        for one in leaving:
            await one.aclose()

    async def _install(self, session: _Equipped, named: Named) -> Installed | None:
        name, plugin = named
        try:
            return await install(session.agent, session.scope, name, plugin)
        except PluginFailed as error:
            self._failed(name, str(error))
            return None


def _common(old: Sequence[Named], new: Sequence[Named]) -> int:
    count = 0
    for before, after in zip(old, new, strict=False):
        if before != after:
            break
        count += 1
    return count
