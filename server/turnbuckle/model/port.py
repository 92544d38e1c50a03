"""The port to anything that can answer a request."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from turnbuckle.session.events import Message
from turnbuckle.session.parts import Call, CallDelta, Failure, FailureKind, JsonObject, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class CallConfig:
    """How a request is to be answered; what is absent is left to the provider."""

    model: str
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model is told of it; `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """All that one model call is made of. A message is its fact.

    `why` is None for a step's own request; for one beside it, such as `compaction`, what it is for.
    """

    config: CallConfig
    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """A piece of an answer as it arrives."""

    text: str | None = None
    reasoning: str | None = None
    tool_calls: tuple[CallDelta, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole answer.

    `finish` is the provider's word (`stop`, `tool_calls`, `length`, …), or `truncated` for a stream
    that ended without one. `call_id`s may be empty or doubled: the loop makes them unique.
    """

    content: str
    finish: str
    tool_calls: tuple[Call, ...] = ()
    reasoning: str | None = None
    usage: Usage | None = None


Cut: TypeAlias = Literal["limit", "filter", "break"]

_CUTS: dict[str, Cut] = {
    "length": "limit",
    "max_tokens": "limit",
    "model_length": "limit",
    "model_context_window_exceeded": "limit",
    "content_filter": "filter",
    "safety": "filter",
    "sensitive": "filter",
    "truncated": "break",
}


def cut(finish: str) -> Cut | None:
    """What cut an answer off, by its finish: a limit of tokens, a filter, or a break of the stream.

    The calls of such an answer may be half of what was meant: none is run. None for an answer that
    is whole, and for a word that nobody knows.
    """
    return _CUTS.get(finish.lower().partition(":")[0])


Emit: TypeAlias = Callable[[Delta], None]


class Model(Protocol):
    """Anything that can answer a request."""

    @property
    def window(self) -> int | None:
        """How many tokens a request and its answer may have together, if that is known."""
        ...

    async def __call__(self, request: Request, emit: Emit, /) -> Reply:
        """Stream one answer through `emit`, which never waits, and return it whole.

        Cancelling the call closes the connection.

        Raises:
            ModelUnavailable: the same request may be tried again.
            ModelRefused: trying again would not help.
        """
        ...


class ModelFailed(Exception):
    """A request was not answered.

    ModelFailed
    ├── ModelUnavailable   rate-limit, server, timeout, transport, empty
    └── ModelRefused       auth, quota, overflow, protocol
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        provider: str | None = None,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.failure = Failure(
            kind=kind, message=message, provider=provider, status=status, retry_after=retry_after
        )


class ModelUnavailable(ModelFailed):
    """The same request may be answered later."""


class ModelRefused(ModelFailed):
    """The same request would be refused again."""
