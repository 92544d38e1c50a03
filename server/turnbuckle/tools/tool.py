"""What a tool is: told to the model, prepared, judged by its subject, then performed."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel

from turnbuckle.session.blobs import Blobs
from turnbuckle.session.events import Fact
from turnbuckle.session.parts import JsonObject
from turnbuckle.tools.subject import Change, Command, Internal, Question, Read, Subject
from turnbuckle.workspace.port import Workspace

__all__ = [
    "Change", "Command", "ExecutionMode", "Go", "Internal", "Outcome", "Perform", "Prepared",
    "Question", "Read", "Subject", "Tool", "ToolError", "Verdict",
]  # fmt: skip

ExecutionMode: TypeAlias = Literal["exclusive", "parallel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a call came to.

    `code` is set exactly for errors. `contexts` are messages that the model gets after all results
    of the step; `facts` are appended with the result.
    """

    content: str
    code: str | None = None
    meta: JsonObject | None = None
    contexts: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the person decided in the end: hunks that were rejected, a note if there was one.

    `edits` are whole texts, by URI, that the person made of files of the change.
    """

    rejected: tuple[str, ...] = ()
    note: str | None = None
    edits: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Go:
    """What `perform` may use, and nothing else.

    `accepted` gives batches of hunk ids as they are accepted, and ends when nothing is open any
    more; `verdict` is complete then. `record` appends a fact and returns when it is on disk.
    `note` shows a piece of live output to who watches; it never waits. `answer` is the person's
    answer to a Question.
    """

    call_id: str
    accepted: Callable[[], AsyncIterator[tuple[str, ...]]]
    verdict: Callable[[], Verdict]
    record: Callable[[Fact], Awaitable[None]]
    note: Callable[[str], None]
    blobs: Blobs
    answer: str | None = None


Perform: TypeAlias = Callable[[Go], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What a call would do; `perform` does that and nothing else."""

    subject: Subject
    perform: Perform


A = TypeVar("A", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[A]):
    """One tool. `parameters` types the arguments; the model is told its JSON Schema.

    `prepare` may look at files and raises ToolError where the call cannot be done; it changes
    nothing. `execution_mode` may be decided by the arguments; whatever is not exactly "parallel"
    is exclusive.
    """

    name: str
    description: str
    parameters: type[A]
    prepare: Callable[[A, Workspace], Awaitable[Prepared]]
    execution_mode: ExecutionMode | Callable[[A], ExecutionMode] = field(default="exclusive")


class ToolError(Exception):
    """A call failed in a way that the model should read: a code of the contract, and a sentence."""

    def __init__(self, code: str, message: str, meta: JsonObject | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.meta = meta
