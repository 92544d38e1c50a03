"""Settings, models, plugins, workspace and editor features, put together for one connection."""

import logging
from pathlib import Path

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from turnbuckle import config
from turnbuckle.agent.agent import Settings as AgentSettings
from turnbuckle.agent.sessions import Coroutines, OpenSession, Seen, Sessions
from turnbuckle.app.models import Configured
from turnbuckle.kernel.scope import Scope
from turnbuckle.lsp import names
from turnbuckle.lsp.actions import Actions
from turnbuckle.lsp.applying import OpenTexts
from turnbuckle.lsp.approvals import Approvals
from turnbuckle.lsp.clientfacts import ClientFacts
from turnbuckle.lsp.commands import Commands
from turnbuckle.lsp.documents import Documents
from turnbuckle.lsp.editor import Editor
from turnbuckle.lsp.folders import Folders
from turnbuckle.lsp.protocol import REQUESTS, ModelsResult, Nothing
from turnbuckle.lsp.rpc import Connection
from turnbuckle.lsp.showing import Showing
from turnbuckle.lsp.subscriptions import Subscriptions
from turnbuckle.lsp.turns import Turns
from turnbuckle.lsp.workdone import WorkDone
from turnbuckle.plugins import ground_rules, shipped_tools
from turnbuckle.workspace.files import DiskTexts
from turnbuckle.workspace.port import Workspace

logger = logging.getLogger(__name__)


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
        models: Configured,
        state: Path,
    ) -> None:
        self._tasks = Tasks()
        self._scope = Scope("connection")
        self._models = models
        documents = Documents(client.encoding)
        folders = Folders(client)
        texts = OpenTexts(documents, DiskTexts(), connection, client)

        def workspace(cwd: str | None, seen: Seen) -> Workspace:
            return Workspace(roots=folders.roots(cwd), texts=texts, seen=seen)

        def watch(opened: OpenSession) -> None:
            approvals.watch(opened)

        sessions = Sessions(
            state=state,
            settings=AgentSettings(
                model=models.name,
                max_steps=settings.max_steps,
                max_parallel_tool_calls=settings.max_parallel_tool_calls,
            ),
            plugins=[
                ("model", models.plugin),
                ("ground_rules", ground_rules.install),
                ("shipped_tools", shipped_tools.install),
            ],
            make_workspace=workspace,
            tasks=self._tasks,
            on_open=watch,
        )
        editor = Editor(
            connection=connection,
            client=client,
            documents=documents,
            sessions=sessions,
            tasks=self._tasks,
            state=state,
        )
        showing = Showing(editor)
        approvals = Approvals(editor, showing)
        work_done = WorkDone(editor)
        subscriptions = Subscriptions(editor)
        turns = Turns(editor, subscriptions, work_done)
        commands = Commands(editor, turns, approvals, work_done, showing)
        self._approvals = approvals
        self._showing = showing

        connection.know(REQUESTS)
        connection.on_notification("textDocument/didOpen", documents.did_open)
        connection.on_notification("textDocument/didChange", documents.did_change)
        connection.on_notification("textDocument/didSave", documents.did_save)
        connection.on_notification("textDocument/didClose", documents.did_close)
        connection.on_request(names.MODELS, self._list_models)
        folders.register(connection)
        approvals.register(self._scope)
        for feature in (work_done, subscriptions, turns, commands, Actions(editor, approvals)):
            feature.register()

    async def _list_models(self, _: Nothing) -> ModelsResult:
        return ModelsResult(models=self._models.entries)

    async def run(self) -> None:
        """Serve until cancelled, then take everything apart."""
        self._tasks.start_soon(self._approvals.run)
        try:
            await self._tasks.run()
        finally:
            with anyio.CancelScope(shield=True):
                await self._scope.aclose()
                await self._showing.sweep()
                await self._models.aclose()


async def wire(connection: Connection, client: ClientFacts) -> Wiring:
    """Read the settings and put everything together.

    Wrong settings are said to the person, and to whoever asks the model; they stop nothing else.
    """
    try:
        settings, problem = config.load(), None
    except config.ConfigError as error:
        settings, problem = config.Settings(), str(error)
        connection.notify("window/showMessage", {"type": 1, "message": f"Turnbuckle: {problem}"})
    # The HTTP client takes longest, and the first turn should not wait for it.
    models = await to_thread.run_sync(Configured, settings, problem)
    return Wiring(connection, client, settings, models, config.state_dir())
