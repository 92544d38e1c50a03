"""Which files were read in this session, at which digest: a fold."""

from collections.abc import Sequence

from turnbuckle.session.codec import Entry
from turnbuckle.session.events import ContextRewound, EditApplied, ToolResult
from turnbuckle.session.projection import leading_to


class Reads:
    """URI → digest of the text that the model was last shown, or left behind.

    What was read in turns that were taken back is not known any more.
    """

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}

    def feed(self, entry: Entry, history: Sequence[Entry]) -> None:
        """Take the next fact; `history` is the log up to it. A result's `meta.read` says a file."""
        fact = entry.fact
        if isinstance(fact, ToolResult):
            if fact.meta and isinstance(read := fact.meta.get("read"), dict):
                self._take(read.get("uri"), read.get("digest"))
        elif isinstance(fact, EditApplied):
            if fact.outcome == "applied":
                self._take(fact.uri, fact.after)
        elif isinstance(fact, ContextRewound):
            self._digests.clear()
            for earlier in leading_to(min(fact.to, entry.seq - 1), history):
                self.feed(earlier, history)

    def _take(self, uri: object, digest: object) -> None:
        if isinstance(uri, str) and isinstance(digest, str):
            self._digests.pop(uri, None)
            self._digests[uri] = digest

    def digest(self, uri: str) -> str | None:
        """The digest at which the model knows this file, or None if it never saw it."""
        return self._digests.get(uri)

    @property
    def uris(self) -> tuple[str, ...]:
        """All files that the model knows, what was read or written last at the end."""
        return tuple(self._digests)
