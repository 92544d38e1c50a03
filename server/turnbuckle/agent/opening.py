"""One open session: made anew or from its file, with an agent of its own."""

import contextlib
import gc
import logging
import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import anyio
from anyio import to_thread

from turnbuckle.agent.agent import Agent, Settings
from turnbuckle.agent.approvals import Approvals
from turnbuckle.agent.driver import Driver
from turnbuckle.agent.hooks import Hooks
from turnbuckle.agent.inbox import Inbox
from turnbuckle.agent.models import Models
from turnbuckle.agent.plugins import Plugins
from turnbuckle.agent.prompt import PromptSections
from turnbuckle.kernel.scope import Scope
from turnbuckle.session.blobs import blobs_of
from turnbuckle.session.events import FORMAT, SessionCreated
from turnbuckle.session.loading import Loaded, NewerSession, read_log, respelled
from turnbuckle.session.log import Log
from turnbuckle.session.recovery import closing
from turnbuckle.session.session import Session
from turnbuckle.session.store import Locked, Store, StoreFailed, Sync, read_lines, sync_data
from turnbuckle.tools.registry import ToolRegistry
from turnbuckle.workspace.port import Workspace

logger = logging.getLogger(__name__)

Seen: TypeAlias = Callable[[str], str | None]
MakeWorkspace: TypeAlias = Callable[[str | None, Seen], Workspace]
"""The workspace of a session with this `cwd` (a URI, None for the client's first folder)."""

_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]{3,63}")


class SessionNotFound(Exception):
    """There is no session with this id."""


class SessionUnreadable(Exception):
    """A session's file cannot be read here: a newer version wrote it, or it is not what it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSession:
    """An open session: what it is made of, its file, and the scope that ends it.

    Whoever sends it a message, or changes what it shows, holds `changing` meanwhile.
    """

    agent: Agent
    driver: Driver
    scope: Scope
    path: Path
    life: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    closed: anyio.Event = field(default_factory=anyio.Event)
    changing: anyio.Lock = field(default_factory=lambda: anyio.Lock(fast_acquire=True))

    @property
    def session(self) -> Session:
        """Its facts."""
        return self.agent.session

    @property
    def read_only(self) -> bool:
        """Whether it can only be read now: another has it, it is damaged, or cannot be written."""
        return self.session.read_only


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What sessions are made with."""

    state: Path
    settings: Settings
    plugins: Plugins
    make_workspace: MakeWorkspace
    sync: Sync = sync_data

    async def create(self, cwd: str | None) -> OpenSession:
        """A new session; nothing of it is on disk before its first fact."""
        session_id, path = new_session(self.state)
        created = SessionCreated(version=FORMAT, id=session_id, cwd=cwd)
        scope = Scope(f"session {session_id}")
        session = Session(Log(now), Store(path, sync=self.sync), scope, created)
        return await self._equipped(session, path)

    async def resume(self, session_id: str) -> OpenSession:
        """One from disk; what a broken-off turn left open is closed if it can be written.

        Raises:
            SessionNotFound: there is none with this id.
            SessionUnreadable: a newer version wrote its file.
            StoreFailed: its file cannot be used.
        """
        path = await to_thread.run_sync(find_session, self.state, session_id)
        with _uncollected():
            session, store = await to_thread.run_sync(self._load, path)
        try:
            if not session.read_only:
                for fact in closing(session.log.entries):
                    session.append(fact)
            return await self._equipped(session, path)
        except BaseException:
            store.close()
            raise

    def _load(self, path: Path) -> tuple[Session, Store]:
        """The session of a file; nobody else sees it yet, so this can be done in a thread."""
        store = Store(path, sync=self.sync)
        try:
            lines = _taken(store)
            writes = lines is not None
            loaded = loaded_of(path.stem, read_lines(path)[0] if lines is None else lines)
            if writes:
                writes = _begun(store, loaded)
            try:
                session = _session(path.stem, store if writes else None, loaded)
            except ValueError:  # what keeps files in step, or an editor, spelled its lines anew
                session = _session(path.stem, store if writes else None, respelled(loaded))
        except BaseException:
            store.close()
            raise
        return session, store

    async def _equipped(self, session: Session, path: Path) -> OpenSession:
        scope = session.scope
        made = self.make_workspace(session.created.cwd, session.reads.digest)
        workspace = replace(made, known=lambda: session.reads.uris)
        hooks = Hooks()
        agent = Agent(
            session=session,
            inbox=Inbox(session, scope, hooks.typed),
            approvals=Approvals(session, lambda: workspace.roots.folders, hooks.typed),
            hooks=hooks,
            tools=ToolRegistry(),
            models=Models(),
            prompt=PromptSections(),
            workspace=workspace,
            blobs=blobs_of(self.state),
            settings=self.settings,
        )
        await self.plugins.equip(agent, scope)
        return OpenSession(agent=agent, driver=Driver(agent), scope=scope, path=path)


def _session(session_id: str, store: Store | None, loaded: Loaded) -> Session:
    """A session with what was loaded of it.

    Raises:
        ValueError: a line is spelled in a way that no request can be rebuilt from.
    """
    created = SessionCreated(version=FORMAT, id=session_id)
    session = Session(Log(now), store, Scope(f"session {session_id}"), created)
    session.read_only = store is None
    session.load(loaded)
    return session


def _taken(store: Store) -> list[bytes] | None:
    """The lines of a log that is ours to write now; None where it is not.

    Another process has it, or a full disk or the rights of its folder forbid it: what is in it can
    be shown all the same, and the next message says what is wrong.
    """
    try:
        return store.read()
    except Locked:
        return None
    except StoreFailed as error:
        logger.warning("%s", error)
        store.close()
        return None


def _begun(store: Store, loaded: Loaded) -> bool:
    """Whether the log can be gone on with: it is whole, or could be made so."""
    try:
        if loaded.damage is None:
            store.begin()
            return True
    except StoreFailed as error:
        logger.warning("%s", error)
    store.close()
    return False


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Look for no garbage meanwhile: a log is many objects, and none of them is garbage."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def loaded_of(session_id: str, lines: Sequence[bytes], first: int = 0) -> Loaded:
    """The facts of a session's lines.

    Raises:
        SessionUnreadable: a newer version wrote them.
    """
    try:
        return read_log(lines, first)
    except NewerSession as error:
        raise SessionUnreadable(f"session {session_id} cannot be read: {error}") from error


def new_session(state: Path) -> tuple[str, Path]:
    """The id of a session that begins now, and where its file will be."""
    begun = datetime.now(UTC)
    session_id = f"{begun:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
    return session_id, state / "sessions" / f"{begun:%Y-%m}" / f"{session_id}.jsonl"


def find_session(state: Path, session_id: str) -> Path:
    """The file of a session.

    Raises:
        SessionNotFound: there is none with this id.
    """
    if _ID.fullmatch(session_id):
        for path in (state / "sessions").glob(f"**/{session_id}.jsonl"):
            return path
    raise SessionNotFound(f"there is no session {session_id!r}")


def now() -> int:
    """The time, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
