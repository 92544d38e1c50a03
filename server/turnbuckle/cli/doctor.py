"""What is configured, which model answers and how fast, what is missing, and what to do."""

import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import anyio
import orjson
from anyio import to_thread

from turnbuckle.cli.checkup import examine
from turnbuckle.cli.exits import COMPLETED, ENDED_OTHERWISE, NO_SERVER
from turnbuckle.cli.opened import Talk
from turnbuckle.cli.report import (
    Answer,
    Report,
    answer_lines,
    as_json,
    checkup_lines,
    models_lines,
)
from turnbuckle.cli.stage import STARTING, Stage
from turnbuckle.cli.talk import Server, ServerGone, talking
from turnbuckle.cli.values import event_of
from turnbuckle.config import STATE
from turnbuckle.lsp import names
from turnbuckle.lsp.choosing import ModelEntry, ModelsParams, ModelsResult
from turnbuckle.lsp.client import ServerRefused, bare_errors
from turnbuckle.lsp.rpc import NoAnswer
from turnbuckle.session.events import AssistantChunk, AssistantMessage, TurnEnd
from turnbuckle.session.parts import Failure

PROMPT = "This is a test of the connection. Answer with one word: ready"

LIMIT = 60.0
"""Seconds that the model has to answer."""

Clock = Callable[[], float]


async def doctor(
    stage: Stage,
    server: Server,
    *,
    env: Mapping[str, str],
    limit: float = LIMIT,
    request: bool = True,
    json: bool = False,
    found: Callable[[Report], None] = lambda _: None,
    clock: Clock = time.monotonic,
) -> int:
    """Look at everything, have the model answer one small request, and give the exit code.

    `limit` in seconds for that answer; without `request` nothing is sent to a model. The server
    works in a folder of its own, so nothing stays of the request. `found` is told of all of it.
    """
    show = (lambda _: None) if json else stage.screen.show
    checkup = await to_thread.run_sync(examine, env)
    show(checkup_lines(checkup))
    report = Report(checkup=checkup)
    stage.activity.begin(STARTING)
    listener = _Listener(clock)
    try:
        with tempfile.TemporaryDirectory(prefix="turnbuckle-", ignore_cleanup_errors=True) as place:
            alone = replace(server, env={**env, STATE: str(Path(place) / "state")})
            async with talking(
                alone,
                cwd=Path(place),
                session_id=None,
                seen=listener.take,
                leave=stage.leave,
            ) as talk:
                models = await talk.client.request(names.MODELS, ModelsParams())
                report = replace(report, models=models)
                show(models_lines(models))
                if request and report.current is not None and not report.current.unavailable:
                    report = await _asked(stage, talk, report, report.current, listener, limit)
    except ServerGone as gone:
        code = f" (exit code {gone.code})" if gone.code is not None else ""
        report = replace(report, trouble=f"{gone}{code}; TURNBUCKLE_LOG=debug says more")
    stage.activity.end()
    show(answer_lines(report))
    found(report)
    if json:
        stage.screen.write(
            orjson.dumps(as_json(report), option=orjson.OPT_INDENT_2).decode() + "\n"
        )
    if report.trouble:
        return NO_SERVER
    return COMPLETED if report.ok else ENDED_OTHERWISE


async def _asked(
    stage: Stage,
    talk: Talk,
    report: Report,
    current: ModelEntry,
    listener: "_Listener",
    limit: float,
) -> Report:
    """The report with an answer, and with what could have answered where the model is unknown."""
    stage.activity.end()
    stage.activity.begin(f"asking {current.name}")
    answer = await _answer(talk, listener, limit)
    offered: tuple[str, ...] = ()
    if answer.kind == "protocol":
        with suppress(ServerRefused):
            params = ModelsParams(provider=current.provider)
            listed = await talk.client.request(names.MODELS, params)
            offered = _others(listed, current.provider)
    return replace(report, answer=answer, offered=offered)


def _others(listed: ModelsResult, provider: str) -> tuple[str, ...]:
    return tuple(
        entry.name
        for entry in listed.models
        if entry.provider == provider and entry.source in ("listed", "machine")
    )


async def _answer(talk: Talk, listener: "_Listener", limit: float) -> Answer:
    """Send one message; its turn is cancelled as soon as the model has answered."""
    listener.start()
    with anyio.move_on_after(limit) as scope, bare_errors():
        async with anyio.create_task_group() as group:
            group.start_soon(_cancel, talk, listener.answered)
            try:
                await talk.turn(PROMPT)
            except ServerRefused as refused:
                return Answer(problem=refused.message)
            finally:
                group.cancel_scope.cancel()
    if scope.cancelled_caught and not listener.answered.is_set():
        return Answer(problem=f"The model did not answer within {limit:g} s.", kind="timeout")
    return listener.answer


async def _cancel(talk: Talk, answered: anyio.Event) -> None:
    await answered.wait()
    with suppress(NoAnswer):
        await talk.cancel()


class _Listener:
    """Hears the session's events, and takes the time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._started = 0.0
        self._first: float | None = None
        self.answered = anyio.Event()
        self.answer = Answer(problem="The turn ended without an answer.")

    def start(self) -> None:
        """The request goes out now."""
        self._started = self._clock()

    def take(self, value: object) -> None:
        """The next value of the session's events."""
        passed = self._clock() - self._started
        match event_of(value):
            case AssistantChunk() if self._first is None:
                self._first = passed
            case AssistantMessage(interrupted=None) if not self.answered.is_set():
                self.answer = Answer(first=self._first, total=passed)
                self.answered.set()
            case TurnEnd(end=end) if not self.answered.is_set():
                if isinstance(failure := end.failure, Failure):
                    self.answer = Answer(problem=failure.message, kind=failure.kind)
            case _:
                pass
