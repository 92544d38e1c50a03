"""LSP's range, as a message of ours holds it."""

from pydantic import Field

from turnbuckle.lsp.wire import Wire


class Range(Wire):
    """An LSP range, as the client sends it, in the negotiated position encoding."""

    class Position(Wire):
        """A zero-based line and character."""

        line: int = Field(ge=0)
        character: int = Field(ge=0)

    start: Position
    end: Position
