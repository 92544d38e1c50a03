"""Asking without a panel: the conversation as a document, and which session is gone on in."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.rpc import METHOD_NOT_FOUND, Refused
from turnbuckle.model.port import Delta, Emit, ModelRefused, Reply, Request
from turnbuckle.session.events import UserMessage
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served
from turnbuckle.workspace.paths import path_of

# Any: values on the wire are JSON.
Json = dict[str, Any]

VIRTUAL: Json = {
    "workspace": {"textDocumentContent": {}},
    "window": {"showDocument": {"support": True}},
}
REFRESH = "workspace/textDocumentContent/refresh"


class Slowly:
    """Says something, waits until it may go on, and then says the rest."""

    def __init__(self) -> None:
        self.on = anyio.Event()

    async def __call__(self, _: Request, emit: Emit) -> Reply:
        emit(Delta(text="The first half"))
        await self.on.wait()
        emit(Delta(text=" and the other."))
        return say("The first half and the other.")


async def content(server: Served, uri: str) -> str:
    found = await server.client.request("workspace/textDocumentContent", {"uri": uri})
    return str(found["text"])


async def shown(server: Served, count: int = 1) -> str:
    """The URI of the document that was shown last, once so many were."""
    screen = server.editor.screen
    documents = await screen.until(
        lambda: (of := screen.of("window/showDocument"))[count - 1 :] and of
    )
    return str(documents[-1]["uri"])


async def read_until(server: Served, uri: str, wanted: str) -> str:
    """Read a document as a client that is told when to, until something stands in it."""
    screen = server.editor.screen
    while wanted not in (text := await content(server, uri)):
        seen = len(screen.of(REFRESH))
        await screen.until(lambda seen=seen: screen.of(REFRESH)[seen:])  # type: ignore[misc]
    return text


async def run(server: Served, command: str, **params: object) -> Json:
    result: Json = await server.editor.execute(f"turnbuckle.{command}", params)
    return result


def said(model: Scripted, request: int) -> list[str]:
    messages = model.requests[request].messages
    return [message.content for message in messages if isinstance(message, UserMessage)]


# The conversation as a document that grows.


async def test_the_conversation_grows_in_a_document_of_ours(tmp_path: Path) -> None:
    slowly = Slowly()
    async with served(Scripted([slowly, say("More.")]), tmp_path, capabilities=VIRTUAL) as server:
        asked = await server.editor.ask("Tell me: all!")
        uri = await shown(server)
        assert uri == f"turnbuckle-session:/{asked['sessionId']}/Tell-me-all.md"
        text = await read_until(server, uri, "The first half")
        assert text == "# Tell me: all!\n\n> Tell me: all!\n\nThe first half\n"
        slowly.on.set()
        text = await read_until(server, uri, "and the other.")
        assert text.endswith("The first half and the other.\n")
        # The next question is in the same one; no file was written for it.
        await server.editor.ask("And?")
        assert await shown(server, 2) == uri
        await read_until(server, uri, "> And?\n\nMore.")
        assert not (server.state / "shown").exists()


async def test_while_a_client_does_not_answer_refreshes_do_not_pile_up(tmp_path: Path) -> None:
    slowly = Slowly()
    async with served(Scripted([slowly]), tmp_path, capabilities=VIRTUAL) as server:
        asked, free = anyio.Event(), anyio.Event()
        count = 0

        async def refresh(_: object) -> None:
            nonlocal count
            count += 1
            asked.set()
            await free.wait()

        server.client.on_request(REFRESH, refresh)
        await server.editor.ask("Go")
        uri = await shown(server)
        await content(server, uri)
        await asked.wait()
        slowly.on.set()
        session = server.opened(uri.split("/")[1])
        await session.driver.idle()
        assert count == 1
        free.set()


async def test_a_client_that_cannot_read_again_gets_a_file_at_the_end(tmp_path: Path) -> None:
    slowly = Slowly()
    async with served(Scripted([slowly]), tmp_path, capabilities=VIRTUAL) as server:
        refused = anyio.Event()

        async def refresh(_: object) -> None:
            refused.set()
            raise Refused("no such method", code=METHOD_NOT_FOUND)

        server.client.on_request(REFRESH, refresh)
        await server.editor.ask("Go")
        uri = await shown(server)
        assert uri.startswith("turnbuckle-session:")
        await content(server, uri)
        await refused.wait()
        await server.client.request("turnbuckle/models", {})  # so that the refusal has come
        slowly.on.set()
        path = path_of(await shown(server, 2))
        assert path is not None
        assert path.read_text(encoding="utf-8").endswith("The first half and the other.\n")


async def test_a_document_of_a_closed_session_is_gone(tmp_path: Path) -> None:
    async with served(Scripted([say("x")]), tmp_path, capabilities=VIRTUAL) as server:
        asked = await server.editor.ask("Go")
        uri = await shown(server)
        await read_until(server, uri, "x")
        await server.client.request("turnbuckle/session/close", {"sessionId": asked["sessionId"]})
        assert await content(server, uri) == "This is not there any more.\n"


async def test_the_transcript_can_be_shown_again(tmp_path: Path) -> None:
    async with served(Scripted([say("x"), say("y")]), tmp_path) as server:
        assert (await run(server, "showTranscript"))["outcome"] == "nothing"
        asked = await server.editor.ask("Go")
        await shown(server)
        assert await run(server, "showTranscript") == {"outcome": "shown", "message": ""}
        await shown(server, 2)
        # Of several, it is the one that commands go on in; any other by its id.
        other = await server.open()
        await server.turn(other, "Elsewhere")
        assert asked["sessionId"] in await shown(server)
        assert (await run(server, "showTranscript", sessionId=other))["outcome"] == "shown"
        assert other in await shown(server, 3)
        assert (await run(server, "showTranscript", sessionId="none"))["outcome"] == "nothing"


async def test_of_several_sessions_one_has_to_be_named(tmp_path: Path) -> None:
    model = Scripted([ModelRefused("auth", "no")] * 2)
    async with served(model, tmp_path) as server:
        ids = [await server.open() for _ in range(2)]
        for session_id in ids:
            await server.turn(session_id, f"In {session_id}")
        for command in ("showTranscript", "resume"):
            outcome = await run(server, command)
            assert outcome["outcome"] == "ambiguous"
            assert all(session_id in outcome["message"] for session_id in ids)


# Which session is gone on in.


async def test_a_new_session_begins_with_what_is_asked_next(tmp_path: Path) -> None:
    model = Scripted([say("one"), say("two")])
    async with served(model, tmp_path) as server:
        first = await server.editor.ask("a")
        await shown(server)
        new = await run(server, "newSession")
        assert new["outcome"] == "opened"
        assert new["sessionId"] != first["sessionId"]
        # One in which nothing was said yet is not left behind.
        assert (await run(server, "newSession"))["sessionId"] == new["sessionId"]
        assert (await server.editor.ask("b"))["sessionId"] == new["sessionId"]
        await shown(server, 2)
        assert said(model, 1) == ["b"]


async def test_a_turn_that_was_broken_off_is_gone_on_with(tmp_path: Path) -> None:
    model = Scripted([ModelRefused("auth", "The key is wrong."), say("done")])
    async with served(model, tmp_path) as server:
        assert (await run(server, "resume"))["outcome"] == "nothing"
        asked = await server.editor.ask("a")
        await shown(server)
        resumed = await run(server, "resume")
        assert resumed == {"outcome": "resumed", "message": "", "sessionId": asked["sessionId"]}
        await shown(server, 2)
        assert said(model, 1)[-1].startswith("Go on with what was interrupted.")
        # There is nothing more to resume.
        assert (await run(server, "resume"))["outcome"] == "nothing"


async def test_after_a_restart_the_last_session_of_the_folder_is_gone_on_with(
    tmp_path: Path,
) -> None:
    async with served(Scripted([say("one")]), tmp_path) as server:
        asked = await server.editor.ask("a")
        await shown(server)
    model = Scripted([say("two")])
    async with served(model, tmp_path) as server:
        chosen = await run(server, "resume")
        assert (chosen["outcome"], chosen["sessionId"]) == ("chosen", asked["sessionId"])
        assert server.editor.screen.messages == ["Turnbuckle: what is asked now goes on in “a”"]
        assert (await server.editor.ask("b"))["sessionId"] == asked["sessionId"]
        await shown(server)
        assert said(model, 0) == ["a", "b"]


async def test_a_session_is_gone_on_with_by_its_id(tmp_path: Path) -> None:
    async with served(Scripted([say("one"), say("two")]), tmp_path) as server:
        first = await server.editor.ask("a")
        await shown(server)
        await run(server, "newSession")
        chosen = await run(server, "resume", sessionId=first["sessionId"])
        assert chosen["outcome"] == "chosen"
        assert (await server.editor.ask("b"))["sessionId"] == first["sessionId"]
        assert (await run(server, "resume", sessionId="none"))["outcome"] == "refused"


async def test_what_is_not_an_id_is_refused(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        for command in ("resume", "showTranscript"):
            with pytest.raises(ServerRefused, match="sessionId"):
                await run(server, command, sessionId=7)
