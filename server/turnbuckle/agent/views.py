"""The session as one plugin sees it: hooks, tools, prompt, models, facts and files."""

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import overload

from turnbuckle.agent.agent import Agent
from turnbuckle.agent.hooks import (
    Clean,
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
from turnbuckle.session.events import PluginFact
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
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Snapshot


class PluginHooks:
    """Every waterfall, as one plugin sees it: `use(layer)` needs no owner any more."""

    prompt: Stack[Prompt, Prompt]
    """The system prompt of a step: add, change or leave out sections, and give variables values.

    A layer that throws ends the turn as an error."""
    pre_step: Stack[PreStep, Decision]
    """Before a step, with the input that would enter: enter it, rewrite it, reject it, or stop.

    A layer that throws ends the turn as an error."""
    request: Stack[Request, Request]
    """Each attempt to ask the model: another model, temperature, prompt, tools or history.

    A layer that throws ends the turn as an error."""
    request_error: Stack[RequestFailure, Retry | None]
    """After an attempt that failed: ask again after so many seconds, or let it be.

    Where a layer throws, the first failure stands."""
    turn_stopping: Stack[TurnStopping, None]
    """When nothing is owed any more; what is injected now gets one more step.

    A layer that throws ends the turn as an error."""
    pre_execute: Stack[Execution, PreExecute]
    """Before a call that could be prepared: allow it, deny it, or ask the person.

    Where a layer throws, the call is not run and the model reads an error."""
    execute: Stack[Execution, Outcome]
    """Around the body of a call: time limits, repetition, measurement.

    Where a layer throws, the model reads an error."""
    post_execute: Stack[Executed, PostExecute]
    """After a call, also one that was denied: accept, replace, enrich or block what came of it.

    Where a layer throws, the model reads an error."""

    def __init__(self, hooks: Hooks, scope: Scope) -> None:
        self._hooks = hooks
        self._scope = scope
        self.prompt = Stack(hooks.prompt, scope)
        self.pre_step = Stack(hooks.pre_step, scope)
        self.request = Stack(hooks.request, scope)
        self.request_error = Stack(hooks.request_error, scope)
        self.turn_stopping = Stack(hooks.turn_stopping, scope)
        self.pre_execute = Stack(hooks.tools.pre_execute, scope)
        self.execute = Stack(hooks.tools.execute, scope)
        self.post_execute = Stack(hooks.tools.post_execute, scope)

    def guard(self, guard: Guard) -> Disposer:
        """Add a guard: it denies or abstains, and has the last word before any question.

        Where a guard throws, the call is not run and the model reads an error.
        """
        return self._hooks.tools.guard(self._scope, guard)

    def typed(self, clean: Clean) -> Disposer:
        """Have what the person types pass through `clean` before it is a fact, sent or shown."""
        return self._hooks.typed.use(self._scope, clean)


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


class PluginWorkspace:
    """The person's files, as one plugin sees them: it can look; changes are made by tools."""

    def __init__(self, agent: Agent) -> None:
        self._workspace = agent.workspace

    @property
    def cwd(self) -> Path | None:
        """The folder in which relative paths start; None where the session has none."""
        return self._workspace.roots.cwd

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of the workspace."""
        return self._workspace.roots.folders

    def resolve(self, path: str) -> Place:
        """The place that a path names, relative to `cwd` or absolute; `file:` URIs are paths too.

        Raises:
            NoFolder: the session has no folder to work in.
            WorkspaceError: INVALID_ARGS, for what names no place.
        """
        return self._workspace.roots.resolve(path)

    async def read(self, place: Place) -> Snapshot:
        """The text that stands at a place: the person's, where the editor has it open.

        Raises:
            Missing: nothing stands there.
            WorkspaceError: it cannot be read as text; the code says why.
        """
        return await self._workspace.texts.read(place)


class _Facts(Sequence[Entry]):
    """The log's entries, to look at."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, index: int) -> Entry: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Entry]: ...

    def __getitem__(self, index: int | slice) -> Entry | Sequence[Entry]:
        return self._entries[index]


class PluginSession:
    """The session, as one plugin sees it: read facts, inject context, ask, keep its own facts."""

    def __init__(self, agent: Agent, plugin: str) -> None:
        self._agent = agent
        self._plugin = plugin

    @property
    def id(self) -> str:
        """The session's id."""
        return self._agent.session.id

    @property
    def cwd(self) -> str | None:
        """The folder that the session was opened with, as a URI; None where there was none."""
        return self._agent.session.created.cwd

    @property
    def facts(self) -> Sequence[Entry]:
        """All facts so far, in order; it grows with them, and costs nothing to look at."""
        return _Facts(self._agent.session.log.entries)

    @property
    def usage(self) -> Usage | None:
        """Tokens of the current turn so far."""
        return self._agent.session.usage.turn

    def inject(self, text: str) -> None:
        """Give the model context with the next step; it never opens a turn."""
        key = f"{self._plugin}/{secrets.token_hex(8)}"
        self._agent.inbox.add(key, text, target="step", source="plugin")

    async def ask(self, question: str, choices: Sequence[str] = ()) -> str | None:
        """Ask the person, and wait: the answer is one of the choices, or words without any.

        None if the question was declined or withdrawn, or nobody can be asked.
        """
        approvals = self._agent.approvals
        return await approvals.question(f"plugin/{self._plugin}", question, tuple(choices))

    def note(self, type_: str, data: JsonObject) -> None:
        """Show something now to whoever watches; it is not kept, and may be dropped."""
        self._agent.session.note(type_, data)

    def keep(self, data: JsonObject) -> None:
        """Append a fact of the plugin's own, of type `plugin/<plugin>`.

        Raises:
            NotJson: the data holds what JSON cannot say.
        """
        self._agent.session.append(PluginFact(name=self._plugin, data=data))
