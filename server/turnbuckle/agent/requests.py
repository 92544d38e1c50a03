"""One step's request, until it is answered: projected, layered, logged, checked, then sent."""

import time
from collections.abc import Sequence
from operator import is_

import anyio
import orjson

from turnbuckle.agent.agent import Agent
from turnbuckle.agent.chunks import Gathering
from turnbuckle.agent.hooks import RequestFailure, Retry
from turnbuckle.model.port import CallConfig, Model, ModelFailed, Reply, Request
from turnbuckle.session import codec
from turnbuckle.session.events import (
    AssistantMessage,
    LlmFailed,
    LlmStream,
    Message,
    RequestHeader,
)
from turnbuckle.session.parts import Failure, Patch


async def ask_model(agent: Agent, turn: int, step: int, system: str) -> Reply:
    """The answer to this step's request, after as many attempts as a layer asks for.

    What was said before a cancel, or before a failure that ends the step, stays in the log as an
    interrupted message, so that the model sees it next time.

    Raises:
        ModelFailed: no attempt was answered.
        StoreFailed: the log could not be written; nothing was sent.
        NotLogged: the request is not what the log says.
    """
    attempt = 0
    while True:
        attempt += 1
        request = await _assemble(agent, system)
        model = agent.models.get(request.config.model)
        _log_request(agent, request, model, turn, step, attempt)
        await agent.session.flush()
        gathering = Gathering(turn, step, agent.session.append)
        finish = "aborted"
        try:
            try:
                return await gathering.during(lambda: model(request, gathering.emit))  # noqa: B023 — awaited here
            except ModelFailed as error:
                retry = await _after(agent, turn, step, attempt, error)
                if retry is None:
                    finish = "error"
                    raise
            # What was said counts until the next attempt begins: a cancel may come before it.
            await anyio.sleep(retry.after)
        except BaseException:
            _keep(agent, turn, step, gathering.said, finish)
            raise


async def _assemble(agent: Agent, system: str) -> Request:
    async def as_it_is(request: Request) -> Request:
        return request

    start = Request(
        config=CallConfig(model=agent.settings.model),
        system=system,
        tools=agent.tools.specs(),
        messages=tuple(agent.session.projection.messages),
    )
    return await agent.hooks.request.run(start, as_it_is)


def _log_request(
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
            patch=_patch(session.projection.messages, request.messages),
            digest=digest,
        )
    )
    session.check.require(header, request.messages, digest)


def _patch(base: Sequence[Message], sent: Sequence[Message]) -> Patch | None:
    """What layers changed in the history, as a splice without common prefix and suffix."""
    if len(base) == len(sent) and all(map(is_, base, sent)):
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


async def _after(
    agent: Agent, turn: int, step: int, attempt: int, error: ModelFailed
) -> Retry | None:
    """Ask the layers whether to try again, and say in the log what failed."""

    async def no(_: RequestFailure) -> Retry | None:
        return None

    failure = _numbered(error.failure, attempt)
    value = RequestFailure(turn=turn, step=step, attempt=attempt, failure=failure)
    retry = await agent.hooks.request_error.run(value, no)
    at = None if retry is None else int((time.time() + retry.after) * 1000)
    agent.session.append(LlmFailed(attempt=attempt, failure=failure, retry_at=at))
    return retry


def _numbered(failure: Failure, attempt: int) -> Failure:
    return Failure(
        kind=failure.kind,
        message=failure.message,
        provider=failure.provider,
        attempt=attempt,
        status=failure.status,
        retry_after=failure.retry_after,
    )


def _keep(agent: Agent, turn: int, step: int, said: str, finish: str) -> None:
    if said:
        agent.session.append(
            AssistantMessage(turn=turn, step=step, content=said, finish=finish, interrupted=True)
        )
