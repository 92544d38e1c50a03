"""One frozen settings model, and where its values come from: the person's own places only."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

_VARIABLES = {"name": "TURNBUCKLE_MODEL", "base_url": "TURNBUCKLE_BASE_URL"}

DEMO = "demo"
"""The name of the built-in offline model."""


class ConfigError(Exception):
    """A setting is wrong; the message names it, its place, and what would be right."""


class ModelSettings(BaseModel):
    """The model that answers: the table `[model]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = DEMO
    """What the provider calls it, or `demo` for the offline one."""
    base_url: str | None = None
    """The endpoint's URL up to and including `/v1`."""
    idle_timeout: float = Field(default=120, gt=0)
    """Seconds without a data event after which an answer is given up."""
    total_timeout: float = Field(default=1800, gt=0)
    """Seconds after which an answer is given up."""
    context_window: int | None = Field(default=None, gt=0)
    """How many tokens a request and its answer may have together."""


class Settings(BaseModel):
    """Everything that can be set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: ModelSettings = ModelSettings()
    max_steps: int = Field(default=100, gt=0)
    """Steps that a turn may have."""
    max_parallel_tool_calls: int = Field(default=10, gt=0)
    """Tool calls that may run beside one another."""


def state_dir(env: Mapping[str, str] = os.environ) -> Path:
    """Where sessions and blobs are kept: TURNBUCKLE_STATE_DIR, or the user's state folder."""
    if named := env.get("TURNBUCKLE_STATE_DIR"):
        return Path(named).absolute()
    return platformdirs.user_state_path("turnbuckle", appauthor=False)


def config_file(env: Mapping[str, str] = os.environ) -> Path:
    """The configuration: TURNBUCKLE_CONFIG, or `config.toml` in the user's folder."""
    if named := env.get("TURNBUCKLE_CONFIG"):
        return Path(named).absolute()
    return platformdirs.user_config_path("turnbuckle", appauthor=False) / "config.toml"


def load(env: Mapping[str, str] = os.environ) -> Settings:
    """The settings of the file, with the environment's on top.

    TURNBUCKLE_MODEL and TURNBUCKLE_BASE_URL stand above `[model]`. An endpoint without a model's
    name is an error, and so is a name (other than `demo`) without an endpoint.

    Raises:
        ConfigError: a value is wrong, or the file cannot be read.
    """
    path = config_file(env)
    table = _read(path)
    model = table.get("model", {})
    if isinstance(model, dict):
        for name, variable in _VARIABLES.items():
            if value := env.get(variable):
                model[name] = value
        table["model"] = model
    try:
        settings = Settings.model_validate(table)
    except ValidationError as error:
        raise ConfigError(_faults(path, error)) from error
    _require_whole(settings.model)
    return settings


def api_key(env: Mapping[str, str] = os.environ) -> str | None:
    """The key of the endpoint, TURNBUCKLE_API_KEY; it stands in no file of ours."""
    return env.get("TURNBUCKLE_API_KEY") or None


def _read(path: Path) -> dict[str, object]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error


def _require_whole(model: ModelSettings) -> None:
    if model.base_url and model.name == DEMO and "name" not in model.model_fields_set:
        raise ConfigError(
            "an endpoint is set but no model: set TURNBUCKLE_MODEL, or `name` in [model]"
        )
    if model.base_url is None and model.name != DEMO:
        raise ConfigError(
            f"the model {model.name!r} has no endpoint: set TURNBUCKLE_BASE_URL, or `base_url` in "
            f"[model]; TURNBUCKLE_MODEL=demo uses the offline demo model"
        )


def _faults(path: Path, error: ValidationError) -> str:
    faults: list[str] = []
    for fault in error.errors(include_url=False, include_input=False):
        name = ".".join(map(str, fault["loc"]))
        if fault["type"] == "extra_forbidden":
            faults.append(f"{name}: there is no such setting in this version")
        else:
            faults.append(f"{name}: {fault['msg']}")
    return f"{path} or the environment: " + "; ".join(faults)
