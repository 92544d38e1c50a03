"""The real server and a fake editor in one process, with a model that a test scripts."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack

import anyio
import orjson

from turnbuckle.agent.plugin import Install, PluginContext
from turnbuckle.agent.sessions import OpenSession
from turnbuckle.app.server import Server
from turnbuckle.app.wiring import Outside, Wiring, wire
from turnbuckle.kernel.waterfall import Next
from turnbuckle.lsp import names
from turnbuckle.lsp.client import Client, attached, bare_errors
from turnbuckle.lsp.clientfacts import ClientFacts
from turnbuckle.lsp.edits.applying import Limits
from turnbuckle.lsp.lives import SessionEventsParams, SessionOpenParams
from turnbuckle.lsp.protocol import ApproveParams, TurnResult
from turnbuckle.lsp.rpc import Connection, Question
from turnbuckle.lsp.rpc.framing import Frames
from turnbuckle.lsp.rpc.streams import CHUNK, MemoryPipe, Source
from turnbuckle.lsp.service import Service
from turnbuckle.model.port import Model, Request
from turnbuckle.session.store import Sync, sync_data
from turnbuckle.testing.agents import MODEL
from turnbuckle.testing.documents import Unit
from turnbuckle.testing.editor import Answer, RecordingEditor, dismiss
from turnbuckle.testing.edits import Json
from turnbuckle.tools.registry import AnyTool
from turnbuckle.workspace.paths import uri_of


class Held:
    """A stream that a client can stop reading, so that what the server sends has to wait.

    `seen` is every message that was read, in order.
    """

    def __init__(self, source: Source) -> None:
        self.seen: list[Json] = []
        self._frames = Frames()
        self._source = source
        self._free = anyio.Event()
        self._free.set()

    def hold(self) -> None:
        """Read no more; what is being waited for now is kept back too."""
        self._free = anyio.Event()

    def let_go(self) -> None:
        """Read on."""
        self._free.set()

    async def read(self) -> bytes:
        """The next bytes, once they may be read."""
        await self._free.wait()
        data = await self._source.read()
        await self._free.wait()
        self.seen += map(orjson.loads, self._frames.feed(data))
        return data

    def close(self) -> None:
        """Read no more, for ever."""
        self._source.close()


@dataclass(slots=True, kw_only=True)
class Served:
    """A server with one client. `work` is its workspace folder, `state` its state folder."""

    client: Client
    editor: RecordingEditor
    service: Service
    held: Held
    wirings: list[Wiring]
    work: Path
    state: Path
    turns: int = 0

    @property
    def connection(self) -> Connection:
        """The server's end."""
        return self.service.connection

    async def open(self, session_id: str | None = None, cwd: Path | None = None) -> str:
        """Open a session and give its id."""
        params = SessionOpenParams(session_id=session_id, cwd=uri_of(cwd) if cwd else None)
        return str((await self.client.request(names.SESSION_OPEN, params)).session_id)

    async def watch(self, session_id: str, token: int | str = "events", **more: int) -> Any:
        """Subscribe to a session. Any: the answer's model."""
        params = SessionEventsParams(session_id=session_id, token=token, **more)
        return await self.client.request(names.SESSION_EVENTS, params)

    def send(self, session_id: str, prompt: str, **more: object) -> Question:
        """Send a message; its answer is the end of its turn. `more` are other parameters."""
        self.turns += 1
        params: dict[str, object] = {"sessionId": session_id, "key": f"k{self.turns}"}
        params["input"] = [{"type": "text", "text": prompt}]
        return self.client.ask(names.TURN, params | more)

    async def turn(self, session_id: str, prompt: str, **more: object) -> TurnResult:
        """Send a message and wait for its turn."""
        return await self.answer(self.send(session_id, prompt, **more))

    async def answer(self, question: Question) -> TurnResult:
        """The end of a turn that was sent for."""
        return TurnResult.model_validate(await question.answer())

    def order(self, token: int | str, *questions: Question) -> list[str]:
        """What came on a token, by type, and the answers to these requests as `answer`."""
        ids = {question.id for question in questions}
        order: list[str] = []
        for message in self.held.seen:
            match message:
                case {"method": "$/progress", "params": {"token": t, "value": v}} if t == token:
                    order.append(v["type"])
                case {"id": str(id_)} if id_ in ids:
                    order.append("answer")
        return order

    async def approve(self, approval_id: str, **decision: Any) -> bool:  # Any: fields of the model
        """Answer an approval as a client does; whether it counted."""
        params = ApproveParams(approval_id=approval_id, **decision)
        return bool((await self.client.request(names.APPROVE, params)).accepted)

    async def fact(self, type_: str, count: int = 1, token: int | str = "events") -> Any:
        """Wait until so many facts of a type came on a token; the data of the last. Any: JSON."""
        return await self.editor.screen.until(
            lambda: (self.facts(type_, token) + [None] * count)[count - 1]
        )

    def facts(self, type_: str, token: int | str = "events") -> list[Any]:  # Any: JSON
        """The data of all values of a type that came on a token."""
        values = self.editor.screen.progress(token)
        return [value["data"] for value in values if value["type"] == type_]

    def opened(self, session_id: str) -> OpenSession:
        """The server's own side of a session; for what the wire does not tell."""
        return self.wirings[0].sessions.get(session_id)


class How(TypedDict, total=False):
    """What a test may want otherwise.

    `folders` replaces the one workspace folder, `capabilities` those of the fake editor. `capacity`
    is how many bytes may be on their way; with 0, each write of the server waits for its reader.
    `limits` are those of edits.
    """

    tools: Sequence[AnyTool]
    plugins: Sequence[Install]
    answer: Answer
    events: bool
    options: Json | None
    folders: Sequence[Path]
    capabilities: Json
    encoding: Unit
    env: Mapping[str, str]
    quiet: float
    sync: Sync
    capacity: int
    limits: Limits


@asynccontextmanager
async def served(model: Model | None, folder: Path, **how: Unpack[How]) -> AsyncIterator[Served]:
    """Serve `folder/work` with the state in `folder/state`, and shake hands.

    Without a model, the one that the settings in `folder/config.toml` name is asked.
    """
    work, state = folder / "work", folder / "state"
    work.mkdir(parents=True, exist_ok=True)
    up, down = MemoryPipe(), MemoryPipe(how.get("capacity", CHUNK))
    made: list[Wiring] = []

    outside = _outside(model, how)
    settings = {
        "TURNBUCKLE_STATE_DIR": str(state),
        "TURNBUCKLE_CONFIG": str(folder / "config.toml"),
        **how.get("env", {}),
    }

    async def kept(connection: Connection, client: ClientFacts, env: Mapping[str, str]) -> Wiring:
        made.append(await wire(connection, client, env, outside=outside))
        return made[-1]

    service = Service(up, down, partial(Server, env=settings, wire=kept))
    held = Held(down)
    with bare_errors():
        async with anyio.create_task_group() as group:
            group.start_soon(service.run)
            async with attached(held, up) as client:
                editor = RecordingEditor(
                    client,
                    answer=how.get("answer", dismiss),
                    encoding=how.get("encoding", "utf-16"),
                )
                folders = [uri_of(folder) for folder in how.get("folders", (work,))]
                options = how.get("options")
                if (capabilities := how.get("capabilities")) is not None:
                    await client.initialize(capabilities, options, folders)
                else:
                    events = how.get("events", False)
                    await editor.initialize(folders, options=options, events=events)
                yield Served(
                    client=client, editor=editor, service=service, held=held, wirings=made,
                    work=work, state=state,
                )  # fmt: skip
                held.let_go()


def _outside(model: Model | None, how: How) -> Outside:
    """What the server is given that no settings say."""

    async def ask_it(request: Request, next_: Next[Request, Request]) -> Request:
        return await next_(replace(request, config=replace(request.config, model=MODEL)))

    def base(ctx: PluginContext) -> None:
        if model is not None:
            ctx.models.register(MODEL, model)
            ctx.hooks.request.use(ask_it)
        for tool in how.get("tools", ()):
            ctx.tools.register(tool)

    more = enumerate(how.get("plugins", ()))
    return Outside(
        plugins=[("base", base), *((f"plugin {n}", plugin) for n, plugin in more)],
        quiet=how.get("quiet", 0.0),
        limits=how.get("limits", Limits(opening=0.0)),
        sync=how.get("sync", sync_data),
        local=(),
    )
