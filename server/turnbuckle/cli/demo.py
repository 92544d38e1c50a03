"""One real turn on a copy of a small workspace, with the offline model."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from turnbuckle.cli.approving import allow_in_demo
from turnbuckle.cli.dialogue import Dialogue
from turnbuckle.cli.exits import CANCELLED, COMPLETED, ENDED_OTHERWISE, NOT_RUN
from turnbuckle.cli.lines import Line, counted, line
from turnbuckle.cli.meter import context_of
from turnbuckle.cli.narration import Narration
from turnbuckle.cli.places import short, shown_place
from turnbuckle.cli.stage import STARTING, Stage
from turnbuckle.cli.stored import the_file
from turnbuckle.cli.talk import Server, talking
from turnbuckle.cli.tally import Tally
from turnbuckle.config import DEMO
from turnbuckle.session.reading import Unreadable
from turnbuckle.session.verification import verify_file
from turnbuckle.workspace.paths import uri_of

PROMPT = "Fix the failing test."

CONNECT = """\
To connect a model, do one of these:
  OPENAI_API_KEY=…, DEEPSEEK_API_KEY=…, MISTRAL_API_KEY=…   the key of a provider is enough
  start Ollama, LM Studio or llama.cpp on this machine      it is found by itself
  TURNBUCKLE_BASE_URL=…/v1, TURNBUCKLE_MODEL=…              any other, with TURNBUCKLE_API_KEY=…
then: turnbuckle doctor, and turnbuckle chat"""


def find_workspace() -> Path | None:
    """The workspace of the demo: packaged beside our modules, or in the repository."""
    package = Path(__file__).resolve().parents[1]
    places = (package / "_demo", package.parents[1] / "examples" / "workspace")
    return next((place for place in places if place.is_dir()), None)


def copy_workspace(parent: Path | None = None) -> Path | None:
    """A copy of the workspace in a temporary folder, which stays there to be looked at."""
    if (workspace := find_workspace()) is None:
        return None
    folder = Path(tempfile.mkdtemp(prefix="turnbuckle-demo-", dir=parent)).resolve() / "workspace"
    shutil.copytree(workspace, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def demo_environment() -> Mapping[str, str]:
    """Ours, but for the model."""
    return {**os.environ, "TURNBUCKLE_MODEL": DEMO}


async def demo(stage: Stage, server: Server, *, state: Path) -> int:
    """Run the demo, sum it up, and give the exit code: 0 exactly if the test was fixed."""
    if (folder := copy_workspace()) is None:
        stage.screen.complain([line("the demo's workspace is not installed", "bad")])
        return NOT_RUN
    stage.screen.show([line(f"A copy of the example, with a failing test: {folder}", "dim")])
    cwd = uri_of(folder)
    dialogue = Dialogue(
        stage.screen,
        stage.activity,
        stage.person.decide if stage.person else allow_in_demo,
        Narration(echo=True, cwd=cwd),
        cwd=cwd,
    )
    stage.activity.begin(STARTING)
    async with talking(
        replace(server, env=demo_environment()),
        cwd=folder,
        session_id=None,
        seen=dialogue.take,
        leave=stage.leave,
    ) as talk:
        result = await dialogue.turn(talk, PROMPT, stage.leave)
        session_id = talk.session_id
    tally = dialogue.tally
    stage.screen.show([*_summary(tally, cwd), *_log(state, session_id), line("")])
    if result.end.get("kind") == "aborted":
        return CANCELLED
    if not fixed(tally):
        stage.screen.show([line("The test is not fixed.", "bad")])
        return ENDED_OTHERWISE
    stage.screen.show([line(row) for row in CONNECT.splitlines()])
    return COMPLETED


def fixed(tally: Tally) -> bool:
    """Whether a file was changed and the tests, run afterwards, passed."""
    completed = tally.end is not None and tally.end.kind == "completed"
    return completed and bool(tally.edits) and tally.exit_code == 0


def _summary(tally: Tally, cwd: str) -> list[Line]:
    usage = tally.usage
    tokens = f"{usage.input:,} in, {usage.output:,} out" if usage else "not known"
    context = context_of(tally.used)
    changed = [
        f"{shown_place(uri, cwd)} +{added} -{removed}"
        for uri, (added, removed) in tally.edits.items()
    ]
    return [
        line(""),
        _row("turns", f"{tally.turns:,}"),
        _row("steps", f"{tally.steps:,}"),
        _row("tokens", f"{tokens}; {context}" if context else tokens),
        _row("files changed", "; ".join(changed) or "none"),
    ]


def _log(state: Path, session_id: str) -> list[Line]:
    try:
        path = the_file(state, session_id)
        verified = verify_file(path)
    except Unreadable as error:
        return [_row("session log", str(error))]
    good = verified.requests - len(verified.differing)
    rebuilt = f"{good} of {counted(verified.requests, 'request')} rebuilt from the log"
    return [_row("session log", short(path)), _row("verified", rebuilt)]


def _row(name: str, value: str) -> Line:
    return ((f"{name + ':':<15}", "dim"), (value, ""))
