"""Pictures that a person shows: on disk before they are named, and taken for nothing else."""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pytest

from turnbuckle.lsp import names
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.pictures import LIMIT, MOST
from turnbuckle.lsp.rpc import INVALID_PARAMS
from turnbuckle.model.openai_chat import OpenAIChat
from turnbuckle.session.blobs import blobs_of
from turnbuckle.session.events import UserMessage
from turnbuckle.session.parts import Image
from turnbuckle.session.rebuild import verify
from turnbuckle.testing.completions import answer, failure
from turnbuckle.testing.modelserver import ModelServer
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served

# Any: values on the wire are JSON.
Json = dict[str, Any]

PNG = b"\x89PNG\r\n\x1a\n" + b"the rest of it"
DIGEST = sha256(PNG).hexdigest()


def text(said: str) -> Json:
    return {"type": "text", "text": said}


def image(data: bytes = PNG, mime_type: str = "image/png") -> Json:
    return {"type": "image", "mimeType": mime_type, "data": b64encode(data).decode()}


def lines(server: Served) -> list[bytes]:
    """The stored lines of the only session."""
    (log,) = (server.state / "sessions").glob("**/*.jsonl")
    return log.read_bytes().splitlines(keepends=True)


async def refused(server: Served, session_id: str, *parts: Json) -> str:
    with pytest.raises(ServerRefused) as caught:
        await server.turn(session_id, "", input=list(parts))
    assert caught.value.code == INVALID_PARAMS
    return str(caught.value)


async def test_a_picture_is_kept_by_its_digest_and_stands_before_the_words(tmp_path: Path) -> None:
    model = Scripted([say("A red button.")])
    async with served(model, tmp_path) as server:
        session_id = await server.open()
        await server.turn(session_id, "", input=[text("What is"), image(), text("this?")])
        shown, said = model.requests[0].messages
        assert isinstance(shown, UserMessage)
        assert shown.image == Image(digest=DIGEST, mime_type="image/png", size=len(PNG))
        assert isinstance(said, UserMessage)
        assert (said.content, said.image) == ("What is\n\nthis?", None)
        assert (server.state / "blobs" / DIGEST).read_bytes() == PNG
        assert b64encode(PNG) not in b"".join(lines(server))


async def test_a_picture_alone_is_a_message(tmp_path: Path) -> None:
    model = Scripted([say("A red button.")])
    async with served(model, tmp_path) as server:
        session_id = await server.open()
        assert (await server.turn(session_id, "", input=[image()])).end == {"kind": "completed"}
        listed = await server.client.request(names.SESSION_LIST, {})
        assert [one.session_id for one in listed.sessions] == [session_id]


async def test_what_was_shown_before_is_shown_again_by_its_digest(tmp_path: Path) -> None:
    model = Scripted([say("one"), say("two")])
    again = {"type": "image", "digest": DIGEST}
    async with served(model, tmp_path) as server:
        session_id = await server.open()
        assert "was shown no image of that digest" in await refused(server, session_id, again)
        await server.turn(session_id, "", input=[text("first"), image()])
        await server.turn(session_id, "", input=[text("second"), again])
        images = [m.image for m in model.requests[1].messages if isinstance(m, UserMessage)]
        assert images[0] is not None
        assert images == [images[0], None, images[0], None]


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (image(b"GIF89a"), "the data is not image/png"),
        (image(b"RIFF....AVI ", "image/webp"), "the data is not image/webp"),
        (image(b""), "the data is not image/png"),
        (image(mime_type="image/svg+xml"), "mimeType"),
        (image() | {"data": "no base64!"}, "data is not base64"),
        (image() | {"data": "é"}, "data is not base64"),
        (image(PNG + bytes(LIMIT)), "at most 5 MiB"),
        ({"type": "image"}, "give either data or digest"),
        (image() | {"digest": DIGEST}, "give either data or digest"),
        ({"type": "image", "data": "AAAA"}, "give mimeType with data"),
        ({"type": "video", "data": "AAAA"}, "input"),
    ],
    ids=str,
)
async def test_what_is_no_picture_is_refused_and_nothing_is_kept(
    tmp_path: Path, part: Json, why: str
) -> None:
    async with served(Scripted([]), tmp_path) as server:
        session_id = await server.open()
        assert why in await refused(server, session_id, text("look"), part)
        assert not (server.state / "blobs").exists()


async def test_a_message_has_so_many_pictures_at_most(tmp_path: Path) -> None:
    async with served(Scripted([say("Many.")]), tmp_path) as server:
        session_id = await server.open()
        await server.turn(session_id, "", input=[image()] * MOST)
        assert "at most" in await refused(server, session_id, *[image()] * (MOST + 1))


async def test_a_picture_that_cannot_be_kept_is_not_sent(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        session_id = await server.open()
        server.state.mkdir(exist_ok=True)
        (server.state / "blobs").write_text("a file stands where the folder should be")
        with pytest.raises(ServerRefused, match="could not be kept") as caught:
            await server.turn(session_id, "", input=[text("look"), image()])
        assert caught.value.data == {"kind": "store", "retryable": True}


async def test_a_provider_gets_the_bytes_and_a_blind_one_words_and_both_can_be_proven(
    tmp_path: Path,
) -> None:
    blind = failure(500, {"message": "image input is not supported"})
    async with ModelServer([answer("Red."), answer("Still red."), blind, answer("?")]) as provider:
        model = OpenAIChat(provider.url, blobs=blobs_of(tmp_path / "state"))
        async with served(model, tmp_path) as server:
            assert server.state == tmp_path / "state"
            session_id = await server.open()
            await server.turn(session_id, "", input=[text("What is this?"), image()])
            await server.turn(session_id, "And now?")
            await server.turn(session_id, "And now?")
            stored = lines(server)
        await model.aclose()
        first, second, refusal, last = (received.json["messages"] for received in provider.requests)
    url = {"url": f"data:image/png;base64,{b64encode(PNG).decode()}"}
    assert {"type": "image_url", "image_url": url} in first[-1]["content"]
    assert second[: len(first)] == first
    assert refusal[: len(first)] == first
    assert "you take no images" in next(m for m in last if m["role"] == "user")["content"]
    assert [orjson.loads(line)["type"] for line in stored].count("llm/stream") == 3
    assert list(verify(iter(stored))) == [(1, True), (2, True), (3, True)]
