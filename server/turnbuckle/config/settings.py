"""Everything that can be set, as one frozen model; docs/configuration.md is made from it."""

from functools import lru_cache
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from turnbuckle.session.usage import Price

DEMO = "demo"
"""The name of the built-in offline model."""

LATER = {
    "plugins": "the plugins of this version are built in",
    "approvals": "in this version whatever is not harmless is asked about each time",
}
"""Settings of later versions, and what holds until then."""


class Table(BaseModel):
    """A table of the configuration."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )


class PriceSettings(Table):
    """What a million tokens cost; with it, what a turn cost is shown."""

    input: float = Field(ge=0)
    """The price of a million tokens that are sent."""
    output: float = Field(ge=0)
    """The price of a million tokens that are answered, thoughts included."""
    cached: float | None = Field(default=None, ge=0)
    """The price of a million sent tokens that the provider had kept; as `input` where absent."""
    currency: str = Field(
        default="USD",
        pattern="^[A-Z]{3}$",
        json_schema_extra={"right": 'three capital letters, such as "USD" or "EUR"'},
    )
    """The currency of these prices."""

    def per_million(self) -> Price:
        """The same, for counting."""
        return Price(
            input=self.input, output=self.output, cached=self.cached, currency=self.currency
        )


class ModelSettings(Table):
    """The model that answers."""

    name: str | None = Field(default=None, min_length=1)
    """What the provider calls it, or `demo` for the offline one; chosen where it is absent."""
    # Not in a repr: a URL may hold a password, or a key in its query.
    base_url: str | None = Field(
        default=None,
        repr=False,
        json_schema_extra={"right": 'a URL such as "https://host/v1"'},
    )
    """The endpoint, up to and including `/v1`; it must speak the chat completions of OpenAI."""
    context_window: int | None = Field(default=None, gt=0)
    """How many tokens a request and its answer may have together."""
    idle_timeout: float = Field(default=120, gt=0)
    """Seconds without data after which an answer is given up."""
    total_timeout: float = Field(default=1800, gt=0)
    """Seconds after which an answer is given up."""
    think_tags: bool | None = None
    """Whether what stands in `<think>` at the beginning of an answer are the model's thoughts;
    known by the provider where it is absent."""
    discover: bool = True
    """Where no endpoint is set: use the keys of known providers that stand in the environment, and
    look for a model server on this machine."""
    price: PriceSettings | None = None
    """What a million tokens cost; with it, what a turn cost is shown."""

    @field_validator("base_url")
    @classmethod
    def _can_be_asked(cls, url: str | None) -> str | None:
        if url is not None:
            parts = urlsplit(url.strip())
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError
        return url

    @property
    def offline(self) -> bool:
        """Whether the demo model answers, whatever else is set."""
        return self.name == DEMO

    @property
    def host(self) -> str | None:
        """The endpoint for people: its host and port, without anything that may be secret."""
        return host_of(self.base_url) if self.base_url else None


class Settings(Table):
    """Everything that can be set."""

    model: ModelSettings = ModelSettings()
    """Which model answers, and how it is asked."""
    max_steps: int = Field(default=100, gt=0)
    """Steps that a turn may have; a step is one request to the model and the calls it makes."""
    max_parallel_tool_calls: int = Field(default=10, gt=0)
    """Tool calls that may run beside one another."""


@lru_cache(maxsize=64)  # asked of the same few before every request
def host_of(url: str) -> str | None:
    """Host and port of a URL, without a name or a password."""
    try:
        return urlsplit(url.strip()).netloc.rpartition("@")[2] or None
    except ValueError:
        return None


def shown_url(url: str) -> str:
    """A URL for people: without a name, a password or a query, which may hold a key."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return "(no URL)"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
