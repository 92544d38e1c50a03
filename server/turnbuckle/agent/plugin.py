"""What a plugin is, and what it gets; installing one, with all that can fail contained."""

import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb
from typing import TypeAlias, TypeVar, cast

import anyio

from turnbuckle.agent.agent import Agent
from turnbuckle.agent.compaction import Compactor
from turnbuckle.agent.views import (
    PluginHooks,
    PluginModels,
    PluginPrompt,
    PluginSession,
    PluginTools,
    PluginWorkspace,
)
from turnbuckle.kernel.failures import told
from turnbuckle.kernel.scope import Disposer, Scope, Undo
from turnbuckle.kernel.stopping import FAILURES
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import Fact

logger = logging.getLogger(__name__)

F = TypeVar("F", bound=Fact)

Install: TypeAlias = Callable[["PluginContext"], None]

UNDO = 10.0
"""Seconds that one undo of a plugin's own may take before it is given up."""

_LIMIT = 500
"""The most characters of a reason."""

_ASYNC = "`install` must be a plain function, not an async one"

_OURS = (str(Path(__file__).parent.parent), str(Path(inspect.__file__).parent), "<frozen ")
"""How the names of files begin that no plugin is in: ours, and those of Python itself."""


class PluginFailed(Exception):
    """A plugin cannot be used; the message says why."""


class PluginContext:
    """What `install(ctx)` gets. It runs once per session; what it adds leaves with its scope.

    What is registered leaves before what `defer` undoes.
    """

    def __init__(self, agent: Agent, installed: "Installed") -> None:
        registered = installed.registered
        self.name = installed.name
        self.settings = agent.settings
        self.hooks = PluginHooks(agent.hooks, registered)
        self.tools = PluginTools(agent, registered)
        self.prompt = PluginPrompt(agent, registered)
        self.models = PluginModels(agent, registered)
        self.session = PluginSession(agent, installed.name)
        self.workspace = PluginWorkspace(agent)
        self.compactor = Compactor(agent)
        self._log = agent.session.log
        self._registered = registered
        self._deferred = installed.deferred

    def on(self, kind: type[F], observer: Callable[[F], None]) -> Disposer:
        """Tell `observer` of every later fact of this kind; its failures are contained."""

        def tell(entry: Entry, _line: bytes) -> None:
            if isinstance(entry.fact, kind):
                observer(entry.fact)

        return self._log.observe(self._registered, tell)

    def defer(self, undo: Undo, label: str = "effect") -> Disposer:
        """Undo something of the plugin's own when it is unloaded, last first.

        `undo` may be a coroutine function; it is given up after `UNDO` seconds.
        """

        def bounded() -> Awaitable[None] | None:
            result = undo()
            return within(UNDO, result, label) if isinstance(result, Awaitable) else None

        return self._deferred.defer(bounded, label)


async def within(seconds: float, result: Awaitable[None], label: str) -> None:
    """Wait for an undo, but not for ever.

    Raises:
        TimeoutError: it took longer; it was cancelled.
    """
    with anyio.move_on_after(seconds) as limit:
        await result
    if limit.cancelled_caught:
        raise TimeoutError(f"{label} was not undone within {seconds:g} s")


@dataclass(frozen=True, slots=True)
class Installed:
    """A plugin in one session: what it registered there, and what it deferred."""

    name: str
    registered: Scope
    deferred: Scope

    async def withdraw(self) -> None:
        """Take away what it registered; others run in no moment of this."""
        await _closed(self.registered)

    async def aclose(self) -> None:
        """Unload it: first what it registered goes, then what it deferred is undone."""
        await _closed(self.registered)
        await _closed(self.deferred)


async def _closed(scope: Scope) -> None:
    try:
        await scope.aclose()
    except ExceptionGroup:
        logger.exception("not all could be undone")


async def install(agent: Agent, scope: Scope, name: str, plugin: Install) -> Installed:
    """Install a plugin in scopes of its own, which close with `scope`.

    Raises:
        PluginFailed: it threw, or is asynchronous; what it had added is undone.
        ScopeClosed: `scope` is closed already.
    """
    deferred = scope.child(f"deferred by plugin {name}")
    installed = Installed(name, scope.child(f"plugin {name}"), deferred)
    try:
        result = cast("Callable[[PluginContext], object]", plugin)(PluginContext(agent, installed))
        _refuse_coroutine(result)
    except FAILURES as error:
        logger.exception("the plugin %s could not be installed", name)
        await installed.aclose()
        raise PluginFailed(described(error)) from error
    return installed


def _refuse_coroutine(result: object) -> None:
    if inspect.iscoroutine(result):
        result.close()
    if isinstance(result, Awaitable):
        raise PluginFailed(_ASYNC)


def checked(load: Callable[[], object]) -> Install:
    """The `install` that `load` gives: a plain function of one argument.

    Raises:
        PluginFailed: it could not be loaded, or what it gave is something else.
    """
    try:
        return _checked(load())
    except FAILURES as error:
        logger.debug("a plugin could not be loaded", exc_info=True)
        raise PluginFailed(described(error)) from error


def _checked(found: object) -> Install:
    if not callable(found):
        raise PluginFailed("it has no `install(ctx)`")
    if inspect.iscoroutinefunction(found):
        raise PluginFailed(_ASYNC)
    _require_one_argument(found)
    return cast("Install", found)


def _require_one_argument(found: Callable[..., object]) -> None:
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return  # written in another language; calling it will tell
    try:
        signature.bind(object())
    except TypeError as error:
        raise PluginFailed(f"`install` must take one argument, the context: {error}") from error


def described(error: BaseException) -> str:
    """An error in one line, with the last place in it that is neither ours nor Python's."""
    if isinstance(error, PluginFailed):
        return str(error)
    said = " ".join(told(error).split())[:_LIMIT]
    theirs = [
        frame for frame in extract_tb(error.__traceback__) if not frame.filename.startswith(_OURS)
    ]
    if not theirs or isinstance(error, SyntaxError):
        return said
    return f"{said} ({Path(theirs[-1].filename).name}, line {theirs[-1].lineno})"
