"""When and how the model is shown less: old results shortened, then the oldest part summed up.

Nothing of the history is changed; what is appended says what is shown instead.
"""

from turnbuckle.agent.agent import Agent
from turnbuckle.agent.cutting import start_of_tail, worth_a_summary
from turnbuckle.agent.requests import assemble
from turnbuckle.agent.shrinking import Compacted as Compacted
from turnbuckle.agent.shrinking import Goal, Shrinking
from turnbuckle.agent.sizing import Sizing, tokens_before
from turnbuckle.agent.summarising import WHY
from turnbuckle.model.port import ModelRefused, Request

THRESHOLD = 0.8
"""The share of the window from which on the history is made smaller."""

TAIL = 0.16
"""The share of the window that the newest messages keep, whole."""

_GUESS = 1.25
"""How many times more than the window something must seem to be where nobody counted it."""


class Compactor:
    """Makes the history of one session smaller; only one of its methods runs at a time."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._sizing = Sizing(agent.session)
        self._given_up = 0  # tokens from which on it is tried again after it was in vain

    async def relieve(
        self, system: str, request: Request, *, threshold: float = THRESHOLD, tail: float = TAIL
    ) -> None:
        """Make room for a request if it takes more than its share of the model's window.

        `request` is as it would be sent, `system` the prompt before layers changed it.

        Raises:
            ModelRefused: overflow: it does not fit, and cannot be made to.
            StoreFailed: the log could not be written.
        """
        window = self._agent.models.get(request.config.model).window
        before = tokens_before(request)
        size = self._sizing.size(before)
        if window is None or size < max(threshold * window, self._given_up):
            return
        self._sizing.learn(before)
        fixed, share = self._sizing.scaled(before), int(threshold * window)
        # Where what stands before the messages leaves no room below that share, the window counts.
        target = share if fixed + tail * window < share else window
        if size < target:
            return
        self._given_up = 0
        done = await self._shrink(system, before, window, target, int(tail * window))
        if done.why is not None:
            self._in_vain(done, window, fixed)

    def _in_vain(self, done: Compacted, window: int, fixed: int) -> None:
        said = (
            f"the conversation takes about {done.after:,} of {window:,} tokens and could not be "
            f"made smaller: {done.why}. The instructions and tools alone take about {fixed:,}"
        )
        seen = done.after if self._sizing.sure else int(done.after / _GUESS)
        if seen >= window:
            raise ModelRefused("overflow", f"{said}; choose a model with a larger context window.")
        # Not again at each step: only once it has grown by a good deal more.
        self._given_up = done.after + window // 10
        self._tell(f"{said}.")

    async def recover(self, system: str, request: Request, *, tail: float = TAIL) -> bool:
        """After an overflow, make the history a good deal smaller; whether it shrank.

        A failure leaves the history as it was.

        Raises:
            StoreFailed: the log could not be written.
        """
        before = tokens_before(request)
        self._sizing.learn(before)
        size, fixed = self._sizing.size(before), self._sizing.scaled(before)
        window = min(self._agent.models.get(request.config.model).window or size, size)
        target = (fixed + window) // 2
        done = await self._shrink(system, before, window, target, int(tail * window))
        if done.why is not None:
            self._tell(
                f"the conversation is too long for the model, and could not be made much smaller: "
                f"{done.why}. The instructions and tools alone take about {fixed:,} tokens."
            )
        return done.after < done.before

    async def compact(self, *, tail: float = TAIL) -> Compacted:
        """Make the history smaller though nothing presses; no call may be open.

        Raises:
            ModelFailed: there is no model to ask.
            StoreFailed: the log could not be written.
        """
        system = await self._agent.prompt.assemble(self._agent.hooks)
        request = await assemble(self._agent, system, upto=0, why=WHY)
        before = tokens_before(request)
        self._sizing.learn(before)
        window = self._agent.models.get(request.config.model).window or self._sizing.size(before)
        return await self._shrink(system, before, window, 0, int(tail * window), once=True)

    async def _shrink(
        self, system: str, before: int, window: int, target: int, tail: int, *, once: bool = False
    ) -> Compacted:
        goal = Goal(
            system=system, before=before, window=window, target=target, tail=tail, once=once
        )
        return await Shrinking(self._agent, self._sizing, goal).run()

    @property
    def size(self) -> int:
        """About how many tokens the history is."""
        return self._sizing.size(0)

    @property
    def nothing_to_do(self) -> bool:
        """Whether `compact` would find nothing, as far as that is known without asking anybody."""
        messages = self._agent.session.projection.messages
        window = self._agent.session.usage.window or 0
        return not worth_a_summary(messages[: start_of_tail(messages, int(TAIL * window))])

    def _tell(self, text: str) -> None:
        self._agent.session.note("status", {"text": text})
