"""Models that the configuration names besides the one that answers: for routes and stand-ins."""

from collections.abc import Sequence
from dataclasses import replace

from turnbuckle.agent.plugin import Install, PluginContext
from turnbuckle.app.models import Models
from turnbuckle.config import NOWHERE, Offer
from turnbuckle.model.port import Emit, Model, Reply, Request


def named_models(models: Models, names: Sequence[str]) -> Install:
    """Registers a model for each of these names; which one that is is looked up when it is asked.

    A name is that of a model that could answer, or `provider/name` at a provider that is known, or
    else a model at the endpoint of the one that answers.
    """

    def install(ctx: PluginContext) -> None:
        for name in dict.fromkeys(names):
            ctx.models.register(name, _Named(models, name))

    return install


def offer_named(models: Models, name: str) -> Offer:
    """What is asked under a name; its `problem` says why it cannot be."""
    offers = models.offers
    if found := next((offer for offer in offers if offer.model == name), None):
        return found
    provider, _, inner = name.partition("/")
    endpoint = models.endpoints.get(provider)
    if inner and endpoint:
        return Offer(model=inner, provider=provider, source="configured", base_url=endpoint)
    first = offers[0]
    if first.base_url is not None:
        return replace(first, model=name)
    said = f"The model {name!r} has no endpoint: set base_url in [model], or write provider/name."
    return Offer(model=name, provider=NOWHERE, source="configured", problem=said)


class _Named:
    """Asks the model that a name stands for now."""

    def __init__(self, models: Models, name: str) -> None:
        self._models = models
        self._name = name
        self._taken: tuple[Offer, str | None] | None = None
        self._model: Model | None = None

    @property
    def window(self) -> int | None:
        """As that of the model."""
        return self._now()[1].window

    async def __call__(self, request: Request, emit: Emit) -> Reply:
        """Ask it by the name that its provider knows."""
        offer, model = self._now()
        config = replace(request.config, model=offer.model)
        return await model(replace(request, config=config), emit)

    def _now(self) -> tuple[Offer, Model]:
        offer = offer_named(self._models, self._name)
        taken = (offer, self._models.key(offer.provider))
        if self._model is None or taken != self._taken:
            self._taken, self._model = taken, self._models.model(offer)
        return offer, self._model
