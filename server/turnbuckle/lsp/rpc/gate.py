"""What may pass on a connection at the moment; here: everything."""

from turnbuckle.lsp.rpc.errors import Refused
from turnbuckle.lsp.rpc.framing import MAX_BODY


class Gate:
    """Asked about each message; a server's gate is stricter before `initialize` is answered.

    `longest` is how many bytes a body may have.
    """

    longest = MAX_BODY

    def refuses(self, method: str) -> Refused | None:
        """The answer to an incoming request that must not be handled now."""
        return None

    def drops(self, method: str) -> bool:
        """Whether an incoming notification must not be handled now."""
        return False

    def forbids(self, method: str) -> bool:
        """Whether an outgoing request or notification must not be sent now."""
        return False

    async def between(self) -> None:
        """Awaited between two incoming messages."""
