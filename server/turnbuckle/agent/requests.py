"""A request, until it is answered: projected, layered, logged, checked, then sent."""

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from operator import is_

import anyio
import orjson

from turnbuckle.agent.agent import Agent
from turnbuckle.agent.chunks import Gathering
from turnbuckle.agent.hooks import RequestFailure, Retry
from turnbuckle.kernel.stopping import FAILURES, is_failure
from turnbuckle.model.port import CallConfig, Model, ModelFailed, Reply, Request
from turnbuckle.session import codec
from turnbuckle.session.events import (
    AssistantMessage,
    LlmFailed,
    LlmStream,
    Message,
    RequestHeader,
)
from turnbuckle.session.parts import Patch, Usage
from turnbuckle.session.store import StoreFailed

logger = logging.getLogger(__name__)

_LONGEST = 7 * 24 * 3600.0
"""Seconds that a layer may let a request wait at most: more can only be a mistake."""


async def ask_model(agent: Agent, turn: int, step: int, system: str) -> Reply:
    """The answer to this step's request, after as many attempts as a layer asks for.

    What was said before a cancel, or before a failure that ends the step, stays in the log as an
    interrupted message, so that the model sees it next time.

    Raises:
        ModelFailed: no attempt was answered.
        StoreFailed: the log could not be written; nothing was sent.
        NotLogged: the request is not what the log says.
    """
    attempt, said = 0, ""
    try:
        while True:
            attempt += 1
            request = await assemble(agent, system)
            model = agent.models.get(request.config.model)
            log_request(agent, request, model, turn, step, attempt)
            # What was said counts until the next attempt begins; until then much can happen.
            said = ""
            await agent.session.flush()
            gathering = Gathering(turn, step, agent.session.append)
            try:
                return await gathering.during(lambda: model(request, gathering.emit))  # noqa: B023 — awaited here
            except ModelFailed as error:
                retry = await after_failure(agent, error, turn=turn, step=step, attempt=attempt)
                if retry is None:
                    raise
            finally:
                said = gathering.said
            await anyio.sleep(retry.after)
    except BaseException as error:
        _keep(agent, turn, step, said, "error" if isinstance(error, Exception) else "aborted")
        raise


async def assemble(
    agent: Agent, system: str, *, upto: int | None = None, why: str | None = None
) -> Request:
    """The request as its layers make it; with `upto`, of only so many of the first messages.

    Where a layer made the history smaller meanwhile, all of them get the new one.
    """

    async def as_it_is(request: Request) -> Request:
        return request

    while True:
        history = agent.session.projection.messages
        start = Request(
            config=CallConfig(model=agent.settings.model),
            system=system,
            tools=agent.tools.specs(),
            messages=tuple(history if upto is None else history[:upto]),
            why=why,
        )
        request = await agent.hooks.request.run(start, as_it_is)
        if upto is not None or _same(start.messages, agent.session.projection.messages):
            return request


def log_request(
    agent: Agent, request: Request, model: Model, turn: int, step: int, attempt: int
) -> None:
    """Say in the log what is sent, and compare that with the request itself."""
    session = agent.session
    header = codec.encode([request.config, request.system, request.tools])
    last = session.header
    if last is None or header != session.check.header:
        config, system, tools = orjson.loads(header)
        session.append(
            RequestHeader(
                config=config,
                system=system,
                tools=tuple(tools),
                why="change" if last else "resume" if session.resumed else "initial",
            )
        )
    digest = session.check.digest(header, request.messages)
    session.append(
        LlmStream(
            turn=turn,
            step=step,
            attempt=attempt,
            model=request.config.model,
            window=model.window,
            why=request.why,
            patch=_patch(session.projection.messages, request.messages),
            digest=digest,
        )
    )
    session.check.require(header, request.messages, digest)


def _patch(base: Sequence[Message], sent: Sequence[Message]) -> Patch | None:
    """What layers changed in the history, as a splice without common prefix and suffix."""
    if _same(base, sent):
        return None
    start, shorter = 0, min(len(base), len(sent))
    while start < shorter and base[start] == sent[start]:
        start += 1
    after = 0
    while after < shorter - start and base[-1 - after] == sent[-1 - after]:
        after += 1
    if start == len(base) == len(sent):
        return None
    changed = sent[start : len(sent) - after]
    messages = tuple(codec.jsonable(message) for message in changed)
    return Patch(start=start, end=len(base) - after, messages=messages)


def _same(one: Sequence[Message], other: Sequence[Message]) -> bool:
    return len(one) == len(other) and all(map(is_, one, other))


async def after_failure(
    agent: Agent,
    error: ModelFailed,
    *,
    turn: int,
    step: int,
    attempt: int,
    why: str | None = None,
    usage: Usage | None = None,
) -> Retry | None:
    """Ask the layers whether to try again, and say in the log what failed.

    `why` is the request's; `usage` what an answer cost that was of no use.
    """

    async def no(_: RequestFailure) -> Retry | None:
        return None

    failure = replace(error.failure, attempt=attempt)
    value = RequestFailure(turn=turn, step=step, attempt=attempt, failure=failure, why=why)
    try:
        retry = _sane(await agent.hooks.request_error.run(value, no))
    except StoreFailed:
        raise
    except FAILURES as thrown:
        if not is_failure(thrown):
            raise
        logger.exception("a layer of agent/request-error failed; the model's failure stands")
        retry = None
    at = None if retry is None else int((time.time() + retry.after) * 1000)
    agent.session.append(LlmFailed(attempt=attempt, failure=failure, retry_at=at, usage=usage))
    return retry


def _sane(retry: Retry | None) -> Retry | None:
    """The retry with a wait that is one; a negative wait is none.

    Raises:
        ValueError: it is not a number of seconds, or there is no end to it.
        TypeError: it is no number at all.
    """
    if retry is None:
        return None
    if not retry.after <= _LONGEST:
        raise ValueError(f"a layer asked to wait {retry.after} seconds")
    return Retry(max(0.0, retry.after))


def _keep(agent: Agent, turn: int, step: int, said: str, finish: str) -> None:
    if said:
        agent.session.append(
            AssistantMessage(turn=turn, step=step, content=said, finish=finish, interrupted=True)
        )
