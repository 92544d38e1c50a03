"""A whole agent in one process, with no editor: what tests of the loop and of plugins run."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from turnbuckle.agent.agent import Settings
from turnbuckle.agent.inbox import Dropped, Ended, until_ended
from turnbuckle.agent.plugin import Install, PluginContext
from turnbuckle.agent.plugins import Named, Plugins
from turnbuckle.agent.sessions import OpenSession, Seen, Sessions
from turnbuckle.kernel.scope import Scope
from turnbuckle.model.port import Model
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import ApprovalAsked, Fact
from turnbuckle.session.store import Sync, sync_data
from turnbuckle.tools.tool import Tool
from turnbuckle.workspace.files import DiskTexts
from turnbuckle.workspace.paths import Roots
from turnbuckle.workspace.port import Workspace

MODEL = "scripted"


@dataclass(slots=True)
class Driven:
    """An open session with a driver that runs; `say` sends a prompt and waits for its turn.

    `plugins` can be exchanged while it runs; `failures` are those that could not be installed, by
    name, and why.
    """

    opened: OpenSession
    sessions: Sessions
    state: Path
    plugins: Plugins
    failures: list[tuple[str, str]]
    prompts: int = 0
    scope: Scope = field(default_factory=lambda: Scope("driven"))

    @property
    def entries(self) -> list[Entry]:
        """All facts so far."""
        return self.opened.session.log.entries

    @property
    def facts(self) -> list[Fact]:
        """All facts so far, without their envelope."""
        return [entry.fact for entry in self.entries]

    async def say(self, prompt: str) -> Ended | Dropped:
        """Send a prompt and wait until its turn has ended."""
        key = self.send(prompt)
        return await until_ended(self.opened.agent.inbox, key)

    def send(self, prompt: str) -> str:
        """Send a prompt and give its key."""
        self.prompts += 1
        key = f"p{self.prompts}"
        self.opened.driver.send(key, prompt)
        return key

    def answer_approvals(self, allow: bool, note: str | None = None) -> None:
        """From now on, answer every approval at once."""

        def answer(entry: Entry, _line: bytes) -> None:
            if isinstance(entry.fact, ApprovalAsked):
                self.opened.agent.approvals.decide(
                    entry.fact.approval_id, allow=allow, by="test", note=note
                )

        self.opened.session.log.observe(self.scope, answer)

    async def until(self, kind: type[Fact], count: int = 1) -> Fact:
        """Wait until there are `count` facts of a kind, and give the last of them."""
        seen = anyio.Event()

        def look(entry: Entry, _line: bytes) -> None:
            if isinstance(entry.fact, kind):
                seen.set()

        stop = self.opened.session.log.observe(self.scope, look)
        try:
            while len(found := [f for f in self.facts if isinstance(f, kind)]) < count:
                await seen.wait()
                seen = anyio.Event()
        finally:
            stop()
        return found[-1]


@asynccontextmanager
async def driven(
    model: Model,
    folder: Path,
    *,
    tools: Sequence[Tool[Any]] = (),  # Any: tools of every argument type
    plugins: Sequence[Install | Named] = (),
    settings: Settings | None = None,
    session_id: str | None = None,
    sync: Sync = sync_data,
) -> AsyncIterator[Driven]:
    """Open a session in `folder` (its `state` and its `work` are made there) and run its driver.

    A plugin is its `install`, or a name with that.
    """
    state, work = folder / "state", folder / "work"
    work.mkdir(parents=True, exist_ok=True)

    def base(ctx: PluginContext) -> None:
        ctx.models.register(MODEL, model)
        for tool in tools:
            ctx.tools.register(tool)

    def workspace(_cwd: str | None, seen: Seen) -> Workspace:
        roots = Roots(cwd=work, folders=(work,))
        return Workspace(roots=roots, texts=DiskTexts(), seen=seen)

    named = [
        plugin if isinstance(plugin, tuple) else (f"plugin {number}", plugin)
        for number, plugin in enumerate(plugins)
    ]
    failures: list[tuple[str, str]] = []
    held = Plugins([("base", base)], named, failed=lambda *failed: failures.append(failed))
    async with anyio.create_task_group() as tasks:
        sessions = Sessions(
            state=state,
            settings=settings or Settings(model=MODEL),
            plugins=held,
            make_workspace=workspace,
            tasks=tasks,
            sync=sync,
        )
        opened = await sessions.open(session_id)
        yield Driven(opened, sessions, state, held, failures)
        tasks.cancel_scope.cancel()
