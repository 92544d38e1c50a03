"""The models that were chosen for single sessions, each for the next requests of one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from turnbuckle.agent.plugin import Install, PluginContext
from turnbuckle.config import Offer
from turnbuckle.kernel.scope import Disposer
from turnbuckle.kernel.waterfall import Next
from turnbuckle.model.port import Model, Request
from turnbuckle.session.events import PluginFact


class Choosable(Protocol):
    """What a choice is made from."""

    def find(self, provider: str, model: str) -> Offer | None:
        """A model of a provider; None if it cannot be reached."""
        ...

    def key(self, provider: str) -> str | None:
        """The key that goes to a provider."""
        ...

    def model(self, offer: Offer) -> Model:
        """A new instance of what was offered."""
        ...


class Choices:
    """Those of the sessions that are open, as a plugin of each; `instead_of` is replaced by them.

    A choice that a request was sent with is a fact of the session, so that it is found again.
    """

    def __init__(self, models: Choosable, instead_of: str) -> None:
        self._models = models
        self._instead_of = instead_of
        self._made: dict[str, _Choice] = {}

    @property
    def plugin(self) -> Install:
        """Sends the requests of a session to what was chosen for it."""

        def install(ctx: PluginContext) -> None:
            session_id = ctx.session.id
            choice = self._made[session_id] = _Choice(self._models, ctx, self._instead_of)
            ctx.hooks.request.use(choice)
            ctx.defer(self._forgetting(session_id, choice), "choice")

        return install

    def _forgetting(self, session_id: str, choice: "_Choice") -> Callable[[], None]:
        def forget() -> None:
            if self._made.get(session_id) is choice:
                del self._made[session_id]

        return forget

    def make(self, session_id: str, offer: Offer) -> None:
        """Send the next requests of an open session there."""
        self._made[session_id].choice = (offer.provider, offer.model)

    def offer(self, session_id: str) -> Offer | None:
        """What was chosen for an open session, if it can be reached; None if nothing was."""
        made = self._made.get(session_id)
        return made.offer if made else None


class _Choice:
    """One session's; `choice` is a provider and a model."""

    def __init__(self, models: Choosable, ctx: PluginContext, instead_of: str) -> None:
        self._models = models
        self._ctx = ctx
        self._instead_of = instead_of
        self._kept = self.choice = _kept(ctx)
        self._taken: tuple[Offer, str | None] | None = None
        self._leave: Disposer | None = None

    @property
    def offer(self) -> Offer | None:
        return self._models.find(*self.choice) if self.choice else None

    async def __call__(self, request: Request, next: Next[Request, Request]) -> Request:
        offer = self.offer
        if offer is None or request.config.model != self._instead_of:
            return await next(request)
        if self.choice != self._kept:
            self._ctx.session.keep({"provider": offer.provider, "model": offer.model})
            self._kept = self.choice
        self._take(offer)
        return await next(replace(request, config=replace(request.config, model=offer.model)))

    def _take(self, offer: Offer) -> None:
        """Register the model that is asked, unless it is there."""
        taken = (offer, self._models.key(offer.provider))
        if taken == self._taken:
            return
        self._taken = taken
        if self._leave is not None:
            self._leave()
        self._leave = self._ctx.models.register(offer.model, self._models.model(offer))


def _kept(ctx: PluginContext) -> tuple[str, str] | None:
    """The choice that a request of the session was sent with last."""
    for entry in reversed(ctx.session.facts):
        match entry.fact:
            case PluginFact(name=ctx.name, data={"provider": str(provider), "model": str(model)}):
                return provider, model
            case _:
                pass
    return None
