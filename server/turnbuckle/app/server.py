"""One connection served: `initialize` is answered before anything heavy is imported."""

from typing import TYPE_CHECKING, Any

from turnbuckle.lsp.capabilities import initialize_result
from turnbuckle.lsp.clientfacts import ClientFacts, read_client
from turnbuckle.lsp.rpc import Connection

if TYPE_CHECKING:
    from turnbuckle.app.wiring import Wiring


class Server:
    """The server's life on one connection; see `lsp.service.App`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client = ClientFacts()
        self._wiring: Wiring | None = None

    def initialize(self, params: dict[str, Any]) -> dict[str, Any]:  # Any: JSON
        """Read what the client is, and say what can be done for it."""
        self._client = read_client(params)
        return initialize_result(self._client)

    async def load(self) -> None:
        """Import the rest, wire it, and register the features."""
        from turnbuckle.app.wiring import wire

        self._wiring = await wire(self._connection, self._client)

    async def serving(self) -> None:
        """Run what lives as long as the connection."""
        if self._wiring is not None:
            await self._wiring.run()
