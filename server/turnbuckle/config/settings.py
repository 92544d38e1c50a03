"""Everything that can be set, as one frozen model; docs/configuration.md is made from it."""

from functools import lru_cache
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from turnbuckle.config.approving import ApprovalSettings
from turnbuckle.config.commands import CommandSettings
from turnbuckle.config.table import Table
from turnbuckle.session.usage import Price

DEMO = "demo"
"""The name of the built-in offline model."""


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


class LimitSettings(Table):
    """The most that may be used; what is absent has no limit."""

    steps: int | None = Field(default=None, gt=0)
    """Steps; a step is one request to the model and the calls it makes."""
    tokens: int | None = Field(default=None, gt=0)
    """Tokens, sent and answered together."""
    cost: float | None = Field(default=None, gt=0)
    """What it may cost, in the currency of `model.price`, which must be set too."""
    seconds: float | None = Field(default=None, gt=0)
    """Seconds that it may run, without those in which it waits for you."""


class BudgetSettings(Table):
    """What may be used; a turn that has used it up is stopped, and says so."""

    turn: LimitSettings = LimitSettings()
    """What one turn may use."""
    session: LimitSettings = LimitSettings()
    """What all turns of a session may use together."""


class RoutingSettings(Table):
    """Another model for some steps; a name as in `failover.models`."""

    first: str | None = Field(default=None, min_length=1)
    """The model of the first step of a turn."""
    later: str | None = Field(default=None, min_length=1)
    """The model of all later steps."""
    long: str | None = Field(default=None, min_length=1)
    """The model of the steps after the first `long_after`."""
    long_after: int = Field(default=20, gt=0)
    """After how many steps of a turn `long` is asked."""
    summary: str | None = Field(default=None, min_length=1)
    """The model that summarises what no longer fits the context."""


class FailoverSettings(Table):
    """What happens when a model does not answer, and asking again did not help."""

    models: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=(),
        strict=False,  # a list of the file or of JSON; what is in it stays strict
        json_schema_extra={"right": "a list of names, each in quotes"},
    )
    """Models that are asked instead, one after another: names at the same endpoint, or
    `provider/name` for a known provider whose key is set."""


class TimeoutSettings(Table):
    """How long tools may take; changes and questions wait for you without limit."""

    default: float = Field(default=600, ge=0)
    """Seconds for every tool but commands, which have a limit of their own; 0 is none."""
    tools: dict[str, Annotated[float, Field(ge=0)]] = Field(
        default_factory=dict,
        json_schema_extra={"right": "a table of names of tools and seconds, 0 for no limit"},
    )
    """Seconds for single tools, by name."""


class Settings(Table):
    """Everything that can be set."""

    model: ModelSettings = ModelSettings()
    """Which model answers, and how it is asked."""
    max_steps: int = Field(default=100, gt=0)
    """Steps after which a turn asks whether to go on, for as many again; a step is one request to
    the model and the calls it makes."""
    max_parallel_tool_calls: int = Field(default=10, gt=0)
    """Tool calls that may run beside one another."""
    approvals: ApprovalSettings = ApprovalSettings()
    """What is not asked about any more."""
    commands: CommandSettings = CommandSettings()
    """What commands are run with."""
    budget: BudgetSettings = BudgetSettings()
    """What a turn and a session may use."""
    routing: RoutingSettings = RoutingSettings()
    """Which model is asked for which step."""
    failover: FailoverSettings = FailoverSettings()
    """Which models stand in for one that does not answer."""
    timeouts: TimeoutSettings = TimeoutSettings()
    """How long tools may take."""
    comment_word: str = Field(
        default="agent",
        pattern=r"^[^\s:]{0,30}$",
        json_schema_extra={"right": 'a word without spaces and colons, such as "agent"'},
    )
    """What a comment begins with that asks the agent for something, as in `# agent: add a test`;
    empty for none."""
    redact: bool = True
    """Keep what looks like a key or a token from the model and the log."""
    metrics: bool = False
    """Keep with each turn how often each tool was called, and how long that took."""
    plugins: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=(),
        strict=False,  # a list of the file or of JSON; what is in it stays strict
        json_schema_extra={"right": "a list of paths and names, each in quotes"},
    )
    """Plugins besides those that ship: paths of files or folders, and names that installed packages
    offer theirs by. A relative path begins at the folder of the configuration file."""


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
