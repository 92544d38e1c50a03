"""The command that loads the person's plugins again, in every open session."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from turnbuckle.lsp import names
from turnbuckle.lsp.commands import Commands
from turnbuckle.lsp.invocations import NoParams
from turnbuckle.lsp.wire import Wire

Reload: TypeAlias = Callable[[], Awaitable[tuple[bool, str]]]
"""Whether all plugins are there now, and a sentence for the person."""


class Reloading:
    """What a plugin's author runs after each change."""

    def __init__(self, commands: Commands, reload: Reload) -> None:
        self._commands = commands
        self._reload = reload

    def register(self) -> None:
        """Run the command."""
        self._commands.add(names.RELOAD_PLUGINS_COMMAND, self._run)

    async def _run(self, _: NoParams) -> Wire:
        whole, said = await self._reload()
        return self._commands.outcome("reloaded" if whole else "failed", said)
