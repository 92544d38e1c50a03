"""Settings, models, plugins, workspace and editor features, put together for one connection."""

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from turnbuckle import config
from turnbuckle.agent.agent import Settings as AgentSettings
from turnbuckle.agent.plugin import Install
from turnbuckle.agent.sessions import Coroutines, OpenSession, Seen, Sessions
from turnbuckle.app.catalogue import Catalogue
from turnbuckle.app.features import Features
from turnbuckle.app.models import CHOSEN, Models
from turnbuckle.app.plugins import Configured
from turnbuckle.app.shipped import shipped
from turnbuckle.kernel.scope import Scope
from turnbuckle.lsp.clientfacts import ClientFacts
from turnbuckle.lsp.documents import Documents
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.edits.applying import Limits, OpenTexts
from turnbuckle.lsp.folders import Folders
from turnbuckle.lsp.prompts import QUIET
from turnbuckle.lsp.rpc import Connection
from turnbuckle.lsp.saving import OpenFiles
from turnbuckle.session.blobs import blobs_of
from turnbuckle.session.store import Sync, sync_data
from turnbuckle.workspace.files import DiskTexts
from turnbuckle.workspace.port import Workspace

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What else a server is given; tests and other front ends give their own.

    `plugins` are installed after those that ship. `quiet` is in seconds, as in `lsp.prompts`;
    `limits` are those of edits, `local` the model servers that this machine may run.
    """

    plugins: Sequence[tuple[str, Install]] = ()
    quiet: float = QUIET
    limits: Limits = field(default_factory=Limits)
    sync: Sync = sync_data
    local: Sequence[config.Local] = config.LOCAL


class Tasks:
    """Starts tasks in a group that opens a moment later than the first message may want one."""

    def __init__(self) -> None:
        self._group: TaskGroup | None = None
        self._early: list[tuple[Coroutines, tuple[object, ...]]] = []

    def start_soon(self, func: Coroutines, /, *args: object) -> None:
        """Run a coroutine function as soon as the group is open."""
        if self._group is None:
            self._early.append((func, args))
        else:
            self._group.start_soon(func, *args)

    async def run(self) -> None:
        """Hold the group open until cancelled."""
        async with anyio.create_task_group() as self._group:
            for func, args in self._early:
                self._group.start_soon(func, *args)
            await anyio.sleep_forever()


class Wiring:
    """All that serves one connection."""

    def __init__(
        self,
        connection: Connection,
        client: ClientFacts,
        settings: config.Settings,
        models: Models,
        state: Path,
        outside: Outside,
        plugins: Configured,
    ) -> None:
        self._tasks = Tasks()
        self._scope = Scope("connection")
        self._models = models
        self._plugins = plugins
        documents = Documents(client.encoding)
        folders = Folders(client)
        texts = OpenTexts(documents, DiskTexts(), connection, client, limits=outside.limits)
        buffers = OpenFiles(documents, connection, client)

        def workspace(cwd: str | None, seen: Seen) -> Workspace:
            return Workspace(roots=folders.roots(cwd), texts=texts, seen=seen, buffers=buffers)

        def watch(opened: OpenSession) -> None:
            features.watch(opened)

        sessions = Sessions(
            state=state,
            settings=AgentSettings(
                model=CHOSEN,
                max_steps=sys.maxsize,  # the plugin step_limit asks whether to go on
                max_parallel_tool_calls=settings.max_parallel_tool_calls,
            ),
            plugins=plugins.held,
            make_workspace=workspace,
            tasks=self._tasks,
            on_open=watch,
            sync=outside.sync,
        )
        self.sessions = sessions
        editor = Editor(
            connection=connection,
            client=client,
            documents=documents,
            sessions=sessions,
            tasks=self._tasks,
            state=state,
            first_folder=lambda: folders.first,
        )
        features = Features(
            editor,
            self._scope,
            catalogue=Catalogue(models),
            quiet=outside.quiet,
            reload=plugins.reload,
            comment_word=settings.comment_word,
        )
        self.prompts = features.prompts
        self.watching = features.watching
        self._showing = features.showing
        features.register()
        folders.register(connection)

    @property
    def held(self) -> tuple[str, ...]:
        """Every secret of ours that is known by its text."""
        return self._models.held

    async def run(self) -> None:
        """Serve until cancelled, then take everything apart."""
        self._tasks.start_soon(self._models.current)
        try:
            await self._tasks.run()
        finally:
            with anyio.CancelScope(shield=True):
                await self._scope.aclose()
                await self._showing.sweep()
                self._plugins.close()
                await self._models.aclose()


async def wire(
    connection: Connection,
    client: ClientFacts,
    env: Mapping[str, str] = os.environ,
    *,
    outside: Outside | None = None,
) -> Wiring:
    """Read the settings and put everything together.

    Wrong settings are said to the person, and to whoever asks the model; they stop nothing else.
    """
    outside = outside or Outside()
    settings, models = await to_thread.run_sync(_configured, env, client.options, outside.local)

    def say(said: str) -> None:
        message = f"Turnbuckle: {said}"
        connection.notify("window/showMessage", {"type": 1, "message": message})

    if models.problem is not None:
        say(models.problem)
    plugins = Configured(env, client.options, say=say)
    file, state = config.config_file(env), config.state_dir(env)
    own = shipped(models, settings, file.parent, own=(file, state))
    await plugins.load([*own, *outside.plugins])
    return Wiring(connection, client, settings, models, state, outside, plugins)


def _configured(
    env: Mapping[str, str], options: object, local: Sequence[config.Local]
) -> tuple[config.Settings, Models]:
    """The settings and their models: reads a file, and making an HTTP client takes its time."""
    problem = None
    settings = config.Settings()
    try:
        loaded = config.read(env, options)
        settings = loaded.settings
        for warning in loaded.warnings:
            logger.warning("%s", warning)
    except config.ConfigError as error:
        problem = str(error)
    blobs = blobs_of(config.state_dir(env))
    return settings, Models(settings, problem, config.Keys(env), local, blobs)
