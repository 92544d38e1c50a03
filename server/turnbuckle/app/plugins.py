"""The plugins that the person's configuration names: loaded, told where they fail, loaded again."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import anyio
from anyio import to_thread

from turnbuckle import config
from turnbuckle.agent.plugin import PluginFailed
from turnbuckle.agent.plugins import Named, Plugins
from turnbuckle.config.plugins import PATIENCE, Source, Wanted, load_plugin, wanted_plugins

logger = logging.getLogger(__name__)


class Configured:
    """What a configuration names, and from `load` on, `held`: the plugins of all sessions.

    `say` shows one line to the person. `patience` is in seconds, for the code of each.
    """

    def __init__(
        self,
        env: Mapping[str, str],
        options: object,
        *,
        say: Callable[[str], None],
        patience: float = PATIENCE,
    ) -> None:
        self._env = env
        self._options = options
        self._say = say
        self._patience = patience
        self._sources: list[Source] = []
        self._told: set[tuple[str, str]] = set()
        self.held = Plugins((), failed=self._failed)
        self._reloading = anyio.Lock()

    async def load(self, lasting: Sequence[Named]) -> None:
        """Load them, to be `held` after those that stay; one that fails is told, and left out."""
        self.held = Plugins(lasting, failed=self._failed)
        try:
            wanted = await to_thread.run_sync(self._wanted)
        except config.ConfigError:
            return  # it is told where the settings are read
        await self._have(await to_thread.run_sync(self._load_all, wanted))

    async def reload(self) -> tuple[bool, str]:
        """Read the configuration and the plugins again, and have them in every session.

        Gives whether all of them are there now, and a sentence for the person. One that cannot be
        loaded any more stays as it was.
        """
        async with self._reloading:
            self._told.clear()
            try:
                wanted = await to_thread.run_sync(self._wanted)
            except config.ConfigError as error:
                return False, f"the plugins stay as they are: {error}"
            found = await to_thread.run_sync(self._load_all, wanted)
            await self._have(found)
            return not self._told, _summary(found, [name for name, _ in self._told])

    def close(self) -> None:
        """Let go of all code that was loaded."""
        for source in self._sources:
            source.forget()

    def _wanted(self) -> tuple[Wanted, ...]:
        loaded = config.read(self._env, self._options)
        return wanted_plugins(loaded, config.config_file(self._env), self.held.lasting)

    def _load_all(self, wanted: Sequence[Wanted]) -> "_Found":
        found = _Found()
        for one in wanted:
            try:
                found.sources.append(load_plugin(one, self._patience))
            except PluginFailed as error:
                found.failures[one.said if one.problem else one.name] = str(error)
                if old := next((old for old in self._sources if old.wanted == one), None):
                    found.sources.append(old)
                    found.kept.append(one.name)
        return found

    async def _have(self, found: "_Found") -> None:
        for name, why in found.failures.items():
            self._failed(name, why, "stays as it was" if name in found.kept else "is left out")
        before, self._sources = self._sources, found.sources
        await self.held.exchange([(one.wanted.name, one.install) for one in found.sources])
        for source in before:
            if source not in found.sources:
                source.forget()

    def _failed(self, name: str, why: str, so: str = "is left out") -> None:
        if (name, why) not in self._told:
            self._told.add((name, why))
            logger.warning("the plugin %s %s: %s", name, so, why)
            self._say(f"the plugin {name} {so}: {why}")


@dataclass(slots=True)
class _Found:
    """What could be loaded; why others could not, by name; and which of those stay as they were."""

    sources: list[Source] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)


def _summary(found: _Found, failed: Sequence[str]) -> str:
    names = [source.wanted.name for source in found.sources]
    lists = {
        "loaded again": [name for name in names if name not in (*found.kept, *failed)],
        "as before": found.kept,
        "left out": [name for name in dict.fromkeys(failed) if name not in found.kept],
    }
    said = [f"{what}: {', '.join(sorted(which))}" for what, which in lists.items() if which]
    return f"plugins {'; '.join(said)}" if said else "the configuration names no plugins"
