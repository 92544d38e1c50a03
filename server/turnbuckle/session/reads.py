"""Which files were read in this session, at which digest: a fold."""

from turnbuckle.session.codec import Entry
from turnbuckle.session.events import EditApplied, ToolResult


class Reads:
    """URI → digest of the text that the model was last shown, or left behind."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}

    def feed(self, entry: Entry) -> None:
        """Take the next fact: a result says in `meta.read` what it showed."""
        match entry.fact:
            case ToolResult(meta={"read": {"uri": str(uri), "digest": str(digest)}}):
                self._digests[uri] = digest
            case EditApplied(uri=uri, after=str(after), outcome="applied"):
                self._digests[uri] = after
            case _:
                pass

    def digest(self, uri: str) -> str | None:
        """The digest at which the model knows this file, or None if it never saw it."""
        return self._digests.get(uri)
