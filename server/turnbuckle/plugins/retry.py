"""Ask a model again that may answer later: a few times, after a while that grows."""

import random
from collections.abc import Callable

from turnbuckle.agent.hooks import RequestFailure, Retry
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.session.events import LlmFailed
from turnbuckle.session.parts import FailureKind

AGAIN: frozenset[FailureKind] = frozenset({"rate-limit", "server", "timeout", "transport", "empty"})
"""Failures after which the same request may be answered."""

ATTEMPTS = 5
"""How often a request is sent at most, the first time included."""

BASE, CAP = 1.0, 30.0
"""Seconds before the second attempt, and the most before any, unless the provider asks for more."""

PATIENCE = 60.0
"""The longest wait in seconds that a provider may ask for; for more, the turn ends and says so."""


def install(
    ctx: PluginContext,
    *,
    attempts: int = ATTEMPTS,
    base: float = BASE,
    cap: float = CAP,
    patience: float = PATIENCE,
    chance: Callable[[], float] = random.random,
) -> None:
    """Retry what may be answered later; `chance` gives numbers in [0, 1).

    No wait is shorter than the provider asks for.
    """

    async def again(
        failed: RequestFailure, next_layer: Next[RequestFailure, Retry | None]
    ) -> Retry | None:
        decided = await next_layer(failed)
        if decided is not None:
            return decided
        asked = failed.failure.retry_after or 0.0
        if failed.failure.kind not in AGAIN or failed.attempt >= attempts or asked > patience:
            return None
        own = wait_after(failed.attempt, base=base, cap=cap, chance=chance())
        return Retry(max(asked, own))

    def tell(failed: LlmFailed) -> None:
        if failed.retry_at is not None:
            text = f"attempt {failed.attempt + 1} of {attempts} follows: {failed.failure.message}"
            ctx.session.note("status", {"text": text, "until": failed.retry_at})

    ctx.hooks.request_error.use(again)
    ctx.on(LlmFailed, tell)


def wait_after(attempt: int, *, base: float, cap: float, chance: float) -> float:
    """Seconds to wait after this attempt: a time that doubles with each, or by chance down to half.

    So clients that failed together do not come back together.
    """
    # It is at its cap long before 2 ** 32, and much later it would be too large for a float.
    time = min(cap, base * 2.0 ** min(attempt - 1, 32))
    return time * (0.5 + chance / 2)
