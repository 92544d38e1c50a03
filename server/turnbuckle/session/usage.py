"""Tokens of turn and context, as the provider counted them: a fold."""

from turnbuckle.session.codec import Entry
from turnbuckle.session.events import AssistantMessage, TurnStart
from turnbuckle.session.parts import Usage


def add(one: Usage | None, other: Usage | None) -> Usage | None:
    """Two usages as one; what neither knows stays unknown."""
    if one is None or other is None:
        return one or other
    return Usage(
        input=one.input + other.input,
        output=one.output + other.output,
        total=one.total + other.total,
        cached=_sum(one.cached, other.cached),
        reasoning=_sum(one.reasoning, other.reasoning),
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)


class UsageFold:
    """`turn` is the sum over the current turn, `session` over all, `context` the last request's."""

    def __init__(self) -> None:
        self.turn: Usage | None = None
        self.session: Usage | None = None
        self.context: int | None = None

    def feed(self, entry: Entry) -> None:
        """Take the next fact."""
        match entry.fact:
            case TurnStart():
                self.turn = None
            case AssistantMessage(usage=Usage() as usage):
                self.turn = add(self.turn, usage)
                self.session = add(self.session, usage)
                self.context = usage.total
            case _:
                pass
