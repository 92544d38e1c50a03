"""What a plugin gets: the session's hooks, tools, prompt and models, bound to its own scope."""

import importlib
import logging
import secrets
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from turnbuckle.agent.agent import Agent
from turnbuckle.agent.hooks import (
    Decision,
    Hooks,
    PreStep,
    Prompt,
    RequestFailure,
    Retry,
    TurnStopping,
)
from turnbuckle.kernel.scope import Disposer, Scope
from turnbuckle.kernel.waterfall import Stack
from turnbuckle.model.port import Model, Request
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import Fact, PluginFact
from turnbuckle.session.parts import JsonObject, Usage
from turnbuckle.tools.hooks import (
    Executed,
    Execution,
    Guard,
    PostExecute,
    PreExecute,
)
from turnbuckle.tools.registry import AnyTool
from turnbuckle.tools.tool import Outcome

logger = logging.getLogger(__name__)

F = TypeVar("F", bound=Fact)

Install: TypeAlias = Callable[["PluginContext"], None]


class PluginHooks:
    """Every waterfall, as one plugin sees it: `use(layer)` needs no owner any more."""

    def __init__(self, hooks: Hooks, scope: Scope) -> None:
        self._hooks = hooks
        self._scope = scope
        self.prompt: Stack[Prompt, Prompt] = Stack(hooks.prompt, scope)
        self.pre_step: Stack[PreStep, Decision] = Stack(hooks.pre_step, scope)
        self.request: Stack[Request, Request] = Stack(hooks.request, scope)
        self.request_error: Stack[RequestFailure, Retry | None] = Stack(hooks.request_error, scope)
        self.turn_stopping: Stack[TurnStopping, None] = Stack(hooks.turn_stopping, scope)
        self.pre_execute: Stack[Execution, PreExecute] = Stack(hooks.tools.pre_execute, scope)
        self.execute: Stack[Execution, Outcome] = Stack(hooks.tools.execute, scope)
        self.post_execute: Stack[Executed, PostExecute] = Stack(hooks.tools.post_execute, scope)

    def guard(self, guard: Guard) -> Disposer:
        """Add a guard: it denies or abstains, and has the last word before any question."""
        return self._hooks.tools.guard(self._scope, guard)


class PluginTools:
    """The session's tools, as one plugin sees them."""

    def __init__(self, agent: Agent, scope: Scope) -> None:
        self._agent = agent
        self._scope = scope

    def register(self, tool: AnyTool) -> Disposer:
        """Offer a tool from the next step on.

        Raises:
            DuplicateTool: its name is taken.
        """
        return self._agent.tools.register(self._scope, tool)


class PluginPrompt:
    """The system prompt, as one plugin sees it."""

    def __init__(self, agent: Agent, scope: Scope) -> None:
        self._agent = agent
        self._scope = scope

    def section(self, name: str, text: str) -> Disposer:
        """Add a section; `{{name}}` in it takes the value that a layer gives that variable."""
        return self._agent.prompt.add(self._scope, name, text)


class PluginModels:
    """The session's models, as one plugin sees them."""

    def __init__(self, agent: Agent, scope: Scope) -> None:
        self._agent = agent
        self._scope = scope

    def register(self, name: str, model: Model) -> Disposer:
        """Add a model that a request's `config.model` can name."""
        return self._agent.models.register(self._scope, name, model)


class PluginSession:
    """The session, as one plugin sees it: read facts, inject context, keep facts of its own."""

    def __init__(self, agent: Agent, plugin: str) -> None:
        self._agent = agent
        self._plugin = plugin

    @property
    def id(self) -> str:
        """The session's id."""
        return self._agent.session.id

    @property
    def facts(self) -> Sequence[Entry]:
        """All facts so far, in order."""
        return tuple(self._agent.session.log.entries)

    @property
    def usage(self) -> Usage | None:
        """Tokens of the current turn so far."""
        return self._agent.session.usage.turn

    def inject(self, text: str) -> None:
        """Give the model context with the next step; it never opens a turn."""
        key = f"{self._plugin}/{secrets.token_hex(8)}"
        self._agent.inbox.add(key, text, target="step", source="plugin")

    def note(self, type_: str, data: JsonObject) -> None:
        """Show something now to whoever watches; it is not kept, and may be dropped."""
        self._agent.session.note(type_, data)

    def keep(self, data: JsonObject) -> None:
        """Append a fact of the plugin's own, of type `plugin/<plugin>`.

        Raises:
            NotJson: the data holds what JSON cannot say.
        """
        self._agent.session.append(PluginFact(name=self._plugin, data=data))


class PluginContext:
    """What `install(ctx)` gets. It runs once per session; what it adds leaves with its scope."""

    def __init__(self, agent: Agent, scope: Scope, name: str) -> None:
        self.name = name
        self.hooks = PluginHooks(agent.hooks, scope)
        self.tools = PluginTools(agent, scope)
        self.prompt = PluginPrompt(agent, scope)
        self.models = PluginModels(agent, scope)
        self.session = PluginSession(agent, name)
        self._log = agent.session.log
        self._scope = scope

    def on(self, kind: type[F], observer: Callable[[F], None]) -> Disposer:
        """Tell `observer` of every later fact of this kind; its failures are contained."""

        def tell(entry: Entry, _line: bytes) -> None:
            if isinstance(entry.fact, kind):
                observer(entry.fact)

        return self._log.observe(self._scope, tell)

    def defer(self, undo: Callable[[], None], label: str = "effect") -> Disposer:
        """Undo something of the plugin's own when it is unloaded."""
        return self._scope.defer(undo, label)


async def install(agent: Agent, scope: Scope, name: str, plugin: Install) -> Scope | None:
    """Install a plugin in a scope of its own, which is given back; closing it unloads the plugin.

    None if the plugin failed: it is named in the server's log, what it had added is undone, and the
    session goes on without it.
    """
    own = scope.child(f"plugin {name}")
    try:
        plugin(PluginContext(agent, own, name))
    except Exception:
        logger.exception("the plugin %s could not be installed", name)
        await own.aclose()
        return None
    return own


def load(module: str) -> Install:
    """The `install` of a plugin that is a module, imported when it is first wanted.

    Raises:
        ImportError: there is no such module.
        AttributeError: it has no `install`.
    """
    found: Install = importlib.import_module(module).install
    return found
