"""Settings, keys and the choice of a model: from the person's own places only."""

from turnbuckle.config.choice import (
    NOWHERE,
    Found,
    Offer,
    Source,
    key_for,
    looks,
    offers,
    provider_at,
)
from turnbuckle.config.faults import ConfigError, Fault
from turnbuckle.config.keys import Keys
from turnbuckle.config.places import STATE, config_file, state_dir
from turnbuckle.config.providers import KNOWN, LOCAL, Known, Local
from turnbuckle.config.reference import Row, rows
from turnbuckle.config.settings import DEMO, ModelSettings, PriceSettings, Settings, shown_url
from turnbuckle.config.sources import API_KEY, OTHER_VARIABLES, VARIABLES, Loaded, load, read

__all__ = [
    "API_KEY",
    "DEMO",
    "KNOWN",
    "LOCAL",
    "NOWHERE",
    "OTHER_VARIABLES",
    "STATE",
    "VARIABLES",
    "ConfigError",
    "Fault",
    "Found",
    "Keys",
    "Known",
    "Loaded",
    "Local",
    "ModelSettings",
    "Offer",
    "PriceSettings",
    "Row",
    "Settings",
    "Source",
    "config_file",
    "key_for",
    "load",
    "looks",
    "offers",
    "provider_at",
    "read",
    "rows",
    "shown_url",
    "state_dir",
]
