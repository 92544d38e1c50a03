"""Large documents: what a key pressed in one costs, a diff of one, and a proposal for all of it.

Times are those of the thread that works, so that others on the machine do not count.
"""

import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import anyio.lowlevel
from lsprotocol import types

from benchmarks.bench import Bench
from benchmarks.figures import Figure, Limit
from turnbuckle.lsp.documents import Documents
from turnbuckle.model.port import Emit, Reply, Request
from turnbuckle.session.parts import Call
from turnbuckle.testing.edits import Json
from turnbuckle.testing.scripted import Scripted, Step, say
from turnbuckle.testing.served import Served, served
from turnbuckle.workspace.changes import make_change
from turnbuckle.workspace.paths import uri_of

LINES = 20_000
TEXT = "".join(
    f"    line {number} = call(argument_{number % 97}, {number})\n" for number in range(LINES)
)
"""About 1 MB."""


def documents(bench: Bench) -> list[Figure]:
    """Our own work only, in this process; no contestant has documents."""
    rounds = bench.size.cancels
    parts = (
        ("a key pressed in 20,000 lines", [key() for _ in range(10 * rounds)], 5),
        ("its hunks, 20 places changed", [hunks(20) for _ in range(rounds)], 5),
        ("a 1 MB proposal, longest hold of the loop", asyncio.run(proposals(bench)), 50),
    )
    return [
        Figure(name=name, unit="ms", rounds={"ours": found}, limit=Limit(most, of="itself"))
        for name, found, most in parts
    ]


def changed(places: int) -> str:
    """The text with so many lines changed."""
    lines = TEXT.splitlines(keepends=True)
    for number in range(places):
        lines[number * (LINES // places)] = f"changed {number}\n"
    return "".join(lines)


def timed(act: Callable[[], object]) -> float:
    """Milliseconds."""
    begin = time.thread_time()
    act()
    return (time.thread_time() - begin) * 1e3


def key(uri: str = "file:///w/a.py") -> float:
    """One character, typed in the middle of a text with an emoji at its start."""
    mirror = Documents("utf-16")
    text = "# \N{SLIGHTLY SMILING FACE}\n" + TEXT
    item = types.TextDocumentItem(uri=uri, language_id="python", version=1, text=text)
    mirror.did_open(types.DidOpenTextDocumentParams(text_document=item))
    place = types.Position(line=LINES // 2, character=4)
    change = types.TextDocumentContentChangePartial(range=types.Range(place, place), text="x")
    name = types.VersionedTextDocumentIdentifier(uri=uri, version=2)
    params = types.DidChangeTextDocumentParams(text_document=name, content_changes=[change])
    return timed(lambda: mirror.did_change(params))


def hunks(places: int) -> float:
    """The hunks from the text to one with so many lines changed."""
    new = changed(places)
    return timed(lambda: make_change("file:///w/a.py", TEXT, new, "edit"))


async def proposals(bench: Bench) -> list[float]:
    """The longest time that nothing else could run, for each of a few proposals in one session."""
    texts = [changed(places) for places in range(40, 40 + bench.size.turns // 5)]
    small = TEXT.replace("line 7 ", "LINE 7 ")
    read = say("", ("read", "read_file", {"path": "a.py", "limit": 1}))
    replies = [
        reply
        for number, text in enumerate([small, *texts])
        for reply in (read, proposes(f"c{number}", text), say("done"))
    ]
    with tempfile.TemporaryDirectory() as folder:
        async with served(Scripted(replies), Path(folder), answer=allow) as server:
            server.client.on_request("workspace/applyEdit", editor_of(server, [small, *texts]))
            path = server.work / "a.py"
            path.write_text(TEXT, encoding="utf-8")
            server.editor.open(uri_of(path), TEXT)
            session_id = await server.open()
            await server.turn(session_id, "the first is not counted")
            return [await longest_hold(server, session_id) for _ in texts]


def allow(_message: str, titles: list[str]) -> str | None:
    """Click what allows, once the whole was shown."""
    return next((title for title in titles if title.startswith("Allow")), titles[0])


def proposes(call_id: str, text: str) -> Step:
    """A model's answer that writes the whole file, made beforehand."""
    arguments = json.dumps({"path": "a.py", "content": text})
    call = Call(call_id=call_id, name="write_file", arguments=arguments)

    async def answer(_request: Request, _emit: Emit) -> Reply:
        return Reply(content="", finish="tool_calls", tool_calls=(call,))

    return answer


def editor_of(server: Served, texts: list[str]) -> Callable[[Json], Awaitable[object]]:
    """An editor that costs nothing: it knows what each edit comes to, and tells the whole."""
    left = iter(enumerate(texts, start=2))

    async def apply(params: Json) -> Json:
        version, text = next(left)
        name = {"uri": params["edit"]["documentChanges"][0]["textDocument"]["uri"]}
        told = {"textDocument": name | {"version": version}, "contentChanges": [{"text": text}]}
        server.client.notify("textDocument/didChange", told)
        return {"applied": True}

    return apply


async def longest_hold(server: Served, session_id: str) -> float:
    """The longest time between two turns of the event loop while a proposal is made; in ms."""
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        last = time.thread_time()
        while True:
            await anyio.lowlevel.checkpoint()
            now = time.thread_time()
            longest, last = max(longest, now - last), now

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        await server.turn(session_id, "propose")
        group.cancel_scope.cancel()
    return longest * 1e3
