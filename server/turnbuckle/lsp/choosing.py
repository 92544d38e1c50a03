"""The messages about models: which there are, what they cost, and the keys of their providers."""

from typing import Literal

from pydantic import Field, field_validator

from turnbuckle.lsp.wire import Wire

KEY_LIMIT = 4096
"""The most characters of a key."""


class ModelPrice(Wire):
    """What a million tokens cost, in `currency`; `cached` as `input` where it is absent."""

    input: float
    output: float
    cached: float | None = None
    currency: str


class EffectiveConfig(Wire):
    """What the next request of a session is sent with; `window` in tokens.

    `price` is there where the person has set one. Unknown fields are to be skipped.
    """

    model: str | None = None
    provider: str | None = None
    window: int | None = None
    price: ModelPrice | None = None


class ModelsParams(Wire):
    """With `provider`, that one is asked for all the models that it offers."""

    provider: str | None = None


class ModelEntry(Wire):
    """A model that could answer; `window` in tokens, `unavailable` says why it cannot be used.

    `source` is what makes it one: `configured` in the settings, a `key` of its provider, a server
    that runs on this `machine`, or `built-in`; `listed` if its provider was asked for its models.
    """

    name: str
    provider: str
    window: int | None = None
    current: bool
    source: Literal["configured", "key", "machine", "built-in", "listed"]
    unavailable: str | None = None


class ProviderEntry(Wire):
    """A provider that is known by name.

    `key` says where its key came from, if there is one: the `environment`, or the `memory` of the
    server; a server of this `machine` needs none. `variable` is where a key can be put, `keysAt`
    the page where people get one. `unavailable` says why a server of this machine offers nothing.
    """

    provider: str
    title: str
    base_url: str
    key: Literal["absent", "environment", "memory", "needless"]
    variable: str | None = None
    keys_at: str | None = None
    unavailable: str | None = None


class ModelsResult(Wire):
    """The models that could answer, the current one first, and the providers that are known."""

    models: tuple[ModelEntry, ...]
    providers: tuple[ProviderEntry, ...] = ()


class CredentialsParams(Wire):
    """Hand over a provider's key; without `key` the one that was handed over is forgotten.

    It is kept in memory only, never logged, stored or echoed, and used from the next request on.
    """

    provider: str
    key: str | None = Field(default=None, repr=False)

    @field_validator("key")
    @classmethod
    def _can_be_sent(cls, key: str | None) -> str | None:
        if key is None:
            return None
        key = key.strip()
        if not key or len(key) > KEY_LIMIT:
            raise ValueError(f"must have 1 to {KEY_LIMIT:,} characters")
        if not key.isascii() or not key.isprintable():
            raise ValueError("holds characters that cannot be sent: copy it again")
        return key
