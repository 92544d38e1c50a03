"""Where settings come from: the file, above it the editor's options, above all the environment."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from pydantic import ValidationError

from turnbuckle.config.approving import joined
from turnbuckle.config.faults import ConfigError, Fault, faults_in
from turnbuckle.config.places import CONFIG, STATE, config_file
from turnbuckle.config.providers import known_at
from turnbuckle.config.reference import Key
from turnbuckle.config.settings import Settings

OPTIONS = "initializationOptions.turnbuckle"
API_KEY = "TURNBUCKLE_API_KEY"

VARIABLES: dict[str, Key] = {
    "TURNBUCKLE_MODEL": ("model", "name"),
    "TURNBUCKLE_BASE_URL": ("model", "base_url"),
    "TURNBUCKLE_CONTEXT_WINDOW": ("model", "context_window"),
    "TURNBUCKLE_IDLE_TIMEOUT": ("model", "idle_timeout"),
    "TURNBUCKLE_TOTAL_TIMEOUT": ("model", "total_timeout"),
    "TURNBUCKLE_THINK_TAGS": ("model", "think_tags"),
    "TURNBUCKLE_DISCOVER": ("model", "discover"),
    "TURNBUCKLE_MAX_STEPS": ("max_steps",),
    "TURNBUCKLE_MAX_PARALLEL_TOOL_CALLS": ("max_parallel_tool_calls",),
}
"""The variables that are settings."""

OTHER_VARIABLES = {
    API_KEY: "The key of the endpoint that is set.",
    CONFIG: "Another configuration file; an absolute path.",
    STATE: "Another folder for sessions and blobs.",
    "TURNBUCKLE_LOG": "The level of the server's own log: debug, info, warning, error, critical.",
}
"""The other variables that are read, and what for."""

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")

_INHERITED = ("TURNBUCKLE_CALL",)
"""What a tool's command finds in its environment; it says nothing."""

_TEXT: tuple[Key, ...] = (("model", "name"), ("model", "base_url"))
_FLAGS: tuple[Key, ...] = (("model", "discover"), ("model", "think_tags"))
_WORDS: dict[str, object] = {"true": True, "1": True, "false": False, "0": False}
_LIMIT = 1024 * 1024

Values: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True)
class _Layer:
    """Settings from one source; `name` is the source, `place` where in it a setting stands."""

    values: Values
    name: Callable[[Key], str]
    place: Callable[[Key], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Settings, and for each that was set (by its name with dots) what set it.

    `warnings` are what may be a slip and stops nothing.
    """

    settings: Settings
    origins: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def load(env: Mapping[str, str] = os.environ, options: object = None) -> Settings:
    """The settings; see `read`."""
    return read(env, options).settings


def read(env: Mapping[str, str] = os.environ, options: object = None) -> Loaded:
    """The settings of the file, below those of the editor, below those of the environment.

    `options` are what the editor sent as `initializationOptions.turnbuckle`.

    Raises:
        ConfigError: a value is wrong, or the file cannot be read.
    """
    layers = (_file(config_file(env)), _options(options), _environment(env))
    faults = [fault for layer in layers for fault in _faults(layer)]
    if faults:
        raise ConfigError(*faults)
    merged: Values = {}
    origins: dict[str, _Layer] = {}
    for layer in layers:
        _merge(merged, layer, layer.values, origins, ())
    settings = _validated(merged, origins)
    _require_whole(settings, origins)
    return Loaded(
        settings=settings,
        origins={name: layer.name(_key(name)) for name, layer in origins.items()},
        warnings=tuple(_warnings(env)),
    )


def _file(path: Path) -> _Layer:
    return _Layer(
        _toml(path),
        lambda _: str(path),
        lambda key: f"{path}: {'.'.join(key)}" if key else f"{path}",
    )


def _toml(path: Path) -> Values:
    try:
        if (raw := _bytes(path)) is None:
            return {}
        # Imported late: many have no file.
        import tomllib

        return tomllib.loads(raw.decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(Fault(f"{path}", f"cannot be read: {error.strerror}")) from error
    except UnicodeDecodeError as error:
        raise ConfigError(Fault(f"{path}", "is not UTF-8; save it as UTF-8")) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(Fault(f"{path}", f"is not TOML: {error}")) from error


def _bytes(path: Path) -> bytes | None:
    """What the file holds; None where there is none."""
    if not path.is_absolute():
        # Relative to the folder that the editor stands in, a file of the project would be read.
        raise ConfigError(Fault(f"{path}", f"is no absolute path; {CONFIG} must name one"))
    try:
        with path.open("rb") as file:
            raw = file.read(_LIMIT + 1)
    except FileNotFoundError:
        return None
    if len(raw) > _LIMIT:
        raise ConfigError(Fault(f"{path}", f"is larger than {_LIMIT:,} bytes"))
    return raw


def _options(options: object) -> _Layer:
    place = f"{OPTIONS}.settings"
    given = options if isinstance(options, dict) else {}
    for name in given.keys() & Settings.model_fields.keys():
        raise ConfigError(Fault(f"{OPTIONS}.{name}", f"settings stand in {place}"))
    values = given.get("settings")
    if values is not None and not isinstance(values, dict):
        raise ConfigError(Fault(place, "must be an object"))
    return _Layer(values or {}, lambda _: place, lambda key: ".".join((place, *key)))


def _environment(env: Mapping[str, str]) -> _Layer:
    values: Values = {}
    for variable, key in VARIABLES.items():
        if text := env.get(variable):
            *tables, name = key
            table = values
            for one in tables:
                table = table.setdefault(one, {})  # type: ignore[assignment] # made here, so a table
            table[name] = _parsed(key, text)

    def variable_of(key: Key) -> str:
        return next((name for name, known in VARIABLES.items() if known == key), ".".join(key))

    return _Layer(values, variable_of, variable_of)


def _parsed(key: Key, text: str) -> object:
    """The value as it would stand in the file; the text itself where it is none, and so wrong."""
    if key in _TEXT:
        return text
    if key in _FLAGS:
        return _WORDS.get(text.strip().casefold(), text)
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _faults(layer: _Layer) -> Iterator[Fault]:
    try:
        Settings.model_validate(layer.values)
    except ValidationError as error:
        yield from faults_in(error, layer.place, absent=False)


def _merge(
    into: Values, layer: _Layer, values: Values, origins: dict[str, _Layer], above: Key
) -> None:
    for name, value in values.items():
        key = (*above, name)
        if isinstance(value, dict):
            below = into.setdefault(name, {})
            assert isinstance(below, dict)  # every layer was found right
            _merge(below, layer, value, origins, key)
        else:
            into[name] = joined(key, into.get(name), value)
            origins[".".join(key)] = layer


def _validated(merged: Values, origins: Mapping[str, _Layer]) -> Settings:
    def place(key: Key) -> str:
        """Where the rest of the table of what is missing stands."""
        table = ".".join(key[:-1]) + "."
        beside = next((layer for name, layer in origins.items() if name.startswith(table)), None)
        return beside.place(key) if beside else ".".join(key)

    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise ConfigError(*faults_in(error, place, absent=True)) from None


def _require_whole(settings: Settings, origins: Mapping[str, _Layer]) -> None:
    model = settings.model
    if model.base_url is None or model.name is not None or known_at(model.base_url):
        return
    place = origins["model.base_url"].place(("model", "base_url"))
    said = "an endpoint is set but no model: set TURNBUCKLE_MODEL, or `name` in [model]"
    raise ConfigError(Fault(place, said))


def _warnings(env: Mapping[str, str]) -> Iterator[str]:
    if (level := env.get("TURNBUCKLE_LOG", "")) and level.upper() not in LEVELS:
        yield f"TURNBUCKLE_LOG: must be one of {', '.join(LEVELS).lower()}"
    known = (*VARIABLES, *OTHER_VARIABLES)
    stray = {name for name in env if name.startswith("TURNBUCKLE_")} - {*known, *_INHERITED}
    if stray:
        # Imported late: only who made a slip needs it.
        from difflib import get_close_matches

        for name in sorted(stray):
            close = get_close_matches(name, known, n=1, cutoff=0.7)
            meant = f"; did you mean {close[0]}?" if close else ""
            yield f"{name}: no such variable is read{meant}"


def _key(name: str) -> Key:
    return tuple(name.split("."))
