"""Which model answers: the one that is set, else what a key opens, else what runs here, else none.

The demo model stands in for none, and says so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, TypeAlias

from turnbuckle.config.keys import Key, Keys
from turnbuckle.config.providers import KNOWN, LOCAL, NOT_FOR_TALK, Local, known_at
from turnbuckle.config.settings import DEMO, ModelSettings, host_of
from turnbuckle.session.usage import Price

Source: TypeAlias = Literal["configured", "key", "machine", "built-in"]
"""What makes a model one that can answer: settings, a provider's key, a server that runs here."""

BUILT_IN = "built-in"
"""The provider of the demo model."""

NOWHERE = "unknown"
"""The provider of a model that has no endpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A model that could answer. `problem` says why it cannot; `base_url` is None for the demo."""

    model: str
    provider: str
    source: Source
    base_url: str | None = field(default=None, repr=False)
    window: int | None = None
    price: Price | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a server of this machine offers; `problem` says why it offers nothing."""

    local: Local
    models: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def talkers(self) -> tuple[str, ...]:
        """Those of its models that hold a conversation."""
        return tuple(
            name
            for name in self.models
            if not any(mark in name.casefold() for mark in NOT_FOR_TALK)
        )


def offers(settings: ModelSettings, keys: Keys, found: Sequence[Found]) -> tuple[Offer, ...]:
    """Every model that could answer; the first is the one that does."""
    demo = Offer(model=DEMO, provider=BUILT_IN, source="built-in")
    others = (*_keyed(settings, keys), *_running(settings, found))
    if settings.offline:
        return (demo, *others)
    first = _configured(settings, keys, found)
    if first is None:
        return (*others, demo)
    same = {(first.provider, first.model)}
    return (first, *(one for one in others if (one.provider, one.model) not in same), demo)


def looks(settings: ModelSettings, keys: Keys) -> bool:
    """Whether the choice waits for what runs on this machine."""
    if settings.offline or settings.base_url is not None or not settings.discover:
        return False
    return settings.name is not None or not any(_keyed(settings, keys))


def key_for(settings: ModelSettings, keys: Keys, provider: str) -> Key | None:
    """The key that a provider gets, if there is one that may be used for it."""
    endpoint = settings.base_url is not None and provider == provider_at(settings.base_url)
    key = keys.of(provider, endpoint=endpoint)
    may = endpoint or settings.discover or (key is not None and key.given)
    return key if may else None


@lru_cache(maxsize=64)  # asked of the same few before every request
def provider_at(base_url: str) -> str:
    """What the provider behind an endpoint is called: a known name, else its host and port."""
    host = host_of(base_url)
    named = (one.id for one in (*KNOWN, *LOCAL) if host_of(one.base_url) == host)
    return next(named, host or NOWHERE)


def _configured(settings: ModelSettings, keys: Keys, found: Sequence[Found]) -> Offer | None:
    """The model that is set; None if none is."""
    if settings.base_url is not None:
        return _at_endpoint(settings, keys, settings.base_url)
    if settings.name is None:
        return None
    for one in found:
        if settings.name in one.models:
            return _offer(settings, settings.name, one.local.id, "configured", one.local.base_url)
    for known in KNOWN:
        if key_for(settings, keys, known.id):
            return _offer(settings, settings.name, known.id, "configured", known.base_url)
    variables = ", ".join(known.variable for known in KNOWN)
    problem = (
        f"The model {settings.name!r} has no endpoint: set TURNBUCKLE_BASE_URL, or base_url in "
        f"[model], or the key of a known provider ({variables}). "
        f"TURNBUCKLE_MODEL=demo uses the offline demo model."
    )
    return Offer(model=settings.name, provider=NOWHERE, source="configured", problem=problem)


def _at_endpoint(settings: ModelSettings, keys: Keys, base_url: str) -> Offer:
    known = known_at(base_url)
    provider = provider_at(base_url)
    problem = None
    if known and not key_for(settings, keys, provider):
        problem = f"{known.title} wants a key: set {known.variable}. You get one at {known.keys}"
    name = settings.name or (known.model if known else NOWHERE)
    return _offer(settings, name, provider, "configured", base_url, problem)


def _keyed(settings: ModelSettings, keys: Keys) -> Iterator[Offer]:
    for known in KNOWN:
        if key_for(settings, keys, known.id):
            yield _offer(settings, known.model, known.id, "key", known.base_url)


def _running(settings: ModelSettings, found: Sequence[Found]) -> Iterator[Offer]:
    for one in found:
        for name in one.talkers:
            # What runs here costs nothing that the prices could tell.
            yield Offer(
                model=name,
                provider=one.local.id,
                source="machine",
                base_url=one.local.base_url,
                window=settings.context_window,
            )


def _offer(
    settings: ModelSettings,
    name: str,
    provider: str,
    source: Source,
    base_url: str,
    problem: str | None = None,
) -> Offer:
    return Offer(
        model=name,
        provider=provider,
        source=source,
        base_url=base_url,
        window=settings.context_window,
        price=settings.price.per_million() if settings.price else None,
        problem=problem,
    )
