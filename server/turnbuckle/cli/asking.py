"""One turn from the command line, and many from a prompt."""

from pathlib import Path

import anyio
import orjson

from turnbuckle.cli.approving import Person, deny
from turnbuckle.cli.dialogue import Dialogue
from turnbuckle.cli.exits import COMPLETED, NOT_RUN, code_of
from turnbuckle.cli.lines import Line, counted, line
from turnbuckle.cli.meter import meter, price_in
from turnbuckle.cli.narration import Narration
from turnbuckle.cli.stage import Stage
from turnbuckle.cli.talk import Server, Talk, talking
from turnbuckle.cli.tally import Tally
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.protocol import TurnResult
from turnbuckle.lsp.rpc import NoAnswer
from turnbuckle.workspace.paths import uri_of

STARTING = "starting the server"
CHAT_PROMPT = "› "


async def ask(
    stage: Stage,
    server: Server,
    *,
    cwd: Path | None,
    session_id: str | None,
    prompt: str,
    json: bool,
) -> int:
    """Run one turn, show it, and give the exit code; `json` prints its events as they are."""
    dialogue = _dialogue(stage, cwd, json=json, echo=False)
    stage.activity.begin(STARTING)
    async with talking(
        server, cwd=cwd, session_id=session_id, seen=dialogue.take, leave=stage.leave
    ) as talk:
        dialogue.tally.begin(talk.opened)
        result = await dialogue.turn(talk, prompt, stage.leave)
        if json:
            stage.screen.write(_result_line(talk, result))
        elif stage.screen.terminal is not None:
            stage.screen.ask([_footer(dialogue.tally, talk)])
    return code_of(str(result.end.get("kind")), denied=dialogue.denied)


async def chat(stage: Stage, server: Server, *, cwd: Path | None, session_id: str | None) -> int:
    """Run a turn for each line that is typed, until /exit, Ctrl-D or Ctrl-C."""
    person = stage.person
    if person is None:
        stage.screen.complain([line("chat needs a terminal; use `turnbuckle ask` instead", "bad")])
        return NOT_RUN
    dialogue = _dialogue(stage, cwd, json=False, echo=True)
    stage.activity.begin(STARTING)
    async with talking(
        server, cwd=cwd, session_id=session_id, seen=dialogue.take, leave=stage.leave
    ) as talk:
        stage.activity.end()
        dialogue.tally.begin(talk.opened)
        stage.screen.show([line(f"session {talk.session_id}; /exit or Ctrl-D leaves", "dim")])
        while (prompt := await _next_prompt(stage, person, talk)) is not None:
            await _chat_turn(stage, dialogue, talk, prompt)
    return COMPLETED


async def _chat_turn(stage: Stage, dialogue: Dialogue, talk: Talk, prompt: str) -> None:
    try:
        await dialogue.turn(talk, prompt, stage.leave)
    except ServerRefused as refused:
        stage.screen.show([line(f"not sent: {refused.message}", "bad")])
    else:
        stage.screen.ask([line(_used(dialogue.tally, talk), "dim")])


async def _next_prompt(stage: Stage, person: Person, talk: Talk) -> str | None:
    """The next line that is to be sent; None to leave."""
    while True:
        stage.leave.interrupt = lambda: stage.screen.ask([line("Ctrl-C again leaves", "dim")])
        typed = await _typed(person, talk)
        stage.leave.interrupt = None
        if typed is None or typed.strip() in ("/exit", "/quit"):
            return None
        if typed.strip():
            return typed


async def _typed(person: Person, talk: Talk) -> str | None:
    """A line from the person, if the server lives as long as they type.

    Raises:
        NoAnswer: it does not.
    """
    typed: str | None = None
    async with anyio.create_task_group() as group:

        async def watch() -> None:
            await talk.client.stop.wait()
            group.cancel_scope.cancel()

        group.start_soon(watch)
        typed = await person.line(CHAT_PROMPT)
        group.cancel_scope.cancel()
    if talk.client.stop.is_set():
        raise NoAnswer("it closed the connection")
    return typed


def _dialogue(stage: Stage, cwd: Path | None, *, json: bool, echo: bool) -> Dialogue:
    folder = uri_of(cwd) if cwd else None
    return Dialogue(
        stage.screen,
        stage.activity,
        stage.person.decide if stage.person else deny,
        None if json else Narration(echo=echo, cwd=folder),
        cwd=folder,
    )


def _result_line(talk: Talk, result: TurnResult) -> str:
    data = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    whole = {"type": "turn/result", "data": {"sessionId": talk.session_id, **data}}
    return orjson.dumps(whole).decode() + "\n"


def _footer(tally: Tally, talk: Talk) -> Line:
    return line(f"{_used(tally, talk)} · session {talk.session_id}", "dim")


def _used(tally: Tally, talk: Talk) -> str:
    used = meter(tally.used, price_in(talk.opened.config))
    return ", ".join(filter(None, (counted(tally.turn_steps, "step"), used)))
