"""What a client is told of models and providers, and the keys that it hands over."""

from collections.abc import Iterator
from difflib import get_close_matches

import anyio

from turnbuckle import config
from turnbuckle.app.models import Models
from turnbuckle.config import Offer
from turnbuckle.lsp import names
from turnbuckle.lsp.choosing import (
    CredentialsParams,
    EffectiveConfig,
    ModelEntry,
    ModelPrice,
    ModelsParams,
    ModelsResult,
    ProviderEntry,
)
from turnbuckle.lsp.protocol import Nothing
from turnbuckle.lsp.rpc import Connection, Refused
from turnbuckle.lsp.rpc.errors import BadMessage
from turnbuckle.model.port import ModelFailed, ModelUnavailable

PATIENCE = 3.0
"""Seconds that a provider has to list its models, so that one of them can be chosen."""


class Catalogue:
    """Answers `turnbuckle/models` and `turnbuckle/credentials`."""

    def __init__(self, models: Models) -> None:
        self._models = models

    def register(self, connection: Connection) -> None:
        """Answer on a connection."""
        connection.on_request(names.MODELS, self._list)
        connection.on_request(names.CREDENTIALS, self._take_key)

    async def effective(self, session_id: str) -> EffectiveConfig:
        """What the next request of a session is sent with."""
        chosen = self._models.choices.offer(session_id)
        offer = chosen or await self._models.current(fresh=True)
        price = offer.price
        return EffectiveConfig(
            model=offer.model,
            provider=offer.provider,
            window=offer.window,
            price=ModelPrice(
                input=price.input,
                output=price.output,
                cached=price.cached,
                currency=price.currency,
            )
            if price
            else None,
        )

    async def choose(self, session_id: str, name: str) -> None:
        """Send the next requests of an open session to a model that can be listed.

        Raises:
            BadMessage: nobody lists it.
            Refused: it cannot be used; says why.
        """
        await self._look()
        offers = self._models.offers
        offer = next((one for one in offers if one.model == name), None)
        if offer is None:
            offer = await self._find(name)
        if offer.problem is not None:
            raise Refused(offer.problem, kind="modelUnavailable", retryable=False)
        self._models.choices.make(session_id, offer)

    async def _find(self, name: str) -> Offer:
        """A model that one of the providers lists that can be asked."""
        lists: dict[str, tuple[str, ...]] = {}
        async with anyio.create_task_group() as group:
            for provider in {one.provider for one in self._models.offers if not one.problem}:
                group.start_soon(self._ask, provider, lists)
        for provider, listed in sorted(lists.items()):
            if name in listed and (offer := self._models.find(provider, name)):
                return offer
        known = [one.model for one in self._models.offers]
        known += [one for listed in lists.values() for one in listed]
        known = list(dict.fromkeys(known))
        close = get_close_matches(name, known, n=3) or known[:10]
        raise BadMessage(f"model: there is no {name!r}; there are {', '.join(close)}")

    async def _ask(self, provider: str, into: dict[str, tuple[str, ...]]) -> None:
        base_url = self._models.endpoints.get(provider)
        if base_url is None:
            return
        try:
            into[provider] = await self._models.listed(base_url, provider, PATIENCE)
        except ModelFailed:
            return  # what it has cannot be chosen then

    async def _list(self, params: ModelsParams) -> ModelsResult:
        await self._look()
        current, *others = self._models.offers
        entries = [_entry(current, current=True), *(_entry(one) for one in others)]
        if params.provider is not None:
            entries += await self._listed(params.provider, entries)
        return ModelsResult(models=tuple(entries), providers=tuple(self._providers()))

    async def _look(self) -> None:
        if self._models.settings.discover and self._models.problem is None:
            await self._models.machine.look(again=True)

    async def _listed(self, provider: str, known: list[ModelEntry]) -> list[ModelEntry]:
        """What else a provider offers."""
        base_url = self._endpoint(provider)
        try:
            listed = await self._models.listed(base_url, provider)
        except ModelFailed as error:
            retryable = isinstance(error, ModelUnavailable)
            raise Refused(str(error), kind=error.failure.kind, retryable=retryable) from error
        there = {entry.name for entry in known if entry.provider == provider}
        return [
            ModelEntry(name=name, provider=provider, current=False, source="listed")
            for name in listed
            if name not in there
        ]

    async def _take_key(self, params: CredentialsParams) -> Nothing:
        self._endpoint(params.provider)
        self._models.keys.give(params.provider, params.key)
        return Nothing()

    def _endpoint(self, provider: str) -> str:
        """Where a provider is reached.

        Raises:
            BadMessage: nobody knows.
        """
        endpoints = self._models.endpoints
        if provider not in endpoints:
            raise BadMessage(f"provider: unknown; there are {', '.join(endpoints)}")
        return endpoints[provider]

    def _providers(self) -> Iterator[ProviderEntry]:
        for known in config.KNOWN:
            key = config.key_for(self._models.settings, self._models.keys, known.id)
            yield ProviderEntry(
                provider=known.id,
                title=known.title,
                base_url=known.base_url,
                key="absent" if not key else "memory" if key.given else "environment",
                variable=known.variable,
                keys_at=known.keys,
            )
        for one in self._models.machine.found:
            yield ProviderEntry(
                provider=one.local.id,
                title=one.local.title,
                base_url=one.local.base_url,
                key="needless",
                unavailable=one.problem or (None if one.talkers else "It offers no model."),
            )


def _entry(offer: Offer, *, current: bool = False) -> ModelEntry:
    return ModelEntry(
        name=offer.model,
        provider=offer.provider,
        window=offer.window,
        current=current,
        source=offer.source,
        unavailable=offer.problem,
    )
