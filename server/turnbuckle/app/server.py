"""One connection served: `initialize` is answered before anything heavy is imported."""

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from turnbuckle.lsp.capabilities import initialize_result
from turnbuckle.lsp.clientfacts import ClientFacts, read_client
from turnbuckle.lsp.rpc import Connection

if TYPE_CHECKING:
    from turnbuckle.app.logs import Discreet
    from turnbuckle.app.wiring import Wiring

Wire: TypeAlias = Callable[[Connection, ClientFacts, Mapping[str, str]], Awaitable["Wiring"]]


class Server:
    """The server's life on one connection; see `lsp.service.App`.

    `env` is where settings are read from, `wire` what puts the rest together once it is loaded,
    `log` what makes lines of the log, which is told what must not stand in them.
    """

    def __init__(
        self,
        connection: Connection,
        env: Mapping[str, str] = os.environ,
        *,
        wire: "Wire | None" = None,
        log: "Discreet | None" = None,
    ) -> None:
        self._connection = connection
        self._env = env
        self._wire = wire
        self._log = log
        self._client = ClientFacts()
        self._wiring: Wiring | None = None

    def initialize(self, params: dict[str, Any]) -> dict[str, Any]:  # Any: JSON
        """Read what the client is, and say what can be done for it."""
        self._client = read_client(params)
        return initialize_result(self._client)

    async def load(self) -> None:
        """Import the rest, wire it, and register the features."""
        from turnbuckle.app.spared import spare

        spare()
        from turnbuckle.app.wiring import wire

        self._wiring = await (self._wire or wire)(self._connection, self._client, self._env)
        if self._log is not None:
            known, wiring = self._log.held, self._wiring
            self._log.held = lambda: (*known(), *wiring.held)

    async def serving(self) -> None:
        """Run what lives as long as the connection."""
        if self._wiring is not None:
            await self._wiring.run()
