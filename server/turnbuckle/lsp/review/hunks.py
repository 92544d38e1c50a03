"""The commands that accept, reject, undo and show what is to be reviewed; they carry ids only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import partial

from turnbuckle.lsp import names
from turnbuckle.lsp.commands import Commands
from turnbuckle.lsp.invocations import (
    ChangeCommandParams,
    CommandResult,
    FileCommandParams,
    HunkCommandParams,
    ShowDiffParams,
)
from turnbuckle.lsp.review.followed import Followed
from turnbuckle.lsp.review.proposals import Proposal
from turnbuckle.lsp.review.resolving import Resolving
from turnbuckle.lsp.review.review import Review
from turnbuckle.lsp.review.virtual import Virtual
from turnbuckle.lsp.reviewing import HunkOutcome
from turnbuckle.lsp.wire import Wire

NOTHING = "there is nothing to decide"


class Hunks:
    """What lenses, code actions and keys run. A command returns once its decision is on record."""

    def __init__(
        self, commands: Commands, review: Review, resolving: Resolving, virtual: Virtual
    ) -> None:
        self._commands = commands
        self._review = review
        self._resolving = resolving
        self._virtual = virtual

    def register(self) -> None:
        """Run the commands."""
        add = self._commands.add
        add(names.ACCEPT_HUNK_COMMAND, partial(self._hunk, accept=True))
        add(names.REJECT_HUNK_COMMAND, partial(self._hunk, accept=False))
        add(names.ACCEPT_FILE_COMMAND, partial(self._file, accept=True))
        add(names.REJECT_FILE_COMMAND, partial(self._file, accept=False))
        add(names.ACCEPT_ALL_COMMAND, self._accept_all)
        add(names.UNDO_HUNK_COMMAND, self._undo)
        add(names.SHOW_DIFF_COMMAND, self._show)

    async def _hunk(self, params: HunkCommandParams, *, accept: bool) -> Wire:
        hunk_id = params.hunk_id
        if hunk_id is None:
            hunks = [hunk.hunk_id for one, file in self._open() for hunk in one.undecided(file)]
            if len(hunks) != 1:
                return self._several(len(hunks), "places are")
            hunk_id = hunks[0]
        return self._decide([hunk_id], accept=accept, note=params.note)

    async def _file(self, params: FileCommandParams, *, accept: bool) -> Wire:
        found = [
            (one, file)
            for one, file in (self._open() if params.uri is None else self._review.of(params.uri))
            if one.open and params.change_id in (None, one.change_id)
        ]
        if params.uri is None and params.change_id is None and len(found) != 1:
            return self._several(len(found), "files are")
        return self._decide(_undecided(found), accept=accept, note=params.note)

    async def _accept_all(self, params: ChangeCommandParams) -> Wire:
        """All of one change, of one session, or of the only change that is open."""
        found = [
            (one, file)
            for one, file in self._open()
            if params.change_id in (None, one.change_id)
            and params.session_id in (None, one.opened.session.id)
        ]
        changes = {one.change_id for one, _ in found}
        if params.change_id is None and params.session_id is None and len(changes) != 1:
            return self._several(len(changes), "changes are")
        return self._decide(_undecided(found), accept=True, note=None)

    async def _undo(self, params: HunkCommandParams) -> Wire:
        hunk_id = params.hunk_id
        if hunk_id is None:
            applied = [i for one in self._review.proposals for f in one.files for i in f.standing]
            if len(applied) != 1:
                return self._several(len(applied), "places were")
            hunk_id = applied[0]
        return told(self._commands, self._resolving.undo([hunk_id]).values())

    async def _show(self, params: ShowDiffParams) -> Wire:
        found = self._named(params)
        if not found:
            return self._several(0, "changes are")
        if len({one.change_id for one, _ in found}) > 1:
            return self._several(len(found), "changes are")
        for proposal, file in found:
            self._review.editor.tasks.start_soon(self._virtual.show, proposal, file)
        return CommandResult(outcome="shown", message="")

    def _named(self, params: ShowDiffParams) -> Sequence[tuple[Proposal, Followed]]:
        if params.hunk_id is not None:
            found = self._review.find(params.hunk_id)
            return [] if found is None else [found]
        if params.change_id is not None:
            known = ((one, f) for one in self._review.proposals for f in one.files)
            return [(one, file) for one, file in known if one.change_id == params.change_id]
        return self._open()

    def _open(self) -> list[tuple[Proposal, Followed]]:
        return [(one, file) for one in self._review.proposals if one.open for file in one.files]

    def _decide(self, hunk_ids: Sequence[str], *, accept: bool, note: str | None) -> CommandResult:
        decided = self._resolving.decide(hunk_ids, accept=accept, by="command", note=note)
        return told(self._commands, decided.values())

    def _several(self, count: int, what: str) -> CommandResult:
        if not count:
            return self._commands.outcome("nothing", NOTHING)
        return self._commands.outcome("ambiguous", f"{count} {what} there; name one")


def told(commands: Commands, outcomes: Collection[HunkOutcome]) -> CommandResult:
    """What came of decisions, as one outcome; only what went wrong is said to the person."""
    if not outcomes:
        return commands.outcome("nothing", NOTHING)
    words: Counter[str] = Counter(one.outcome for one in outcomes)
    done = next((w for w in ("accepted", "rejected", "undone") if words[w]), None)
    amiss = {one.message: None for one in outcomes if one.message}
    if not amiss:
        return CommandResult(outcome=str(done), message="")
    message = "; ".join(said for said in amiss if said)
    if done is not None:
        message = f"{words[done]} {done}; of the rest: {message}"
    return commands.outcome(done or next(iter(words)), message)


def _undecided(found: Sequence[tuple[Proposal, Followed]]) -> list[str]:
    return [hunk.hunk_id for one, file in found for hunk in one.undecided(file)]
