"""A secret in what the person types is neither kept nor sent, and they are told so."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.cli.history import History
from turnbuckle.lsp import names
from turnbuckle.session.export import as_json, as_markdown, head_of
from turnbuckle.session.reading import load, session_files
from turnbuckle.session.redacting import redacted
from turnbuckle.session.verification import verify_file
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served

TOKEN = "ghp" + "_" + "Ab3dE5gH1jK2mN4pQ6rS7tU8vW9xY0zA1bC2"
HELD = "held-key-0123456789"
PLACEHOLDER = "[redacted: GitHub token]"


def kept(state: Path) -> bytes:
    """Every byte of the state folder."""
    return b"".join(path.read_bytes() for path in sorted(state.rglob("*")) if path.is_file())


def notes(server: Served) -> list[str]:
    """What the person was told beside the conversation."""
    return [note["text"] for note in server.facts("status") if "taken out" in note["text"]]


async def test_a_secret_in_a_message_is_neither_kept_nor_sent_and_the_rest_is(
    tmp_path: Path,
) -> None:
    model = Scripted([say("I see a placeholder.")])
    async with served(model, tmp_path, events=True) as server:
        session_id = await server.open()
        await server.watch(session_id)
        await server.turn(session_id, f"push with {TOKEN}, please")
        (added,) = server.facts("inbox/added")
        assert added["input"] == f"push with {PLACEHOLDER}, please"
        assert server.facts("user/message")[-1]["content"] == added["input"]
        (said,) = notes(server)
        assert said.endswith(f"is neither kept nor sent: {PLACEHOLDER}")
        (message,) = server.editor.screen.messages
        assert "a secret was taken out of your message" in message
    assert TOKEN not in repr(model.requests)
    assert TOKEN.encode() not in kept(tmp_path / "state")
    (path,) = session_files(tmp_path / "state")
    assert verify_file(path).ok
    stored = load(path)
    assert TOKEN not in as_markdown(head_of("s", stored), stored.entries)
    assert TOKEN.encode() not in as_json(head_of("s", stored), stored.lines)


async def test_so_it_is_in_what_is_pointed_at_and_in_a_message_that_is_changed(
    tmp_path: Path,
) -> None:
    gate = Scripted([say("one"), say("two")])
    env = {"OPENAI_API_KEY": HELD}
    async with served(gate, tmp_path, events=True, env=env) as server:
        session_id = await server.open()
        await server.watch(session_id)
        context = [{"kind": "terminal", "text": f"$ echo {TOKEN} {HELD}"}]
        await server.turn(session_id, "what is that?", context=context)
        (added,) = server.facts("inbox/added")
        assert added["context"][0]["text"] == f"$ echo {PLACEHOLDER} [redacted: key]"
        opened = server.opened(session_id)
        opened.agent.inbox.add("later", "first", target="turn")
        params: dict[str, Any] = {"sessionId": session_id, "key": "later"}
        params["input"] = [{"type": "text", "text": f"now {TOKEN}"}]
        await server.client.request(names.INBOX_EDIT, params)
        assert (await server.fact("inbox/changed"))["input"] == f"now {PLACEHOLDER}"
        assert len(notes(server)) == 2
    assert TOKEN.encode() not in kept(tmp_path / "state")
    assert HELD.encode() not in kept(tmp_path / "state")


async def test_so_it_is_in_notes_and_answers_to_questions(tmp_path: Path) -> None:
    model = Scripted(
        [
            say("", ("c1", "run_command", {"command": "true"})),
            say("", ("c2", "ask_user", {"question": "Which token?"})),
            say("done"),
        ]
    )
    async with served(model, tmp_path, events=True) as server:
        session_id = await server.open()
        await server.watch(session_id)
        question = server.send(session_id, "go")
        asked = await server.fact("approval/asked")
        await server.approve(asked["approvalId"], decision="reject", note=f"use {TOKEN}")
        asked = await server.fact("approval/asked", 2)
        await server.approve(asked["approvalId"], answer=f"it is {TOKEN}")
        await server.answer(question)
        decided = server.facts("approval/decided")
        assert decided[0]["note"] == f"use {PLACEHOLDER}"
        assert decided[1]["answer"] == f"it is {PLACEHOLDER}"
    assert TOKEN not in repr(model.requests)
    assert TOKEN.encode() not in kept(tmp_path / "state")


@pytest.mark.parametrize("key", ["not-needed", "lm-studio", "password"])
async def test_a_key_that_is_an_ordinary_word_tears_no_holes(key: str, tmp_path: Path) -> None:
    env = {"TURNBUCKLE_API_KEY": key, "TURNBUCKLE_BASE_URL": "http://127.0.0.1:9/v1"}
    env["TURNBUCKLE_MODEL"] = "m"
    async with served(Scripted([say("ok")]), tmp_path, events=True, env=env) as server:
        session_id = await server.open()
        await server.watch(session_id)
        await server.turn(session_id, f"rename {key} to other")
        assert server.facts("inbox/added")[0]["input"] == f"rename {key} to other"


async def test_who_turned_it_off_keeps_their_words(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("redact = false\n")
    async with served(Scripted([say("ok")]), tmp_path, events=True) as server:
        session_id = await server.open()
        await server.watch(session_id)
        await server.turn(session_id, f"push with {TOKEN}")
        assert TOKEN in server.facts("inbox/added")[0]["input"]
        assert notes(server) == []


@given(st.text(max_size=200))
def test_words_without_a_secret_stay_the_same_object(text: str) -> None:
    assert redacted(text, [HELD]) is text or "[redacted: " in redacted(text, [HELD])


def test_the_history_of_the_terminal_client_keeps_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", HELD)
    history = History(tmp_path)
    history.add(f"push with {TOKEN} and {HELD}")
    assert history.load() == [f"push with {PLACEHOLDER} and [redacted: key]"]
    assert TOKEN.encode() not in kept(tmp_path)
