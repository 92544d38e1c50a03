"""Which plugins the person's configuration names, and how their code is loaded: afresh."""

import importlib.abc
import importlib.machinery
import importlib.util
import re
import secrets
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from types import CodeType, ModuleType

from turnbuckle.agent.plugin import Install, PluginFailed, checked
from turnbuckle.config.sources import Loaded

GROUP = "turnbuckle.plugins"
"""The entry points that an installed package offers its plugins by."""

PATIENCE = 10.0
"""Seconds that the code of one plugin may take to load."""

_LARGEST = 4 * 1024 * 1024
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One line of `plugins`: as it stands there, a name, and the path; None for an entry point.

    `problem` says why it cannot even be looked for.
    """

    said: str
    name: str
    path: Path | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A plugin whose code is loaded; `module` is None for one that other code imports, too."""

    wanted: Wanted
    install: Install
    module: str | None = None

    def forget(self) -> None:
        """Let go of its modules; what still runs of them goes on."""
        if self.module is not None:
            _forget(self.module)


def wanted_plugins(loaded: Loaded, file: Path, taken: Sequence[str] = ()) -> tuple[Wanted, ...]:
    """What the settings name, in order; `file` is the configuration file, `taken` names in use."""
    origin = loaded.origins.get("plugins")
    folder = file.parent if origin == str(file) else None
    result: list[Wanted] = []
    for said in loaded.settings.plugins:
        one = _wanted(said, folder)
        if one.problem is None and one.name in (*taken, *(other.name for other in result)):
            problem = f"there is another plugin named {one.name}; give this one another name"
            one = Wanted(said, one.name, one.path, problem)
        result.append(one)
    return tuple(result)


def _wanted(said: str, folder: Path | None) -> Wanted:
    if not re.search(r"[/\\]|^~|\.py$", said):
        return Wanted(said, said)
    path = Path(said)
    name = path.stem if path.suffix == ".py" else path.name
    try:
        path = path.expanduser()
    except RuntimeError:
        return Wanted(said, name, problem="there is no such home folder")
    if not path.is_absolute():
        if folder is None:
            # Relative to where the editor stands, code of the workspace would be run.
            said_so = "a relative path can only stand in the configuration file; give it in full"
            return Wanted(said, name, problem=said_so)
        path = folder / path
    if not _NAME.fullmatch(name):
        return Wanted(said, name, path, "its name must be of letters, digits, _, - and dots")
    return Wanted(said, name, path)


def load_plugin(wanted: Wanted, patience: float = PATIENCE) -> Source:
    """Load the code of a plugin; what stands in its file now, whatever was loaded before.

    `patience` in seconds; blocks. Code that takes longer is left running, and not used.

    Raises:
        PluginFailed: it cannot be used.
    """
    if wanted.problem is not None:
        raise PluginFailed(wanted.problem)
    path = wanted.path
    if path is None:
        return Source(wanted, checked(lambda: _entry_point(wanted.name, patience)))
    file = _file_of(path)
    module = (
        f"turnbuckle_plugin_{re.sub(r'[^A-Za-z0-9_]', '_', wanted.name)}_{secrets.token_hex(4)}"
    )
    try:
        install = checked(lambda: _install_in(_bounded(lambda: _module(module, file), patience)))
    except PluginFailed:
        _forget(module)
        raise
    return Source(wanted, install, module)


def _file_of(path: Path) -> Path:
    file = path / "__init__.py" if path.is_dir() else path
    if not file.exists():
        lacks = f"the folder has no {file.name}" if file != path else "there is no such file"
        raise PluginFailed(f"{lacks}: {path}")
    if not file.is_file():
        raise PluginFailed(f"{path} is neither a file nor a folder")
    if file.stat().st_size > _LARGEST:
        raise PluginFailed(f"{path} is larger than {_LARGEST:,} bytes")
    return file


def _entry_point(name: str, patience: float) -> object:
    # Imported late: few name one.
    from importlib.metadata import entry_points

    found = tuple(entry_points(group=GROUP, name=name))
    if not found:
        known = ", ".join(sorted({one.name for one in entry_points(group=GROUP)}))
        raise PluginFailed(
            f"no installed package offers a plugin named {name} (there are: {known or 'none'}); "
            "a path ends in .py or has a slash in it"
        )
    if len({one.value for one in found}) > 1:
        raise PluginFailed(f"several installed packages offer a plugin named {name}; keep one")
    return _install_in(_bounded(found[0].load, patience))


def _install_in(found: object) -> object:
    return getattr(found, "install", None) if isinstance(found, ModuleType) else found


def _bounded(load: Callable[[], object], patience: float) -> object:
    """What `load` gives or raises, if it does so in time; it runs in a thread of its own."""
    future: Future[object] = Future()

    def run() -> None:
        try:
            future.set_result(load())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, name="loading a plugin", daemon=True).start()
    if not wait((future,), patience).done:
        raise PluginFailed(f"its code was not loaded within {patience:g} s")
    return future.result()


# -- modules -------------------------------------------------------------------------------------


def _module(name: str, file: Path) -> ModuleType:
    folder = file.parent if file.name == "__init__.py" else None
    if folder is not None:
        sys.meta_path.insert(0, _Inside(name))
    spec = importlib.util.spec_from_file_location(
        name,
        file,
        loader=_Afresh(name, str(file)),
        submodule_search_locations=None if folder is None else [str(folder)],
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _forget(name: str) -> None:
    for known in [one for one in sys.modules if one == name or one.startswith(f"{name}.")]:
        sys.modules.pop(known, None)
    sys.meta_path[:] = [
        one for one in sys.meta_path if not (isinstance(one, _Inside) and one.package == name)
    ]


class _Afresh(importlib.machinery.SourceFileLoader):
    """Compiles what stands in the file: kept bytecode can be older, and would lie beside it."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class _Inside(importlib.abc.MetaPathFinder):
    """Finds the modules inside one plugin's folder, to be loaded afresh, too."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of a module of this plugin; None for all others."""
        if path is None or not fullname.startswith(f"{self.package}."):
            return None
        loader = (_Afresh, importlib.machinery.SOURCE_SUFFIXES)
        for folder in path:
            spec = importlib.machinery.FileFinder(folder, loader).find_spec(fullname, target)
            if spec is not None and spec.loader is not None:
                return spec
        return None
