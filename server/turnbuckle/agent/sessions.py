"""Which sessions are open: open a new one or one from disk, take one over, close and delete it."""

import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import anyio
from anyio import to_thread

from turnbuckle.agent.agent import Settings
from turnbuckle.agent.forking import BadBoundary as BadBoundary
from turnbuckle.agent.forking import fork_file, write_child
from turnbuckle.agent.opening import MakeWorkspace as MakeWorkspace
from turnbuckle.agent.opening import Opening
from turnbuckle.agent.opening import OpenSession as OpenSession
from turnbuckle.agent.opening import Seen as Seen
from turnbuckle.agent.opening import SessionNotFound as SessionNotFound
from turnbuckle.agent.opening import SessionUnreadable as SessionUnreadable
from turnbuckle.agent.opening import find_session as find_session
from turnbuckle.agent.plugins import Plugins
from turnbuckle.agent.takeover import catch_up, take_over
from turnbuckle.session.logfiles import delete_log
from turnbuckle.session.store import Sync, sync_data

logger = logging.getLogger(__name__)

# Any: the shape of anyio's own `start_soon`, which no narrower type fits.
Coroutines: TypeAlias = Callable[..., Coroutine[Any, Any, Any]]


class Starts(Protocol):
    """What a task can be started in: a task group, or what stands for one."""

    def start_soon(self, func: Coroutines, /, *args: Any) -> Any:
        """Run a coroutine function beside everything else; it lets no exception out."""
        ...


class Sessions:
    """The sessions that are open here, each with its own hooks, tools, prompt and models."""

    def __init__(
        self,
        *,
        state: Path,
        settings: Settings,
        plugins: Plugins,
        make_workspace: MakeWorkspace,
        tasks: Starts,
        on_open: Callable[[OpenSession], None] = lambda _: None,
        sync: Sync = sync_data,
    ) -> None:
        self._making = Opening(
            state=state,
            settings=settings,
            plugins=plugins,
            make_workspace=make_workspace,
            sync=sync,
        )
        self._tasks = tasks
        self._on_open = on_open
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

        One that another process writes is given with what was written meanwhile.

        Raises:
            SessionNotFound: there is none with this id.
            SessionUnreadable: a newer version wrote its file.
            StoreFailed: its file cannot be used.
        """
        async with self._opening:
            if session_id is None:
                return self._begin(await self._making.create(cwd))
            if found := self._open.get(session_id):
                if found.read_only:
                    async with found.changing:
                        await catch_up(found)
                return found
            return self._begin(await self._making.resume(session_id))

    def _begin(self, opened: OpenSession) -> OpenSession:
        self._open[opened.session.id] = opened
        self._on_open(opened)
        self._tasks.start_soon(self._live, opened)
        return opened

    async def _live(self, opened: OpenSession) -> None:
        try:
            with opened.life:
                await opened.driver.run()
        finally:
            self._open.pop(opened.session.id, None)
            with anyio.CancelScope(shield=True):
                # What is being put back is brought to its end, with the facts that tell of it.
                async with opened.changing:
                    await _end(opened)

    async def write(self, opened: OpenSession) -> bool:
        """Whether a session can be written now; takes it over where its writer is gone.

        Only for who holds its `changing`.

        Raises:
            SessionNotFound: it was closed meanwhile.
            SessionUnreadable: what the other process wrote cannot be read here.
            StoreFailed: its file cannot be used.
        """
        if opened.closed.is_set():
            raise SessionNotFound(f"session {opened.session.id!r} was closed; open it first")
        return await take_over(opened, self._making.sync)

    async def fork(self, session_id: str, turn: int) -> str:
        """A new session with the facts up to the end of this turn, not open yet; gives its id.

        Raises:
            SessionNotFound: there is none with this id.
            SessionUnreadable: a newer version wrote its file.
            BadBoundary: the session has no such turn, or it is not over.
            StoreFailed: a file could not be used; nothing is left of the new one.
        """
        found, state = self._open.get(session_id), self._making.state
        if found is not None and not found.session.log.entries:
            if turn:
                raise BadBoundary(f"the session has no turn {turn}")
            cwd = found.session.created.cwd
            return await to_thread.run_sync(write_child, state, session_id, cwd)
        if found is not None:
            await found.session.flush()
        path = await to_thread.run_sync(find_session, state, session_id)
        return await to_thread.run_sync(fork_file, state, path, turn)

    async def close(self, session_id: str) -> None:
        """End a session's turn, if one runs, and let another process write it.

        Raises:
            SessionNotFound: none with this id is open.
        """
        opened = self.get(session_id)
        opened.life.cancel()
        await opened.closed.wait()

    async def delete(self, session_id: str) -> None:
        """Remove a session's file for good, and close the session if it is open here.

        Kept texts and outputs stay, for other sessions may refer to them.

        Raises:
            SessionNotFound: there is none with this id.
            Locked: another process writes it; nothing was done.
            StoreFailed: its file could not be removed.
        """
        async with self._opening:
            found = self._open.get(session_id)
            if found is not None and not found.read_only:
                await self.close(session_id)
            try:
                path = await to_thread.run_sync(find_session, self._making.state, session_id)
            except SessionNotFound:
                if found is None:
                    raise
                return  # it never had a fact
            await to_thread.run_sync(delete_log, path)
            if found is not None and found.read_only:
                await self.close(session_id)


async def _end(opened: OpenSession) -> None:
    try:
        await opened.scope.aclose()
    except ExceptionGroup:
        logger.exception("closing session %s", opened.session.id)
    if opened.session.store:
        opened.session.store.close()
    if lost := opened.session.failing:
        logger.error("session %s was closed unwritten: %s", opened.session.id, lost)
    opened.closed.set()
