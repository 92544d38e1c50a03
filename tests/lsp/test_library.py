"""Stored sessions on the wire: listed, read in pages, handed on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio.lowlevel
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.lsp import names
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.cursor import page
from turnbuckle.lsp.library import PAGE
from turnbuckle.lsp.lives import (
    SessionExportParams,
    SessionExportResult,
    SessionListParams,
    SessionListResult,
)
from turnbuckle.model.port import Delta, Emit, Reply, Request
from turnbuckle.session.codec import Entry, encode_fact, line
from turnbuckle.session.events import (
    AssistantChunk,
    AssistantMessage,
    Fact,
    InboxAdded,
    SessionCreated,
    ToolResult,
    TurnStart,
)
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.workspace.paths import uri_of

# Any: values on the wire are JSON.
Json = dict[str, Any]


def kind_of(error: ServerRefused) -> object:
    return error.data["kind"] if isinstance(error.data, dict) else None


def write(state: Path, name: str, *facts: Fact, cwd: str | None = None, at: int = 1000) -> Path:
    path = state / "sessions" / "2020-01" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = (SessionCreated(version=1, id=name, cwd=cwd), *facts)
    path.write_bytes(b"".join(line(n, at, fact, encode_fact(fact)) for n, fact in enumerate(whole)))
    return path


async def hang(_: Request, emit: Emit) -> Reply:
    """Begin to answer, and never end."""
    for text in ("Hel", "lo"):
        emit(Delta(text=text))
        await anyio.lowlevel.checkpoint()
    await anyio.sleep_forever()
    raise AssertionError


def prompt(text: str) -> InboxAdded:
    return InboxAdded(key="k", target="turn", input=text)


async def listed(server: Served, **params: str) -> SessionListResult:
    result = await server.client.request(names.SESSION_LIST, SessionListParams(**params))
    assert isinstance(result, SessionListResult)
    return result


def ids(result: SessionListResult) -> list[str]:
    return [one.session_id for one in result.sessions]


async def read(server: Served, session_id: str, first: int, last: int) -> list[Json]:
    params = {"sessionId": session_id, "from": first, "to": last}
    return list((await server.client.request(names.SESSION_READ, params)).events)


async def export(server: Served, session_id: str, **params: Any) -> SessionExportResult:
    whole = SessionExportParams(session_id=session_id, **params)
    result = await server.client.request(names.SESSION_EXPORT, whole)
    assert isinstance(result, SessionExportResult)
    return result


# The list.


async def test_stored_and_open_sessions_are_listed_the_latest_first(tmp_path: Path) -> None:
    write(tmp_path / "state", "old-1", prompt("Long ago"))
    async with served(Scripted([say("Hello.")]), tmp_path) as server:
        await server.open()  # nothing happens in it
        session_id = await server.open(cwd=server.work)
        await server.turn(session_id, "Say hello.")
        first, second = (await listed(server)).sessions
    assert (first.session_id, first.title, first.turns) == (session_id, "Say hello.", 1)
    assert first.cwd == uri_of(tmp_path / "work")
    assert (second.session_id, second.title, second.updated, second.turns) == (
        "old-1", "Long ago", 1000, 0,
    )  # fmt: skip
    assert (second.damaged, second.match, second.parent) == (None, None, None)


async def test_a_running_session_is_listed_as_it_is_now(tmp_path: Path) -> None:
    async with served(Scripted([say("one"), hang]), tmp_path) as server:
        session_id = await server.open()
        await server.watch(session_id)
        await server.turn(session_id, "first")
        server.send(session_id, "second")
        await server.fact("llm/stream", 2)
        (entry,) = (await listed(server, query="second")).sessions
        assert (entry.title, entry.turns, entry.match) == ("first", 2, "second")


async def test_the_list_comes_in_pages(tmp_path: Path) -> None:
    for number in range(60):
        write(tmp_path / "state", f"s-{number:02}", prompt("x"), at=1000 + number)
    async with served(None, tmp_path) as server:
        first = await listed(server)
        assert first.cursor is not None
        second = await listed(server, cursor=first.cursor)
        assert second.cursor is None
    assert ids(first) + ids(second) == [f"s-{number:02}" for number in reversed(range(60))]
    assert len(ids(first)) == 50


@pytest.mark.parametrize("cursor", ["", "x", "1", "1/", "9" * 30 + "/s"])
async def test_a_cursor_that_is_none_is_refused(cursor: str, tmp_path: Path) -> None:
    async with served(None, tmp_path) as server:
        with pytest.raises(ServerRefused) as caught:
            await listed(server, cursor=cursor)
    assert caught.value.code == -32602
    assert caught.value.message.startswith("cursor:")


async def test_the_sessions_of_a_folder_are_those_of_its_uri_however_it_is_spelt(
    tmp_path: Path,
) -> None:
    uri = uri_of(tmp_path / "my work")
    write(tmp_path / "state", "s-1", prompt("x"), cwd=uri)
    write(tmp_path / "state", "s-2", prompt("x"), cwd=uri_of(tmp_path))
    write(tmp_path / "state", "s-3", prompt("x"))
    async with served(None, tmp_path) as server:
        assert ids(await listed(server, cwd=uri)) == ["s-1"]
        assert ids(await listed(server, cwd=uri.replace("m", "%6D"))) == ["s-1"]
        assert ids(await listed(server, cwd="file:///nowhere")) == []
        assert len(ids(await listed(server))) == 3


async def test_a_session_that_names_no_folder_is_one_of_the_first(tmp_path: Path) -> None:
    async with served(Scripted([say("Hello.")]), tmp_path) as server:
        session_id = await server.open()
        await server.turn(session_id, "Say hello.")
        assert ids(await listed(server, cwd=uri_of(server.work))) == [session_id]
        await server.client.request("turnbuckle/session/close", {"sessionId": session_id})
        assert ids(await listed(server, cwd=uri_of(server.work))) == [session_id]


async def test_all_words_are_looked_for_and_the_line_is_told(tmp_path: Path) -> None:
    said = AssistantMessage(turn=1, step=1, content="The lexer\nis Slow here.", finish="stop")
    write(tmp_path / "state", "s-1", prompt("What of it?"), said)
    write(tmp_path / "state", "s-2", prompt("slow"))
    async with served(None, tmp_path) as server:
        (entry,) = (await listed(server, query=" SLOW lexer ")).sessions
        assert (entry.session_id, entry.match) == ("s-1", "The lexer")
        assert ids(await listed(server, query="nothing")) == []
        assert len(ids(await listed(server, query="  "))) == 2


async def test_a_damaged_session_is_listed_as_such(tmp_path: Path) -> None:
    path = write(tmp_path / "state", "s-1", prompt("Fix it"))
    path.write_bytes(path.read_bytes() + b"\x00garbage\n")
    async with served(None, tmp_path) as server:
        (entry,) = (await listed(server)).sessions
    assert (entry.title, entry.damaged) == ("Fix it", True)


# Pages of one.


async def test_facts_are_read_as_they_travel_on_a_token(tmp_path: Path) -> None:
    async with served(Scripted([say("Hello to you.")]), tmp_path) as server:
        session_id = await server.open()
        result = await server.turn(session_id, "Say hello.")
        await server.watch(session_id, token="replay")
        await server.fact("live", token="replay")
        replayed = server.editor.screen.progress("replay")[:-1]
        assert await read(server, session_id, 0, result.seq) == replayed
        header = next(one for one in replayed if one["type"] == "request/header")
        assert set(header["data"]) == {"digest", "why"}
        assert not [one for one in replayed if one["type"] == "assistant/chunk"]
        assert await read(server, session_id, 1, 2) == replayed[1:3]
        assert await read(server, session_id, result.seq + 1, 10**6) == []
        await server.client.request("turnbuckle/session/close", {"sessionId": session_id})
        assert await read(server, session_id, 0, result.seq) == replayed


async def test_what_is_being_said_is_read_as_one(tmp_path: Path) -> None:
    async with served(Scripted([hang]), tmp_path) as server:
        session_id = await server.open()
        await server.watch(session_id)
        server.send(session_id, "Say hello.")
        screen = server.editor.screen
        await screen.until(
            lambda: "".join(c["text"] for c in server.facts("assistant/chunk")) == "Hello"
        )
        *_, last = await read(server, session_id, 0, 10**6)
        assert (last["type"], last["data"]["text"]) == ("assistant/chunk", "Hello")


async def test_an_answer_is_bounded_and_the_next_page_goes_on(tmp_path: Path) -> None:
    result = ToolResult(turn=1, step=1, call_id="1", content="x" * (PAGE // 4), is_error=False)
    whole = ToolResult(turn=1, step=1, call_id="2", content="y" * (PAGE * 2), is_error=False)
    write(tmp_path / "state", "s-01", TurnStart(turn=1), *([result] * 10), whole, *([result] * 2))
    async with served(None, tmp_path) as server:
        seqs: list[int] = []
        pages = 0
        while some := await read(server, "s-01", seqs[-1] + 1 if seqs else 0, 10**6):
            seqs += [one["seq"] for one in some]
            pages += 1
            assert len(some) == 1 or len(orjson.dumps(some)) <= PAGE + 1000
    assert seqs == list(range(15))
    assert pages >= 4


KINDS = st.sampled_from(["chunk", "message", "result"])


@given(st.lists(st.tuples(KINDS, st.integers(0, 300)), max_size=30), st.integers(1, 2000))
def test_pages_of_any_size_hold_what_one_page_holds(
    kinds: list[tuple[str, int]], most: int
) -> None:
    facts: dict[str, Callable[[str], Fact]] = {
        "chunk": lambda text: AssistantChunk(turn=1, step=1, text=text),
        "message": lambda text: AssistantMessage(turn=1, step=1, content=text, finish="stop"),
        "result": lambda text: ToolResult(
            turn=1, step=1, call_id="1", content=text, is_error=False
        ),
    }
    entries = [Entry(n, 0, facts[kind]("x" * size)) for n, (kind, size) in enumerate(kinds)]
    whole = page(entries, 0, len(entries), 10**9)
    told = [one["seq"] for one in map(orjson.loads, whole)]
    assert [n for n in told if kinds[n][0] != "chunk"] == [
        n for n, (kind, _) in enumerate(kinds) if kind != "chunk"
    ]
    pages: list[bytes] = []
    while some := page(entries, orjson.loads(pages[-1])["seq"] + 1 if pages else 0, 10**6, most):
        assert len(some) == 1 or sum(map(len, some)) <= most
        pages += some
    assert pages == whole


@pytest.mark.parametrize("method", [names.SESSION_READ, names.SESSION_EXPORT])
@pytest.mark.parametrize("session_id", ["s-404", "../../x", "*", ""])
async def test_a_session_that_is_not_there_is_refused(
    method: str, session_id: str, tmp_path: Path
) -> None:
    async with served(None, tmp_path) as server:
        with pytest.raises(ServerRefused) as caught:
            await server.client.request(method, {"sessionId": session_id, "from": 0, "to": 1})
    assert (caught.value.code, kind_of(caught.value)) == (-32803, "sessionNotFound")


# Handing it on.


async def test_a_session_is_exported_for_people(tmp_path: Path) -> None:
    async with served(Scripted([say("Hello, <img src=x>.")]), tmp_path) as server:
        session_id = await server.open()
        await server.turn(session_id, "Say hello/there!")
        done = await export(server, session_id)
    assert done.name == "Say-hello-there.md"
    assert done.text.startswith("# Say hello/there!\n")
    assert "> Say hello/there!\n\nHello, &lt;img src=x>.\n" in done.text


async def test_a_session_is_exported_for_programs_open_or_not(tmp_path: Path) -> None:
    async with served(Scripted([say("Hello.")]), tmp_path) as server:
        session_id = await server.open()
        await server.turn(session_id, "Say hello.")
        opened = await export(server, session_id, format="json")
        await server.client.request("turnbuckle/session/close", {"sessionId": session_id})
        closed = await export(server, session_id, format="json")
        (path,) = (tmp_path / "state" / "sessions").glob("**/*.jsonl")
        stored = [orjson.loads(one) for one in path.read_bytes().splitlines()]
    assert opened == closed
    assert opened.name == "Say-hello.json"
    whole = orjson.loads(opened.text)
    assert whole["events"] == stored
    assert (whole["sessionId"], whole["title"]) == (session_id, "Say hello.")


async def test_a_damaged_session_is_exported_up_to_the_damage(tmp_path: Path) -> None:
    path = write(tmp_path / "state", "s-01", prompt("Fix it"), TurnStart(turn=1))
    path.write_bytes(path.read_bytes() + b"garbage\n")
    async with served(None, tmp_path) as server:
        whole = orjson.loads((await export(server, "s-01", format="json")).text)
        assert "damaged; the rest is missing" in (await export(server, "s-01")).text
    assert whole["damaged"].startswith("line 4 is damaged")
    assert [one["type"] for one in whole["events"]][1:] == ["inbox/added", "turn/start"]


async def test_what_is_too_large_for_a_message_is_refused_with_what_to_do(tmp_path: Path) -> None:
    large = ToolResult(turn=1, step=1, call_id="1", content="x" * (1 << 20), is_error=False)
    write(tmp_path / "state", "s-01", *([large] * 17))
    async with served(None, tmp_path) as server:
        with pytest.raises(ServerRefused) as caught:
            await export(server, "s-01")
    assert kind_of(caught.value) == "tooLarge"
    assert "turnbuckle sessions export s-01" in caught.value.message


async def test_many_lists_at_once_are_all_answered(tmp_path: Path) -> None:
    for number in range(20):
        write(tmp_path / "state", f"s-{number:02}", prompt("x"), at=1000 + number)
    async with served(None, tmp_path) as server:
        questions = [server.client.ask(names.SESSION_LIST, {"query": "x"}) for _ in range(20)]
        questions[3].cancel()
        for number, question in enumerate(questions):
            if number != 3:
                result = SessionListResult.model_validate(await question.answer())
                assert len(result.sessions) == 20
