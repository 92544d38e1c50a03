"""What a client may send: the cases F."""

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from cases import wire_streams
from cases.case import Case, Run
from turnbuckle.lsp import names
from turnbuckle.lsp.client import Client, ServerRefused, attached
from turnbuckle.lsp.rpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    NOT_INITIALIZED,
)
from turnbuckle.lsp.rpc.streams import MemoryPipe
from turnbuckle.lsp.service import Service
from turnbuckle.model.port import Delta, Emit, Reply, Request
from turnbuckle.testing.echo_app import EchoApp
from turnbuckle.testing.scripted import Scripted, Step, say
from turnbuckle.testing.served import How, Served, served
from turnbuckle.workspace.paths import canonical, uri_of

# Any: what a case's file holds, and values on the wire.
Json = dict[str, Any]

METHODS = {
    "agent/turn": names.TURN,
    "agent/approve": names.APPROVE,
    "custom/echo": "test/echo",
}
"""Neutral names of methods, and ours."""

HOVER = 0.2
"""Seconds in which a hover is answered while a turn runs."""

LIMIT = 30.0
"""Seconds after which something counts as never happening, on a machine that does much else."""


class Hanging:
    """A model that has begun to say something, and does not go on."""

    def __init__(self) -> None:
        self.begun = anyio.Event()

    async def __call__(self, _: Request, emit: Emit) -> Reply:
        emit(Delta(text="I was"))
        self.begun.set()
        await anyio.sleep_forever()
        raise AssertionError


def allowing(_message: str, titles: list[str]) -> str | None:
    return next(
        (title for start in ("Allow", "Show") for title in titles if title.startswith(start)), None
    )


@asynccontextmanager
async def talk(model: Scripted, folder: Path, **how: Any) -> AsyncIterator[tuple[Served, str]]:
    """A session of a server. Any: as in `How`."""
    kept: How = {"answer": allowing, **how}  # type: ignore[typeddict-item] # it is what is said
    async with served(model, folder, **kept) as server:
        session_id = await server.open()
        await server.watch(session_id)
        yield server, session_id


def results(server: Served) -> list[Json]:
    return server.facts("tool/result")


async def code_of(client: Client, method: str, params: object) -> int:
    """The code with which a request is refused."""
    with anyio.fail_after(LIMIT), pytest.raises(ServerRefused) as refused:
        await client.ask(method, params).answer()
    return refused.value.code


# -- requests ------------------------------------------------------------------------------------


async def bad_parameters(case: Case, folder: Path) -> None:
    """Whatever the parameters lack or have too much, the request is answered and nobody disturbed."""
    async with talk(Scripted([say("here")]), folder) as (server, session_id):
        for method, params in case.data["rows"]:
            code = await code_of(server.client, METHODS.get(method, method), params)
            assert code == case.data["expect"]["error"] == INVALID_PARAMS, (method, params)
        assert server.editor.screen.messages == []
        assert (await server.turn(session_id, "still there?")).end == {"kind": "completed"}


async def initialize_once(case: Case, folder: Path) -> None:
    """Nothing is done before `initialize`, and that is done once."""
    async with in_process() as client:
        for method, params in case.data["rows"]:
            code = await code_of(client, method, params)
            assert code == case.data["expect"]["error"] == NOT_INITIALIZED
        await client.initialize()
        assert await client.request("test/log") == {"log": ["load", "serving"]}
        assert await code_of(client, "initialize", {"capabilities": {}}) == INVALID_REQUEST
        assert await client.request("test/log") == {"log": ["load", "serving"]}
    async with served(Scripted([say("here")]), folder) as server:
        again = {"capabilities": {}, "rootUri": "file:///elsewhere"}
        assert await code_of(server.client, "initialize", again) == INVALID_REQUEST
        (answer,) = await told_of_folder(server)
        assert answer == str((folder / "work").resolve())


async def told_of_folder(server: Served) -> list[str]:
    """The folder that a new session works in."""
    opened = server.opened(await server.open())
    return [str(path.resolve()) for path in opened.agent.workspace.roots.folders]


@asynccontextmanager
async def in_process() -> AsyncIterator[Client]:
    """A client of the echo app, not yet shaken hands with."""
    up, down = MemoryPipe(), MemoryPipe()
    async with anyio.create_task_group() as group:
        group.start_soon(Service(up, down, EchoApp).run)
        async with attached(down, up) as client:
            yield client


async def no_traceback(case: Case, folder: Path) -> None:
    """A fault of ours is told by a reference; where it was stands in our log, without any value."""
    secret = "sk-live-0123456789abcdef"
    kept = Lines()
    logging.getLogger("turnbuckle").addHandler(kept)
    send, expect_error, expect_absent = case.data["steps"]
    assert send["send"] == "command that raises"

    async def raising(_: object) -> object:
        raise ValueError(f"{secret} in {folder}")

    try:
        async with talk(Scripted([say("here")]), folder) as (server, session_id):
            server.connection.on_request("workspace/executeCommand", raising)
            ask = server.client.ask("workspace/executeCommand", {"command": "turnbuckle.ask"})
            with pytest.raises(ServerRefused) as refused:
                await ask.answer()
            told = f"{refused.value} {json.dumps(refused.value.data)}"
            assert refused.value.code == expect_error["expect_error"] == INTERNAL_ERROR
            for absent in (*expect_absent["expect_absent"], secret, str(folder), ".py"):
                assert absent not in told
            data: Any = refused.value.data  # Any: JSON
            (line,) = [line for line in kept.lines if data["reference"] in line]
            assert "in raising" in line
            assert secret not in "".join(kept.lines)
            assert (await server.turn(session_id, "still there?")).end == {"kind": "completed"}
    finally:
        logging.getLogger("turnbuckle").removeHandler(kept)


class Lines(logging.Handler):
    """The lines of a log."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


async def shutdown_in_a_turn(case: Case, folder: Path) -> None:
    """`shutdown` is answered once the turn of a command is closed; then nothing is served."""
    begin, shut, null, late, refused, leave, code = case.data["steps"]
    assert "executeCommand" in begin["send"]
    model = Hanging()
    async with served(Scripted([model]), folder) as server:
        asked = await server.editor.ask("take long")
        await model.begun.wait()
        log = server.opened(asked["sessionId"]).session.log
        with anyio.fail_after(LIMIT):
            assert await server.client.request(shut["send"]) == null["expect_result"]
        ends = [e.fact.end.kind for e in log.entries if e.fact.type == "turn/end"]  # type: ignore[union-attr] # it is
        assert ends == ["aborted"]
        for method in (METHODS[late["send"]], names.SESSION_OPEN, "workspace/executeCommand"):
            assert await code_of(server.client, method, {}) == refused["expect_error"]
        server.client.notify(leave["send"])
        with anyio.fail_after(LIMIT):
            await server.client.stop.wait()
        assert server.service.code == code["expect_exit"]
    (file,) = (folder / "state").rglob("*.jsonl")
    assert json.loads(file.read_bytes().splitlines()[-1])["type"] == "turn/end"


async def nothing_blocks(_: Case, folder: Path) -> None:
    """What waits behind something long and is cancelled never runs; small requests are quick."""
    model = Hanging()
    async with talk(Scripted([model, say("after")]), folder) as (server, session_id):
        first = server.send(session_id, "one")
        await model.begun.wait()
        second = server.send(session_id, "two")
        second.cancel()
        with pytest.raises(ServerRefused), anyio.fail_after(LIMIT):
            await second.answer()
        document = {"uri": uri_of(folder / "work" / "a.py")}
        server.editor.open(document["uri"], "text\n")
        place = {"textDocument": document, "position": {"line": 0, "character": 0}}
        await server.client.request("textDocument/hover", place)  # imports what it needs
        for _try in range(10):
            with anyio.move_on_after(HOVER) as hover:
                await server.client.request("textDocument/hover", place)
                break
        assert not hover.cancelled_caught
        first.cancel()
        with pytest.raises(ServerRefused):
            await first.answer()
        assert (await server.turn(session_id, "three")).turn == 2
        said = [fact["content"] for fact in server.facts("user/message")]
        assert said == ["one", "three"]


# -- documents and folders -----------------------------------------------------------------------


async def one_document(case: Case, folder: Path) -> None:
    """A document is found by any spelling of its URI that names the same file, and by no other."""
    rows = case.data["rows"]
    async with talk(Scripted([say("ok")] * 2 * len(rows)), folder) as (server, session_id):
        for number, (opened, asked, same) in enumerate(rows):
            text = f"text of row {number}"
            server.editor.open(opened, text)
            # The text of the mirror stands for what the client sends, where it is open.
            pointed = {"kind": "file", "uri": asked, "text": "not open"}
            await server.turn(session_id, "look", context=[pointed])
            (context,) = server.facts("inbox/added")[-1]["context"]
            assert context["text"] == (text if same else "not open")
            assert (canonical(opened) == canonical(asked)) is same
            # Closed by the one name, it is not open by the other.
            closed = {"textDocument": {"uri": asked if same else opened}}
            server.client.notify("textDocument/didClose", closed)
            pointed["uri"] = opened
            await server.turn(session_id, "look again", context=[pointed])
            (context,) = server.facts("inbox/added")[-1]["context"]
            assert context["text"] == "not open"


async def no_files(case: Case, folder: Path) -> None:
    """Documents that are no files are read as they are open; only an unnamed one is written."""
    for number, uri in enumerate(case.data["rows"]):
        change = {"path": uri, "edits": [{"old": "two", "new": "2"}]}
        script = [
            say("", ("1", "read_file", {"path": uri})),
            say("", ("2", "edit_file", change)),
            say("", ("3", "write_file", {"path": uri, "content": "all new\n"})),
            say("done"),
        ]
        async with talk(Scripted(script), folder / str(number)) as (server, session_id):
            server.editor.open(uri, "one\ntwo\n")
            at = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 0}}
            await server.client.request("textDocument/hover", at)
            await server.client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
            await server.editor.code_actions(uri, 0, 3)
            pointed = {"kind": "file", "uri": uri, "text": ""}
            end = (await server.turn(session_id, "change it", context=[pointed])).end
            assert end == {"kind": "completed"}, uri
            (context,) = server.facts("inbox/added")[-1]["context"]
            assert context["text"] == "one\ntwo\n"
            edits = server.editor.screen.of("workspace/applyEdit")
            if uri.startswith("untitled:"):
                assert "two" in results(server)[0]["content"]
                assert server.editor.documents[uri].text == "all new\n"
                assert len(edits) == 2
            else:
                assert all(result["isError"] for result in results(server)[1:]), uri
                assert server.editor.documents[uri].text == "one\ntwo\n"
                assert edits == []
            assert list(server.work.iterdir()) == []


async def folders(case: Case, folder: Path) -> None:
    """Tools work in the folder that holds a file, and in none where there is none."""
    none, many = case.data["variants"]
    assert none == {"rootUri": None, "workspaceFolders": None}
    script = [
        say("", ("1", "read_file", {"path": "a.txt"}), ("2", "run_command", {"command": "pwd"})),
        say("done"),
    ]
    async with talk(Scripted(script), folder / "none", folders=()) as (server, session_id):
        assert (await server.turn(session_id, "go")).end == {"kind": "completed"}
        for result in results(server):
            assert result["isError"]
            assert "folder" in result["content"], result
    await in_their_folder(
        folder / "many", [path.removeprefix("/") for path in many["workspaceFolders"]]
    )


async def in_their_folder(folder: Path, paths: list[str]) -> None:
    """Write into each of several folders, and into the last once it is taken away in a turn."""
    places = [folder / path for path in paths]
    for place in places:
        place.mkdir(parents=True)
    gone = places[-1]

    async def taken_away(_: Request, emit: Emit) -> Reply:
        removed = {"removed": [{"uri": uri_of(gone), "name": "gone"}], "added": []}
        server.client.notify("workspace/didChangeWorkspaceFolders", {"event": removed})
        await server.client.request(names.MODELS, {})  # it was seen by then
        return write_to(gone / "second.txt", "c9")

    def write_to(path: Path, call_id: str) -> Reply:
        return say("", (call_id, "write_file", {"path": str(path), "content": "text\n"}))

    writes = [write_to(place / "first.txt", f"c{n}") for n, place in enumerate(places)]
    script: list[Step] = [*writes, taken_away, say("done")]
    async with talk(Scripted(script), folder, folders=places) as (server, session_id):
        assert (await server.turn(session_id, "go")).end == {"kind": "completed"}
        *done, refused = results(server)
        assert not any(result["isError"] for result in done), done
        assert (refused["isError"], refused["code"]) == (True, "OUTSIDE")
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.txt"))
    assert found == sorted(f"{path}/first.txt" for path in paths)


# -- what an editor is told and answers ----------------------------------------------------------


async def progress(case: Case, folder: Path) -> None:
    """Progress is told where it was asked for, whole, and before the answer."""
    *order, last = case.data["expect"]["order"]
    assert (order, last) == (["begin", "report*", "end"], "result")
    for number, variant in enumerate(case.data["variants"]):
        capabilities = {"window": {"workDoneProgress": variant["workDoneProgress"]}}
        token = variant["token"]
        async with served(
            Scripted([say("a"), say("b")]), folder / str(number), capabilities=capabilities
        ) as server:
            session_id = await server.open()
            more = {} if token is None else {"workDoneToken": token}
            question = server.send(session_id, "go", **more)
            assert (await server.answer(question)).end == {"kind": "completed"}
            told = kinds(server, question.id)
            if token is None:
                assert told == ["result"]
            else:
                assert told[0] == order[0]
                assert set(told[1:-2]) <= {"report"}
                assert told[-2:] == [order[2], last]
            # And of a command, which has no token of the client's.
            asked = server.client.ask(
                "workspace/executeCommand",
                {"command": "turnbuckle.ask", "arguments": [{"prompt": "go"}]},
            )
            await asked.answer()
            await server.editor.screen.until(
                lambda: server.editor.screen.of("window/showMessage") or None
            )
            tokens = [one["token"] for one in server.editor.screen.of("$/progress")]
            created = server.editor.screen.of("window/workDoneProgress/create")
            assert bool(created) is variant["workDoneProgress"]
            assert set(tokens) <= {token, *(one["token"] for one in created)}


def kinds(server: Served, identity: str) -> list[str]:
    """Kinds of progress, and the answer to a request, in the order in which they came."""
    found: list[str] = []
    for message in server.held.seen:
        match message:
            case {"method": "$/progress", "params": {"value": {"kind": str(kind)}}}:
                found.append(kind)
            case {"id": str(id_)} if id_ == identity and "method" not in message:
                found.append("result" if "result" in message else "error")
    return found


async def not_applied(case: Case, folder: Path) -> None:
    """An edit that the editor refuses is told as one that was not made."""
    edit = {"path": "a.txt", "edits": [{"old": "two", "new": "2"}]}
    for number, variant in enumerate(case.data["variants"]):
        script = [
            say("", ("1", "read_file", {"path": "a.txt"})),
            say("", ("2", "edit_file", edit)),
            say("", ("3", "read_file", {"path": "a.txt"})),
            say("done"),
        ]
        asked: list[object] = []

        async def refuse(params: object, kept: list[object] = asked, v: Json = variant) -> Json:
            kept.append(params)
            return dict(v["reply"])

        async with talk(Scripted(script), folder / str(number)) as (server, session_id):
            file = server.work / "a.txt"
            file.write_text("one\ntwo\n", "utf-8")
            server.client.on_request(variant["on"], refuse)
            server.editor.open(uri_of(file), "one\ntwo\n")
            assert (await server.turn(session_id, "go")).end == {"kind": "completed"}
            assert asked
            _, result, after = results(server)
            assert case.data["expect"]["tool_outcome"] == "not_applied"
            assert result["isError"]
            reason = variant["reply"].get("failureReason", "gave no reason")
            assert reason in result["content"]
            assert "two" in after["content"]
            assert file.read_text("utf-8") == "one\ntwo\n"
            assert not [e for e in server.facts("edit/applied") if e["outcome"] == "applied"]


RUN: dict[str, Run] = {
    "F05": shutdown_in_a_turn,
    "F07": one_document,
    "F08": no_files,
    "F10": progress,
    "F12": not_applied,
    "F13": nothing_blocks,
    "F14": bad_parameters,
    "F15": initialize_once,
    "F17": folders,
    "F19": no_traceback,
    **wire_streams.RUN,
}
