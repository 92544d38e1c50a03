"""What was changed since texts that someone holds on to, so that places in them can be followed."""

from collections.abc import Iterable

from turnbuckle.workspace.text import Splice

LIMIT = 1_000
"""Splices that are kept; words that are typed on are one."""

SIZE = 4_000_000
"""Characters that kept splices may hold together."""


class Trail:
    """The latest splices of one text, numbered; the oldest are forgotten where they are too many.

    A text is known by its digest from where it was asked for, so that a proposal which was made on
    it can be followed through what was typed since.
    """

    def __init__(self) -> None:
        self._splices: list[Splice] = []
        self._first = 0
        self._size = 0
        self._known: dict[str, int] = {}
        self._held = 0

    @property
    def end(self) -> int:
        """The number that the next splice will bear."""
        return self._first + len(self._splices)

    def hold(self, digest: str | None = None) -> int:
        """The number from which changes of the text as it stands now are told; remembers a digest.

        Identity is the digest: where the text comes back to it, this is the same text again.
        """
        self._held = self.end
        if digest is not None:
            self._known[digest] = self._held
        return self._held

    def add(self, splice: Splice) -> None:
        """Tell one more splice, the smallest that says what changed."""
        last = self._splices[-1] if self.end > self._held else None
        if last and splice.start == splice.end == last.start + len(last.new):
            self._splices[-1] = Splice(last.start, last.end, last.new + splice.new)
        else:
            self._splices.append(splice)
        self._size += len(splice.new)
        if len(self._splices) > LIMIT or self._size > SIZE:
            self._forget(len(self._splices) // 2 + 1)

    def since(self, number: int) -> tuple[Splice, ...] | None:
        """The splices from a number on, None if some of them are forgotten."""
        return tuple(self._splices[number - self._first :]) if number >= self._first else None

    def since_text(self, digest: str) -> tuple[Splice, ...] | None:
        """The splices since the text was this one, None if that is not known."""
        number = self._known.get(digest)
        return None if number is None else self.since(number)

    def retell(self, number: int, splices: Iterable[Splice]) -> None:
        """Tell what happened from a number on in other splices that come to the same text."""
        if number < self._first:
            return
        end = self.end
        told = self._splices[: number - self._first] + list(splices)
        self._splices = told
        self._size = sum(len(splice.new) for splice in told)
        self._known = {
            digest: self.end if at == end else at
            for digest, at in self._known.items()
            if at <= number or at == end
        }
        self._held = self.end

    def _forget(self, count: int) -> None:
        self._size -= sum(len(splice.new) for splice in self._splices[:count])
        del self._splices[:count]
        self._first += count
        self._known = {digest: at for digest, at in self._known.items() if at >= self._first}
