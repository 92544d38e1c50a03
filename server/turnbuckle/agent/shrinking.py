"""One go at making a history smaller: rounds of pruning and summing up, until it is enough."""

import logging
from dataclasses import dataclass

from turnbuckle.agent.agent import Agent
from turnbuckle.agent.cutting import (
    end_of_head,
    start_of_asking,
    start_of_tail,
    worth_a_summary,
)
from turnbuckle.agent.pruning import pruned
from turnbuckle.agent.sizing import Sizing, tokens_of
from turnbuckle.agent.summarising import QUESTION, quoted, summarise
from turnbuckle.model.port import ModelFailed, ModelRefused
from turnbuckle.session.events import Message, ToolResult

logger = logging.getLogger(__name__)

_STALLS = 2
"""Rounds without progress after which it is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """Get below `target` in a `window`, keeping the newest `tail`; all in tokens.

    `system` is the prompt before layers change it, `before` the estimate of what stands before the
    messages. With `once`, one summary is enough.
    """

    system: str
    before: int
    window: int
    target: int
    tail: int
    once: bool = False

    @property
    def summary(self) -> int:
        """Tokens that a summary may take."""
        return min(max(self.window // 25, 100), 8000)

    @property
    def longest(self) -> int:
        """Characters that an old result may have."""
        return min(max(self.window * 4 // 25, 400), 8192)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """Tokens before and after; `why` it went no further, None where it came as far as it should."""

    before: int
    after: int
    why: str | None = None


class Shrinking:
    """Appends what makes the history of a session smaller, a round at a time."""

    def __init__(self, agent: Agent, sizing: Sizing, goal: Goal) -> None:
        self._agent = agent
        self._sizing = sizing
        self._goal = goal
        self._most: int | None = None  # tokens that a summary may cover, once it was too many

    @property
    def size(self) -> int:
        """Tokens of the next request as it would be now."""
        return self._sizing.size(self._goal.before)

    async def run(self) -> Compacted:
        """Go on until the goal is reached, nothing is left to do, or two rounds came to nothing.

        Raises:
            StoreFailed: the log could not be written.
            NotLogged: a request is not what the log says.
        """
        goal, start, size = self._goal, self.size, self.size
        stalls, more, why = 0, True, None
        while more and size >= goal.target and stalls < _STALLS:
            try:
                more, why = await self._round(), None
            except ModelFailed as error:
                why = str(error)
                logger.info("session %s: no summary: %s", self._agent.session.id, error)
            before, size = size, self.size
            stalls = 0 if size < before else stalls + 1
        if size < start:
            self._tell(f"made room: about {size:,} instead of {start:,} tokens are sent")
        if size >= goal.target and not more and not goal.once:
            why = "there is nothing left that could be left out"
        return Compacted(before=start, after=size, why=why if size >= goal.target else None)

    async def _round(self) -> bool:
        """Do the next thing that makes the history smaller; False where there is none, or enough.

        Raises:
            ModelFailed: there is no summary.
        """
        goal, messages = self._goal, self._agent.session.projection.messages
        tail = start_of_tail(messages, self._estimate(goal.tail))
        if self._prune(range(tail), goal.longest):
            return True
        count = self._count(messages, tail)
        rest = self.size - self._sizing.scaled(tokens_of(messages[:count]))
        if rest >= goal.target and not goal.once and self._prune_newest(tail):
            return True
        if not count:
            return False
        piece = self._piece(messages, count)
        await self._sum_up(piece)
        return not goal.once or piece < count

    def _prune(self, part: range, limit: int) -> bool:
        shown = self._agent.session.projection
        fact = pruned(shown.messages, shown.seqs, part, limit)
        if fact is not None:
            self._agent.session.append(fact)
        return fact is not None

    def _prune_newest(self, tail: int) -> bool:
        """Shorten results that would be kept, where no summary could make enough room."""
        messages = self._agent.session.projection.messages
        count = sum(isinstance(message, ToolResult) for message in messages[tail:]) or 1
        limit = max(self._goal.longest, self._estimate(self._goal.tail) * 4 // count)
        return self._prune(range(tail, len(messages)), limit)

    def _count(self, messages: list[Message], tail: int) -> int:
        """How many of the first messages a summary should stand for; 0 where none is worth it.

        What the person asked last stays as it is, if what was before that is enough.
        """
        goal, asked = self._goal, start_of_asking(messages)
        if 0 < asked < tail and worth_a_summary(messages[:asked]):
            covered = self._sizing.scaled(tokens_of(messages[:asked]))
            if goal.once or self.size - covered + goal.summary < goal.target:
                return asked
        return tail if worth_a_summary(messages[:tail]) else 0

    def _piece(self, messages: list[Message], count: int) -> int:
        """As many of these as a summary's request has room for.

        Raises:
            ModelRefused: overflow: there is no room for any.
        """
        goal = self._goal
        room = goal.window - self._sizing.scaled(goal.before + QUESTION) - goal.summary
        room = room if self._most is None else min(room, self._most)
        piece = end_of_head(messages[:count], self._estimate(room))
        least = min(self._estimate(goal.summary), tokens_of(messages[:count]))
        if not worth_a_summary(messages[:piece]) or tokens_of(messages[:piece]) < least:
            raise ModelRefused("overflow", "not even its beginning fits into a summary's request")
        return piece

    async def _sum_up(self, count: int) -> None:
        goal, messages = self._goal, self._agent.session.projection.messages
        covered = tuple(messages[:count])
        size = self._sizing.scaled(tokens_of(covered))
        self._tell(f"summing up the older part of the conversation, about {size:,} tokens")
        quote = quoted(covered, tuple(messages[count:]))
        words = goal.summary // 2
        try:
            await summarise(self._agent, goal.system, count, words=words, quote=quote)
        except ModelFailed as error:
            if error.failure.kind == "overflow":
                self._most = size // 2
            raise

    def _estimate(self, size: int) -> int:
        """What an estimate comes to where there are really so many tokens."""
        return int(size * 1000 / self._sizing.scaled(1000))

    def _tell(self, text: str) -> None:
        self._agent.session.note("status", {"text": text})
