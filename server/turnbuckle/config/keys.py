"""The keys of providers: from the environment, or given for as long as the server runs."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from turnbuckle.config.providers import KNOWN
from turnbuckle.config.sources import API_KEY

MEMORY = "memory"
"""Where a key came from that was given over the wire."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key, and where it came from: the name of a variable, or `memory`."""

    value: str = field(repr=False)
    source: str

    @property
    def given(self) -> bool:
        """Whether it was given over the wire."""
        return self.source == MEMORY


class Keys:
    """What a provider's key is now. Nothing here writes one anywhere."""

    def __init__(self, env: Mapping[str, str] = os.environ) -> None:
        self._env = env
        self._given: dict[str, str] = {}

    def __repr__(self) -> str:
        return "Keys()"

    @property
    def held(self) -> tuple[str, ...]:
        """Every key that is known now, whether it is used or not."""
        names = (API_KEY, *(known.variable for known in KNOWN))
        found = (self._env.get(name, "").strip() for name in names)
        return (*self._given.values(), *filter(None, found))

    def give(self, provider: str, key: str | None) -> None:
        """Keep a key for a provider, in memory only; None forgets the one that was given."""
        if key is None:
            self._given.pop(provider, None)
        else:
            self._given[provider] = key

    def of(self, provider: str, *, endpoint: bool = False) -> Key | None:
        """A provider's key; `endpoint` says that it is behind the endpoint that is set."""
        if given := self._given.get(provider):
            return Key(given, MEMORY)
        usual = [known.variable for known in KNOWN if known.id == provider]
        for variable in ([API_KEY] if endpoint else []) + usual:
            if key := self._env.get(variable, "").strip():
                return Key(key, variable)
        return None
