"""Which model answers, as a plugin that routes each request of a session to it."""

from collections.abc import Sequence
from dataclasses import replace

from turnbuckle import config
from turnbuckle.agent.plugin import Install, PluginContext
from turnbuckle.app.choices import Choices
from turnbuckle.app.machine import Machine
from turnbuckle.config import Local, Offer
from turnbuckle.kernel.scope import Disposer
from turnbuckle.kernel.waterfall import Next
from turnbuckle.model.demo import Demo
from turnbuckle.model.endpoint import new_client, proxy_secrets, secrets_in
from turnbuckle.model.listing import list_models
from turnbuckle.model.openai_chat import OpenAIChat
from turnbuckle.model.port import Emit, Model, ModelRefused, Reply, Request
from turnbuckle.model.providers import provider_of
from turnbuckle.model.reading import Timeouts
from turnbuckle.session.blobs import Blobs

CHOSEN = "chosen"
"""The model that a session's requests name until they are routed to the one that answers."""

NEAR, FAR = 0.5, 10.0
"""Seconds that a server of this machine, and one elsewhere, has to list its models."""


class Unconfigured:
    """Stands where a model would, and says why there is none."""

    window = None

    def __init__(self, problem: str) -> None:
        self._problem = problem

    async def __call__(self, _request: Request, _emit: Emit) -> Reply:
        """Refuse, with the reason."""
        raise ModelRefused("model", self._problem)


class Models:
    """The models that can answer, on one HTTP client; each session gets instances of its own.

    `problem` is what is wrong with the settings, None if nothing is; `blobs` keep the pictures.
    """

    def __init__(
        self,
        settings: config.Settings,
        problem: str | None,
        keys: config.Keys,
        local: Sequence[Local] = config.LOCAL,
        blobs: Blobs | None = None,
    ) -> None:
        self.problem = problem
        self.keys = keys
        self.settings = settings.model
        self._blobs = blobs
        self.machine = Machine(local, lambda one: self.listed(one.base_url, one.id, NEAR))
        self.choices = Choices(self, instead_of=CHOSEN)
        self._client = None
        self._proxies = proxy_secrets()
        self._trouble: str | None = None
        try:
            urls = [self.settings.base_url or "", *(one.base_url for one in local)]
            self._client = new_client(*urls)
        except ModelRefused as error:
            self._trouble = str(error)

    async def current(self, *, fresh: bool = False) -> Offer:
        """The model that answers the next request.

        Where that depends on what runs on this machine, it is looked for first: once, or with
        `fresh` again as long as nothing better than the demo is known.
        """
        if self.problem is None and config.looks(self.settings, self.keys):
            again = fresh and self.offers[0].source == "built-in"
            await self.machine.look(again=again)
        return self.offers[0]

    @property
    def offers(self) -> tuple[Offer, ...]:
        """All that is known of, the one that answers first."""
        known = config.offers(self.settings, self.keys, self.machine.found)
        if self.problem is not None:
            name, provider = self.settings.name or "none", config.NOWHERE
            wrong = Offer(model=name, provider=provider, source="configured", problem=self.problem)
            return (wrong, *(self._whole(offer) for offer in known if offer.base_url is None))
        return tuple(self._whole(offer) for offer in known)

    def _whole(self, offer: Offer) -> Offer:
        if offer.source == "built-in":
            return replace(offer, window=Demo().window)
        return replace(offer, problem=offer.problem or self._trouble)

    @property
    def endpoints(self) -> dict[str, str]:
        """Where each provider is reached, by its name."""
        own = self.settings.base_url
        configured = {config.provider_at(own): own} if own else {}
        known = {one.id: one.base_url for one in config.KNOWN}
        return known | {one.id: one.base_url for one in self.machine.local} | configured

    def find(self, provider: str, model: str) -> Offer | None:
        """A model of a provider, also one that only it lists; None if it cannot be asked."""
        for offer in self.offers:
            if (offer.provider, offer.model) == (provider, model):
                return None if offer.problem else offer
        base_url = self.endpoints.get(provider)
        needless = base_url in (
            self.settings.base_url,
            *(one.base_url for one in self.machine.local),
        )
        if base_url is None or not (needless or self.key(provider)):
            return None
        return Offer(
            model=model,
            provider=provider,
            source="configured",
            base_url=base_url,
            window=self.settings.context_window,
            problem=self._trouble,
        )

    async def listed(self, base_url: str, provider: str, limit: float = FAR) -> tuple[str, ...]:
        """The names of the models that a provider offers.

        Raises:
            ModelFailed: it does not say.
        """
        if self._client is None:
            raise ModelRefused("protocol", self._trouble or "there is no HTTP client")
        key = self.key(provider)
        return await list_models(self._client, base_url, key=key, limit=limit)

    def key(self, provider: str) -> str | None:
        """The key that goes to a provider."""
        key = config.key_for(self.settings, self.keys, provider)
        return key.value if key else None

    @property
    def held(self) -> tuple[str, ...]:
        """Every secret of ours that is known by its text: keys, and passwords in URLs."""
        return (*self.keys.held, *secrets_in(self.settings.base_url or ""), *self._proxies)

    def model(self, offer: Offer) -> Model:
        """A new instance of what was offered."""
        if offer.problem is not None:
            return Unconfigured(offer.problem)
        if offer.base_url is None:
            return Demo()
        return OpenAIChat(
            offer.base_url,
            key=self.key(offer.provider),
            client=self._client,
            provider=provider_of(offer.base_url, think_tags=self.settings.think_tags),
            window=offer.window,
            timeouts=Timeouts(idle=self.settings.idle_timeout, total=self.settings.total_timeout),
            blobs=self._blobs,
        )

    @property
    def plugin(self) -> Install:
        """Routes the requests of a session."""

        def install(ctx: PluginContext) -> None:
            ctx.hooks.request.use(_Route(self, ctx))

        return install

    async def aclose(self) -> None:
        """Close the HTTP client."""
        if self._client is not None:
            await self._client.aclose()


class _Route:
    """Sends one session's requests to the model that answers now, which may change between two."""

    def __init__(self, models: Models, ctx: PluginContext) -> None:
        self._models = models
        self._ctx = ctx
        self._taken: tuple[Offer, str | None] | None = None
        self._leave: Disposer | None = None
        # Now, so that a later plugin can register another model in the place of this one.
        self._take(models.offers[0])

    async def __call__(self, request: Request, next: Next[Request, Request]) -> Request:
        if request.config.model != CHOSEN:
            return await next(request)
        offer = await self._models.current()
        self._take(offer)
        return await next(replace(request, config=replace(request.config, model=offer.model)))

    def _take(self, offer: Offer) -> None:
        taken = (offer, self._models.key(offer.provider))
        if taken == self._taken:
            return
        self._taken = taken
        model = self._models.model(offer)
        if self._leave is not None:
            self._leave()
        self._leave = self._ctx.models.register(offer.model, model)
