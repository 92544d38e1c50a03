"""What can be told without a server: what is configured and where from, keys, the state folder."""

import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from turnbuckle import __version__, config
from turnbuckle.config import Loaded, Settings

ROOM = 50 * 1024 * 1024
"""How much should be free where sessions are kept, in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting as it is now, fit to be shown; `source` is what set it, None for a default."""

    name: str
    value: str
    source: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable that may hold a key, and whether it does; the key itself is nowhere here."""

    name: str
    title: str
    present: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A plugin that the configuration names, as it stands there, and why it cannot be loaded."""

    said: str
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """What was found. `faults` make the configuration unusable, `warnings` may be slips.

    `state_problem` says why sessions cannot be kept.
    """

    version: str
    python: str
    system: str
    config_file: Path
    config_exists: bool
    settings: tuple[Setting, ...]
    faults: tuple[str, ...]
    warnings: tuple[str, ...]
    keys: tuple[Variable, ...]
    state: Path
    state_problem: str | None
    plugins: tuple[Plugin, ...] = ()

    def is_set(self, name: str) -> bool:
        """Whether a setting has another value than its default."""
        return any(one.name == name and one.source for one in self.settings)


def examine(env: Mapping[str, str]) -> Checkup:
    """Look at everything; nothing is changed, and nothing is asked over a network.

    The code of plugins is loaded, as the server would; none is installed.
    """
    faults: tuple[str, ...] = ()
    loaded = Loaded(settings=Settings())
    try:
        loaded = config.read(env)
    except config.ConfigError as error:
        faults = tuple(map(str, error.faults))
    file, state = config.config_file(env), config.state_dir(env)
    return Checkup(
        version=__version__,
        python=platform.python_version(),
        system=f"{platform.system()} {platform.release()}",
        config_file=file,
        config_exists=file.exists(),
        settings=() if faults else tuple(_settings(loaded)),
        faults=faults,
        warnings=(*loaded.warnings, *_stray(env, loaded)),
        keys=tuple(_keys(env)),
        state=state,
        state_problem=state_problem(state),
        plugins=tuple(_plugins(loaded, file)),
    )


def _plugins(loaded: Loaded, file: Path) -> Iterator[Plugin]:
    if not loaded.settings.plugins:
        return
    # Imported late: many name none, and it brings the whole agent.
    from turnbuckle.agent.plugin import PluginFailed
    from turnbuckle.config.plugins import load_plugin, wanted_plugins

    for wanted in wanted_plugins(loaded, file):
        try:
            with redirect_stdout(sys.stderr):  # what it prints must not stand in the report
                load_plugin(wanted).forget()
        except PluginFailed as error:
            yield Plugin(said=wanted.said, problem=str(error))
        else:
            yield Plugin(said=wanted.said)


def _settings(loaded: Loaded) -> Iterator[Setting]:
    dumped = loaded.settings.model_dump(mode="json")
    for row in config.rows():
        value: object = dumped
        for name in row.key:
            value = value.get(name) if isinstance(value, dict) else None
        if row.table or (value is None and row.name not in loaded.origins):
            continue
        shown = config.shown_url(str(value)) if row.name == "model.base_url" else value
        yield Setting(name=row.name, value=json.dumps(shown), source=loaded.origins.get(row.name))


def _keys(env: Mapping[str, str]) -> Iterator[Variable]:
    own = config.API_KEY
    yield Variable(name=own, title="the endpoint that is set", present=bool(env.get(own)))
    for known in config.KNOWN:
        present = bool(env.get(known.variable))
        yield Variable(name=known.variable, title=known.title, present=present)


def _stray(env: Mapping[str, str], loaded: Loaded) -> Iterator[str]:
    if env.get(config.API_KEY) and loaded.settings.model.base_url is None:
        yield (
            f"{config.API_KEY}: no endpoint is set, so this key is not used; set "
            "TURNBUCKLE_BASE_URL, or use the provider's own variable"
        )


def state_problem(folder: Path) -> str | None:
    """Why sessions cannot be kept in a folder; None if they can."""
    advice = f"make room or name another folder with {config.STATE}"
    there = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        if there == folder:
            with tempfile.NamedTemporaryFile(dir=folder, prefix=".doctor-") as file:
                file.write(b"can be written")
                file.flush()
        elif not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            return f"{folder} cannot be made in {there}; {advice}"
        if (free := shutil.disk_usage(there).free) < ROOM:
            return f"only {free:,} bytes are free at {folder}; {advice}"
    except OSError as error:
        return f"{folder} cannot be written ({error.strerror}); {advice}"
    return None
