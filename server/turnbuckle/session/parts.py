"""What facts are made of: small frozen values without an envelope of their own."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar, cast, dataclass_transform

# Any: JSON whose shape is not ours to type (a schema, a provider's options, a tool's data).
JsonObject: TypeAlias = dict[str, Any]

C = TypeVar("C", bound=type)


def camel(name: str) -> str:
    """The name of a field on disk and on the wire."""
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


READING = {"alias_generator": camel, "extra": "ignore"}
"""How pydantic reads these classes back: by camelCase names, skipping fields it does not know."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def part(cls: C) -> C:
    """Make a class a part of facts."""
    # Any: attributes are added that a class object does not declare.
    made: Any = dataclass(frozen=True, slots=True, kw_only=True)(cls)
    made.__pydantic_config__ = READING
    return cast("C", made)


@part
class Usage:
    """Tokens of one answer, as the provider counted them."""

    input: int
    output: int
    total: int
    cached: int | None = None
    reasoning: int | None = None


@part
class Call:
    """One tool call of an answer; `arguments` is the raw string that the model wrote."""

    call_id: str
    name: str
    arguments: str


@part
class CallDelta:
    """A piece of a tool call while it streams."""

    index: int
    name: str | None = None
    arguments: str | None = None


def joined(calls: Iterable[CallDelta]) -> tuple[CallDelta, ...]:
    """Neighbouring pieces of one call as one piece."""
    pieces: list[tuple[CallDelta, list[str]]] = []
    for call in calls:
        if not pieces or pieces[-1][0].index != call.index or call.name:
            pieces.append((call, []))
        if call.arguments is not None:
            pieces[-1][1].append(call.arguments)
    return tuple(
        replace(first, arguments="".join(parts) if parts else None) for first, parts in pieces
    )


FailureKind: TypeAlias = Literal[
    "auth", "quota", "rate-limit", "overflow", "server", "timeout", "transport", "empty",
    "protocol", "model", "hook", "store", "internal",
]  # fmt: skip


@part
class Failure:
    """What went wrong, for the person; `retry_after` in seconds.

    The kinds up to `protocol` come from a model; `model` is a model that is not there, `hook` a
    plugin that threw, `store` a log that could not be written, `internal` a fault of ours.
    """

    kind: FailureKind
    message: str
    provider: str | None = None
    attempt: int | None = None
    status: int | None = None
    retry_after: float | None = None


EndKind: TypeAlias = Literal[
    "completed", "blocked", "stopped", "max-tokens", "aborted", "error", "interrupted"
]


@part
class End:
    """How a turn ended: `reason` of blocked and stopped, `cause` of aborted, `failure` of error."""

    kind: EndKind
    reason: str | None = None
    cause: str | None = None
    failure: Failure | None = None


@part
class Image:
    """A picture, whose bytes are kept beside the log under their digest; `size` in bytes."""

    digest: str
    mime_type: str
    size: int


@part
class Context:
    """Something the person pointed at or showed, as it was when the message was sent."""

    kind: Literal["file", "selection", "diagnostics", "terminal", "text", "image"]
    uri: str | None = None
    range: JsonObject | None = None
    version: int | None = None
    text: str | None = None
    image: Image | None = None


@part
class Patch:
    """What a layer changed in the history for one request: `messages` for `[start, end)`."""

    start: int
    end: int
    messages: tuple[JsonObject, ...]


@part
class Pruned:
    """The shortened content of the tool result at `seq`."""

    seq: int
    content: str


@part
class TodoItem:
    """One line of the agent's list."""

    text: str
    state: Literal["open", "active", "done"]


Source: TypeAlias = Literal["user", "plugin", "context"]
Target: TypeAlias = Literal["turn", "step"]
ApprovalOutcome: TypeAlias = Literal["allowed", "rejected", "cancelled", "unavailable"]
