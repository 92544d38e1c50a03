"""Which sessions are open: open a new one or one from disk, and close it."""

import logging
import re
import secrets
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import anyio
from anyio import to_thread

from turnbuckle.agent.agent import Agent, Settings
from turnbuckle.agent.approvals import Approvals
from turnbuckle.agent.driver import Driver
from turnbuckle.agent.hooks import Hooks
from turnbuckle.agent.inbox import Inbox
from turnbuckle.agent.models import Models
from turnbuckle.agent.plugin import Install, install
from turnbuckle.agent.prompt import PromptSections
from turnbuckle.kernel.scope import Scope
from turnbuckle.session.blobs import Blobs
from turnbuckle.session.codec import UnknownFact
from turnbuckle.session.events import FORMAT, SessionCreated
from turnbuckle.session.log import Log
from turnbuckle.session.recovery import closing
from turnbuckle.session.session import Session
from turnbuckle.session.store import Locked, Store, Sync, read_lines, sync_data
from turnbuckle.tools.registry import ToolRegistry
from turnbuckle.workspace.port import Workspace

logger = logging.getLogger(__name__)

Seen: TypeAlias = Callable[[str], str | None]
MakeWorkspace: TypeAlias = Callable[[str | None, Seen], Workspace]
"""The workspace of a session with this `cwd` (a URI, None for the client's first folder)."""


# Any: the shape of anyio's own `start_soon`, which no narrower type fits.
Coroutines: TypeAlias = Callable[..., Coroutine[Any, Any, Any]]


class Starts(Protocol):
    """What a task can be started in: a task group, or what stands for one."""

    def start_soon(self, func: Coroutines, /, *args: Any) -> Any:
        """Run a coroutine function beside everything else; it lets no exception out."""
        ...


_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]{3,63}")


class SessionNotFound(Exception):
    """There is no session with this id."""


class SessionUnreadable(Exception):
    """A session's file is damaged, or was written by a newer version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSession:
    """An open session: what it is made of, and the scope that ends it."""

    agent: Agent
    driver: Driver
    read_only: bool
    life: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    closed: anyio.Event = field(default_factory=anyio.Event)

    @property
    def session(self) -> Session:
        """Its facts."""
        return self.agent.session


class Sessions:
    """The sessions that are open here, each with its own hooks, tools, prompt and models."""

    def __init__(
        self,
        *,
        state: Path,
        settings: Settings,
        plugins: Sequence[tuple[str, Install]],
        make_workspace: MakeWorkspace,
        tasks: Starts,
        on_open: Callable[[OpenSession], None] = lambda _: None,
        sync: Sync = sync_data,
    ) -> None:
        self._state = state
        self._settings = settings
        self._plugins = plugins
        self._make_workspace = make_workspace
        self._tasks = tasks
        self._on_open = on_open
        self._sync = sync
        self._open: dict[str, OpenSession] = {}
        self._opening = anyio.Lock()

    @property
    def open_sessions(self) -> tuple[OpenSession, ...]:
        """All that are open, oldest first."""
        return tuple(self._open.values())

    def get(self, session_id: str) -> OpenSession:
        """An open session.

        Raises:
            SessionNotFound: none with this id is open.
        """
        if found := self._open.get(session_id):
            return found
        raise SessionNotFound(f"no session {session_id!r} is open; open it first")

    async def open(self, session_id: str | None = None, cwd: str | None = None) -> OpenSession:
        """Create a session, or resume one from disk; an open one is given as it is.

        Raises:
            SessionNotFound: there is none with this id.
            SessionUnreadable: its file is damaged or newer than this version.
            StoreFailed: its file cannot be used.
        """
        async with self._opening:
            if session_id is None:
                return await self._create(cwd)
            return self._open.get(session_id) or await self._resume(session_id)

    async def _create(self, cwd: str | None) -> OpenSession:
        now = datetime.now(UTC)
        session_id = f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
        path = self._state / "sessions" / f"{now:%Y-%m}" / f"{session_id}.jsonl"
        created = SessionCreated(version=FORMAT, id=session_id, cwd=cwd)
        return await self._start(created, Store(path, sync=self._sync), [])

    async def _resume(self, session_id: str) -> OpenSession:
        path = await to_thread.run_sync(find_session, self._state, session_id)
        writer = Store(path, sync=self._sync)
        store: Store | None = writer
        try:
            lines = await to_thread.run_sync(writer.open)
        except Locked:
            store = None
            lines, _ = await to_thread.run_sync(read_lines, path)
        unknown = SessionCreated(version=FORMAT, id=session_id)
        try:
            return await self._start(unknown, store, lines)
        except BaseException:
            if store:
                store.close()
            raise

    async def _start(
        self, created: SessionCreated, store: Store | None, lines: Sequence[bytes]
    ) -> OpenSession:
        scope = Scope(f"session {created.id}")
        session = Session(Log(_now), store, scope, created)
        _load(session, lines)
        if store:
            for fact in closing(session.log.entries):
                session.append(fact)
        agent = self._assemble(session, scope)
        for name, plugin in self._plugins:
            await install(agent, scope, name, plugin)
        opened = OpenSession(agent=agent, driver=Driver(agent), read_only=store is None)
        self._open[session.id] = opened
        self._on_open(opened)
        self._tasks.start_soon(self._live, opened, scope)
        return opened

    def _assemble(self, session: Session, scope: Scope) -> Agent:
        return Agent(
            session=session,
            inbox=Inbox(session, scope),
            approvals=Approvals(session),
            hooks=Hooks(),
            tools=ToolRegistry(),
            models=Models(),
            prompt=PromptSections(),
            workspace=self._make_workspace(session.created.cwd, session.reads.digest),
            blobs=Blobs(self._state / "blobs"),
            settings=self._settings,
        )

    async def _live(self, opened: OpenSession, scope: Scope) -> None:
        try:
            with opened.life:
                await opened.driver.run()
        finally:
            self._open.pop(opened.session.id, None)
            with anyio.CancelScope(shield=True):
                try:
                    await scope.aclose()
                except ExceptionGroup:
                    logger.exception("closing session %s", opened.session.id)
            if opened.session.store:
                opened.session.store.close()
            opened.closed.set()

    async def close(self, session_id: str) -> None:
        """End a session's turn, if one runs, and let another process write it.

        Raises:
            SessionNotFound: none with this id is open.
        """
        opened = self.get(session_id)
        opened.life.cancel()
        await opened.closed.wait()


def find_session(state: Path, session_id: str) -> Path:
    """The file of a session.

    Raises:
        SessionNotFound: there is none with this id.
    """
    if _ID.fullmatch(session_id):
        for path in (state / "sessions").glob(f"**/{session_id}.jsonl"):
            return path
    raise SessionNotFound(f"there is no session {session_id!r}")


def _load(session: Session, lines: Sequence[bytes]) -> None:
    try:
        session.load(lines)
    except UnknownFact as error:
        raise SessionUnreadable(
            f"session {session.id} holds {error}, which this version does not know; "
            f"open it with a newer version of turnbuckle"
        ) from error
    except ValueError as error:
        raise SessionUnreadable(f"session {session.id} cannot be read: {error}") from error
    if session.created.version > FORMAT:
        raise SessionUnreadable(
            f"session {session.id} was written by a newer version of turnbuckle; open it with that"
        )


def _now() -> int:
    return time.time_ns() // 1_000_000
