"""A chat: sessions one after the other, fed by a prompt on the terminal or by a pipe."""

import signal
import sys
from pathlib import Path

from turnbuckle.cli.approving import Person, deny
from turnbuckle.cli.dialogue import Dialogue
from turnbuckle.cli.exits import COMPLETED, NOT_RUN, code_of
from turnbuckle.cli.keys import piped
from turnbuckle.cli.lines import Line, line
from turnbuckle.cli.narration import Narration
from turnbuckle.cli.opened import OnValue, Talk, change_session
from turnbuckle.cli.sitting import Sitting
from turnbuckle.cli.slash import completed, heed
from turnbuckle.cli.source import Piped, Source
from turnbuckle.cli.stage import STARTING, Stage
from turnbuckle.cli.talk import Server, talking
from turnbuckle.cli.visible import one_line
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.workspace.paths import uri_of

TURNS = 2
"""How many turns of a session are shown again when it is gone on with."""


async def chat(
    stage: Stage, server: Server, *, cwd: Path | None, session_id: str | None, state: Path
) -> int:
    """Run a turn for each message, until /exit, the end of input or Ctrl-C; give the exit code."""
    chat = _Chat(stage, uri_of(cwd) if cwd else None, state)
    if chat.source is None:
        stage.screen.complain([line("there is no input: chat needs a terminal or a pipe", "bad")])
        return NOT_RUN
    stage.activity.begin(STARTING)
    async with chat.source.running():
        turns = TURNS if session_id else 0
        chat.dialogue.live = not turns
        async with talking(
            server,
            cwd=cwd,
            session_id=session_id,
            seen=chat.seen_by(chat.dialogue),
            leave=stage.leave,
            turns=turns,
        ) as talk:
            stage.activity.end()
            await chat.run(talk, chat.source)
    return chat.code


class _Chat:
    """What lasts from one session to the next."""

    def __init__(self, stage: Stage, cwd: str | None, state: Path) -> None:
        self._stage = stage
        self._sitting: Sitting | None = None
        self.source = self._source(state)
        self.dialogue = self._begin(cwd)

    def _source(self, state: Path) -> Source | None:
        stage = self._stage
        if stage.person is None:
            return Piped(piped(sys.stdin)) if sys.stdin and not sys.stdin.isatty() else None
        if not stage.screen.capable:
            return stage.typist
        # Loaded only where there is a terminal that it can be used on.
        from turnbuckle.cli.desk import Desk
        from turnbuckle.cli.history import History

        return Desk(
            stage.screen,
            History(state),
            rows=self._rows,
            complete=completed,
            interrupt=lambda: stage.leave.heed(signal.SIGINT),
        )

    def _begin(self, cwd: str | None) -> Dialogue:
        stage, source = self._stage, self.source
        person = Person(stage.screen, source, cwd) if stage.person and source else None
        return Dialogue(
            stage.screen,
            stage.activity,
            person.decide if person else deny,
            Narration(echo=True, cwd=cwd),
            cwd=cwd,
        )

    def _rows(self) -> list[Line]:
        """What stands above the prompt: what waits, and what the keys do meanwhile."""
        waiting = self.dialogue.waiting
        rows = waiting.lines()
        if rows and self._sitting is not None and not self._sitting.busy:
            rows.append(line("  they go in with your next message", "dim"))
        if waiting.running and not self.dialogue.asking:
            rows.append(line("  Enter queues · Ctrl-S steers · Ctrl-C cancels", "dim"))
        return rows

    def seen_by(self, dialogue: Dialogue) -> OnValue:
        """What takes the values of a session that is shown in this dialogue."""

        def take(value: object) -> None:
            before = dialogue.tally.turns
            dialogue.take(value)
            if self._sitting is not None and dialogue.tally.turns > before:
                self._sitting.told()

        return take

    async def run(self, talk: Talk, source: Source) -> None:
        """Talk in this session, and in those that are opened after it, until the chat is left."""
        sitting = self._sit(talk, source)
        while True:
            await sitting.run(heed)
            if (opens := sitting.opens) is None:
                break
            dialogue = self._begin(opens.cwd)
            turns = TURNS if opens.session_id else 0
            dialogue.live = not turns
            try:
                talk = await change_session(talk, opens, self.seen_by(dialogue), turns=turns)
            except ServerRefused as refused:
                sitting.say(one_line(refused.message, 400), "bad")
            else:
                self.dialogue = dialogue
                sitting = self._sit(talk, source)
        if sitting.dialogue.waiting.turn:
            sitting.say(f"to go on: turnbuckle chat --session {talk.session_id}")

    def _sit(self, talk: Talk, source: Source) -> Sitting:
        self.dialogue.tally.begin(talk.opened)
        self._sitting = Sitting(self._stage, source, self.dialogue, talk)
        title = f" · {one_line(talk.opened.title, 60)}" if talk.opened.title else ""
        model = f" · {one_line(talk.opened.config.model)}" if talk.opened.config.model else ""
        self._sitting.say(f"session {talk.session_id}{title}{model}; /help, /exit")
        if talk.opened.read_only:
            self._sitting.say(
                "it can only be read: another window has it, or it is damaged", "warn"
            )
        if talk.opened.interrupted:
            self._sitting.say("its last turn was cut off; /continue goes on with it", "warn")
        return self._sitting

    @property
    def code(self) -> int:
        """The exit code: in a pipe that of the last turn, at a terminal always that of success."""
        end = self.dialogue.tally.end
        if self._stage.person is not None or end is None:
            return COMPLETED
        return code_of(end.kind, denied=self.dialogue.denied)
