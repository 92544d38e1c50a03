"""The server's side of one connection, from its first message to the exit code."""

import enum
import gc
import logging
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import anyio
from anyio import to_thread

from turnbuckle.lsp.rpc import Connection
from turnbuckle.lsp.rpc.conversation import converse
from turnbuckle.lsp.rpc.errors import INVALID_REQUEST, NOT_INITIALIZED, BadMessage, Refused, stack
from turnbuckle.lsp.rpc.framing import MAX_BODY
from turnbuckle.lsp.rpc.gate import Gate
from turnbuckle.lsp.rpc.late import Late
from turnbuckle.lsp.rpc.parent import outlived
from turnbuckle.lsp.rpc.streams import Sink, Source
from turnbuckle.lsp.rpc.writer import Writer

logger = logging.getLogger(__name__)

CLOSE_TIME = 3.0
"""Seconds that the answer to `shutdown` waits for what is running to end."""

MAX_STRANGER = 1024 * 1024
"""The largest body that is taken of someone who has yet to show a token, in bytes."""

EARLY = frozenset({"window/logMessage", "window/showMessage"})
"""What may be sent before `initialize` is answered."""


class App(Protocol):
    """What is served on one connection; its methods are called in this order, each once."""

    # Any: the JSON of `initialize`, both ways. Structuring it would cost a tenth of a second.
    def initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        """The result of `initialize`; nothing heavy may be imported up to here.

        Raises:
            Refused: the client cannot be served; it may try again.
        """
        ...

    async def load(self) -> None:
        """Import the rest and register handlers; the next message is looked at afterwards."""
        ...

    async def serving(self) -> None:
        """Do what lives as long as the connection; cancelled at `shutdown` or at the end.

        `shutdown` is answered, and the requests that still run are cancelled, when it has ended.
        """
        ...


Make: TypeAlias = Callable[[Connection], App]
Admit: TypeAlias = Callable[[dict[str, Any]], None]
"""Raises `Refused` for `initialize` params of someone who must not come in."""


def admit_all(params: dict[str, Any]) -> None:
    """Whoever holds our standard streams started us."""


class _State(enum.Enum):
    NEW = enum.auto()
    ANSWERED = enum.auto()
    READY = enum.auto()
    SHUT = enum.auto()


class Service(Gate):
    """Serves one connection: `initialize`, loading, `shutdown`, `exit`, and what fits when."""

    def __init__(self, source: Source, sink: Sink, make: Make, admit: Admit = admit_all) -> None:
        self.connection = Connection(Writer(sink), prefix="s:", gate=self)
        self.stop = anyio.Event()
        self.admitted = anyio.Event()
        self.code = 1
        self._source = source
        self._make = make
        self._admit = admit
        if admit is not admit_all:
            self.longest = MAX_STRANGER
        self._app: App | None = None
        self._started_by: int | None = None
        self._late = Late()
        self._state = _State.NEW
        self._loaded = anyio.Event()
        self._serving = anyio.CancelScope()
        self._served = anyio.Event()
        self.connection.on_request("initialize", self._initialize)
        self.connection.on_request("shutdown", self._shutdown)
        self.connection.on_notification("exit", lambda _: self.stop.set())

    async def run(self) -> int:
        """Serve until the end and give the exit code: 0 after `shutdown`, else 1."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._live)
            group.start_soon(self._end)
            await converse(self.connection, self._source, self.stop)
        return self.code

    def refuses(self, method: str) -> Refused | None:
        """Refuse all but `initialize` at first, then that, and everything after `shutdown`."""
        if self._state is _State.SHUT:
            return Refused("the server is shutting down", code=INVALID_REQUEST)
        if self._state is _State.NEW and method != "initialize":
            return Refused("the server is not initialized yet", code=NOT_INITIALIZED)
        if self._state is not _State.NEW and method == "initialize":
            return Refused("the server is initialized already", code=INVALID_REQUEST)
        return None

    def drops(self, method: str) -> bool:
        """Drop what comes before `initialize` or after `shutdown`, but for `exit` and cancels."""
        serving = self._state in (_State.ANSWERED, _State.READY)
        return not serving and method not in ("exit", "$/cancelRequest")

    def forbids(self, method: str) -> bool:
        """Forbid to speak, but for messages to the person, until `initialize` is answered."""
        return self._state in (_State.NEW, _State.ANSWERED) and method not in EARLY

    async def between(self) -> None:
        """Load the rest when `initialize` was answered just now."""
        if self._state is not _State.ANSWERED or self._app is None:
            return
        self._state = _State.READY
        try:
            self.connection.incoming.messages = self._late
            await self._app.load()
        except Exception as error:
            self._break("could not be loaded", error)
        self._loaded.set()

    async def _live(self) -> None:
        try:
            with self._serving:
                await self._loaded.wait()
                if self._app is not None:
                    async with anyio.create_task_group() as group:
                        group.start_soon(_in_thread, self._late.load)
                        await self._app.serving()
        except Exception as error:
            self._break("failed", error)
        finally:
            self._served.set()

    async def _end(self) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._outlive)
            await self.stop.wait()
            self._serving.cancel()
            group.cancel_scope.cancel()

    async def _outlive(self) -> None:
        """End with the client, also when somebody else holds our input open."""
        await self._loaded.wait()
        if self._started_by is not None:
            await outlived(self._started_by)
            logger.warning("the client's process is gone")
            self.stop.set()

    async def _initialize(self, params: object) -> object:
        if not isinstance(params, dict):
            raise BadMessage("params: must be an object")
        try:
            if not self.admitted.is_set():  # else the app refused it, and it is tried again
                self._admit(params)
        except Refused:
            self.stop.set()
            raise
        self.admitted.set()
        self.longest = MAX_BODY
        match params:
            case {"processId": int(pid)}:
                self._started_by = pid
        self._app = self._make(self.connection)
        result = self._app.initialize(params)
        self._state = _State.ANSWERED
        return result

    async def _shutdown(self, _: object) -> None:
        self._state = _State.SHUT
        self.code = 0
        # Not to be cancelled: it would be answered so, and the server be shut down all the same.
        with anyio.move_on_after(CLOSE_TIME, shield=True):
            self._serving.cancel()
            await self._served.wait()
            await self.connection.incoming.answers.settle(keep="shutdown")

    def _break(self, how: str, error: Exception) -> None:
        """End, since the server cannot work, and say so to the person."""
        logger.error("the server %s\n%s", how, stack(error))
        text = f"Turnbuckle {how}; the server's log says why."
        self.connection.notify("window/showMessage", {"type": 1, "message": text})
        self.stop.set()


async def _in_thread(load: Callable[[], object]) -> None:
    """Import what only LSP's own messages need, beside what is done already."""
    await to_thread.run_sync(load, abandon_on_cancel=True)
    # What was imported stays; the collector need not look at it again and again.
    gc.freeze()
