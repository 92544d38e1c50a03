"""What a session came to: turns, steps, tokens, files changed, tests passed; a fold."""

from turnbuckle.cli.subjects import changed_counts
from turnbuckle.cli.values import Event, Note
from turnbuckle.lsp.lives import SessionOpenResult
from turnbuckle.session.events import (
    ApprovalAsked,
    EditApplied,
    StepEnd,
    ToolResult,
    TurnEnd,
    TurnStart,
)
from turnbuckle.session.parts import End, Usage
from turnbuckle.session.usage import UsageFold


class Tally:
    """Counts; `edits` are the added and removed lines of each changed file, by URI.

    `steps` are those of all turns, `turn_steps` those of the last. `used` counts tokens.
    `exit_code` is that of the last command, None if a file was changed since.
    """

    def __init__(self) -> None:
        self.turns = 0
        self.steps = 0
        self.turn_steps = 0
        self.used = UsageFold()
        self.edits: dict[str, tuple[int, int]] = {}
        self.exit_code: int | None = None
        self.end: End | None = None
        self._hunks: dict[str, tuple[int, int]] = {}

    @property
    def usage(self) -> Usage | None:
        """The tokens of the session."""
        return self.used.session

    def begin(self, opened: SessionOpenResult) -> None:
        """Count on from what a session has used so far."""
        usage = Usage(**opened.usage) if opened.usage else None
        self.used = UsageFold(usage, opened.context)

    def feed(self, event: Event) -> None:
        """Take the next event."""
        if not isinstance(event, Note):
            self.used.take(event)
        match event:
            case TurnStart():
                self.turn_steps = 0
            case TurnEnd(end=end):
                self.turns += 1
                self.end = end
            case StepEnd():
                self.steps += 1
                self.turn_steps += 1
            case _:
                self._take(event)

    def _take(self, event: Event) -> None:
        """What became of files and commands."""
        match event:
            case ApprovalAsked(subject=subject):
                for hunk_id, _, added, removed in changed_counts(subject):
                    self._hunks[hunk_id] = (added, removed)
            case EditApplied(uri=uri, hunks=hunks, outcome="applied"):
                self._applied(uri, hunks)
            case ToolResult(meta={"exitCode": int(code)}):
                self.exit_code = code
            case _:
                pass

    def _applied(self, uri: str, hunks: tuple[str, ...]) -> None:
        self.exit_code = None  # what a command said before says nothing about the new text
        added, removed = self.edits.get(uri, (0, 0))
        for hunk in hunks:
            more, fewer = self._hunks.get(hunk, (0, 0))
            added, removed = added + more, removed + fewer
        self.edits[uri] = (added, removed)
