"""The waterfalls of one call, and the guards."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from turnbuckle.kernel.failures import blame
from turnbuckle.kernel.owned import Owned
from turnbuckle.kernel.scope import Disposer, Scope
from turnbuckle.kernel.waterfall import Waterfall
from turnbuckle.session.parts import Call
from turnbuckle.tools.tool import Outcome, Prepared, Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One call, prepared: `arguments` as validated for `tool`."""

    turn: int
    step: int
    call: Call
    tool: Tool[Any]  # Any: a registry holds tools of every argument type
    arguments: object
    prepared: Prepared


@dataclass(frozen=True, slots=True)
class Allow:
    """Go on without a question."""


@dataclass(frozen=True, slots=True)
class Deny:
    """Do not run it; the model reads the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Run it only if the person says so."""

    reason: str


PreExecute: TypeAlias = Allow | Deny | Ask


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """A call with what it came to; `execution` is None where it could not even be prepared."""

    call: Call
    execution: Execution | None
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Accept:
    """The outcome stands."""


@dataclass(frozen=True, slots=True)
class Replace:
    """The model reads this content instead."""

    content: str


@dataclass(frozen=True, slots=True)
class Enrich:
    """The outcome stands, and the model gets these messages after the step's results."""

    contexts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """The outcome is withheld; the model reads the feedback as an error."""

    feedback: str


PostExecute: TypeAlias = Accept | Replace | Enrich | Block

Guard: TypeAlias = Callable[[Execution], Deny | None]
"""Denies or abstains; it can never allow, and it has the last word before any question."""


class ToolHooks:
    """What stands around a call."""

    def __init__(self) -> None:
        self.pre_execute: Waterfall[Execution, PreExecute] = Waterfall(
            "tools/pre-execute", (Allow, Deny, Ask)
        )
        self.execute: Waterfall[Execution, Outcome] = Waterfall("tools/execute", Outcome)
        self.post_execute: Waterfall[Executed, PostExecute] = Waterfall(
            "tools/post-execute", (Accept, Replace, Enrich, Block)
        )
        self.guards: Owned[Guard] = Owned()

    def guard(self, scope: Scope, guard: Guard) -> Disposer:
        """Add a guard that leaves with its scope; what it raises is noted as its owner's."""

        def owned(execution: Execution) -> Deny | None:
            try:
                return guard(execution)
            except BaseException as error:
                blame(error, f"{scope.owner} in a guard")
                raise

        return self.guards.add(scope, owned, "guard")


def settle(outcome: Outcome, decision: PostExecute) -> Outcome:
    """The outcome after what post-execute decided."""
    match decision:
        case Accept():
            return outcome
        case Replace(content):
            return replace(outcome, content=content)
        case Enrich(contexts):
            return replace(outcome, contexts=(*outcome.contexts, *separate(contexts)))
        case Block(feedback):
            return replace(outcome, content=f"<tool error: {feedback}>", code="DENIED", contexts=())


def separate(texts: Collection[str]) -> Collection[str]:
    """Several texts, as they are.

    Raises:
        TypeError: they are one text, which would pass for its letters.
    """
    if isinstance(texts, str):
        raise TypeError("several texts were expected, and this is one")
    return texts
