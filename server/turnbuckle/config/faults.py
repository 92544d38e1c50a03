"""What is wrong with a configuration: the setting, its place, what would be right; no value."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from turnbuckle.config.reference import Key, right_for, rows

_SHOWN = 5
"""The most faults in one message."""

_SECRETS = ("apikey", "key", "token", "secret", "password")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, at a place: a setting in a file, a variable, an option."""

    place: str
    said: str

    def __str__(self) -> str:
        return f"{self.place}: {self.said}"


class ConfigError(Exception):
    """Settings are wrong; the message names each, its place, and what would be right."""

    def __init__(self, *faults: Fault) -> None:
        more = len(faults) - _SHOWN
        said = [str(fault) for fault in faults[:_SHOWN]]
        super().__init__("; ".join([*said, f"and {more} more"] if more > 0 else said))
        self.faults = faults


def faults_in(
    error: ValidationError, place: Callable[[Key], str], *, absent: bool
) -> Iterator[Fault]:
    """The faults that a validation found; `absent` says whether what is missing counts."""
    for one in error.errors(include_url=False, include_context=False, include_input=False):
        key = tuple(map(str, one["loc"]))
        match one["type"]:
            case "extra_forbidden":
                yield Fault(place(key), unknown(key))
            case "missing" if absent:
                yield Fault(place(key), f"is missing; it must be {right_for(key)}")
            case "missing":
                pass
            case _:
                yield Fault(place(key), f"must be {right_for(key) or 'something else'}")


def unknown(key: Key) -> str:
    """What to say of a setting that does not exist."""
    name = _plain(key[-1])
    # Imported late: only who made a slip needs it.
    from difflib import get_close_matches

    if name in _SECRETS or name.endswith("apikey"):
        return (
            "keys are kept in no file: set TURNBUCKLE_API_KEY or the variable of the provider, "
            "such as OPENAI_API_KEY"
        )
    siblings = {_plain(row.key[-1]): row.name for row in rows() if row.key[:-1] == key[:-1]}
    anywhere = {_plain(row.key[-1]): row.name for row in rows()}
    for known, cutoff in ((siblings, 0.9), (anywhere, 0.9), (siblings, 0.7)):
        if close := get_close_matches(name, known, n=1, cutoff=cutoff):
            return f"there is no such setting; did you mean {known[close[0]]}?"
    there = ", ".join(sorted(siblings.values()))
    return f"there is no such setting; there are {there}"


def _plain(name: str) -> str:
    """A name without what people spell in different ways."""
    return name.casefold().replace("_", "").replace("-", "")
