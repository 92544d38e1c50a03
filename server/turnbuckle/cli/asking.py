"""One turn from the command line."""

from pathlib import Path

import orjson

from turnbuckle.cli.approving import deny
from turnbuckle.cli.dialogue import Dialogue
from turnbuckle.cli.exits import code_of
from turnbuckle.cli.lines import Line, counted, line
from turnbuckle.cli.meter import meter, price_in
from turnbuckle.cli.narration import Narration
from turnbuckle.cli.opened import Talk
from turnbuckle.cli.stage import STARTING, Stage
from turnbuckle.cli.talk import Server, talking
from turnbuckle.cli.tally import Tally
from turnbuckle.lsp.protocol import ImagePart, TurnResult
from turnbuckle.workspace.paths import uri_of


async def ask(
    stage: Stage,
    server: Server,
    *,
    cwd: Path | None,
    session_id: str | None,
    prompt: str,
    images: tuple[ImagePart, ...] = (),
    json: bool,
) -> int:
    """Run one turn, show it, and give the exit code; `json` prints its events as they are."""
    dialogue = _dialogue(stage, cwd, json=json)
    stage.activity.begin(STARTING)
    async with talking(
        server, cwd=cwd, session_id=session_id, seen=dialogue.take, leave=stage.leave
    ) as talk:
        dialogue.tally.begin(talk.opened)
        result = await dialogue.turn(talk, prompt, stage.leave, images)
        if json:
            stage.screen.write(_result_line(talk, result))
        elif stage.screen.terminal is not None:
            stage.screen.ask([_footer(dialogue.tally, talk)])
    return code_of(str(result.end.get("kind")), denied=dialogue.denied)


def _dialogue(stage: Stage, cwd: Path | None, *, json: bool) -> Dialogue:
    folder = uri_of(cwd) if cwd else None
    return Dialogue(
        stage.screen,
        stage.activity,
        stage.person.decide if stage.person else deny,
        None if json else Narration(echo=False, cwd=folder),
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
