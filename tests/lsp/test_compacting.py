"""`turnbuckle/session/compact`: what an editor gets, and what it sees of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from turnbuckle.lsp import names
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.lives import SessionCompactResult, SessionParams
from turnbuckle.lsp.rpc import CANCELLED
from turnbuckle.model.port import Emit, ModelRefused, Reply, Request
from turnbuckle.testing.scripted import Scripted, Step, say
from turnbuckle.testing.served import Served, served

LONG = say("word " * 9000)


async def talk(server: Served, prompts: Sequence[str] = ("speak", "again")) -> str:
    """A session with an old, long part, watched by the editor."""
    session_id = await server.open()
    await server.watch(session_id)
    for prompt in prompts:
        await server.turn(session_id, prompt)
    return session_id


async def compact(server: Served, session_id: str) -> SessionCompactResult:
    with anyio.fail_after(10):
        answer = await server.client.request(
            names.SESSION_COMPACT, SessionParams(session_id=session_id)
        )
    return SessionCompactResult.model_validate(answer.model_dump())


def texts(server: Served) -> list[str]:
    return [note["text"] for note in server.facts("status")]


async def test_the_older_part_is_summed_up_and_the_person_sees_it(tmp_path: Path) -> None:
    model = Scripted([LONG, say("2"), say("They said words."), say("3")], window=20_000)
    async with served(model, tmp_path, events=True) as server:
        session_id = await talk(server)
        done = await compact(server, session_id)
        assert done.outcome == "compacted"
        assert done.after < done.before
        assert f"{done.after:,}" in done.message
        # The answer never overtakes its events.
        [summary] = server.facts("context/summary")
        assert summary["text"].endswith("They said words.")
        assert server.facts("turn/end")[-1] == {"turn": 3, "end": {"kind": "completed"}}
        assert any("summing up the older part" in text for text in texts(server))
        ended = await server.turn(session_id, "go on")
        assert ended.turn == 4
    assert [request.why for request in model.requests] == [None, None, "compaction", None]


async def test_where_there_is_nothing_to_do_no_turn_is_made(tmp_path: Path) -> None:
    model = Scripted([say("1")], window=20_000)
    async with served(model, tmp_path) as server:
        session_id = await server.open()
        assert (await compact(server, session_id)).outcome == "nothing"
        await server.turn(session_id, "hi")
        seq = server.opened(session_id).session.log.seq
        done = await compact(server, session_id)
        assert done.outcome == "nothing"
        assert done.message == "there is nothing that could be left out"
        assert server.opened(session_id).session.log.seq == seq


async def test_a_model_that_fails_is_told_and_changes_nothing(tmp_path: Path) -> None:
    no: list[Step] = [ModelRefused("auth", "no such key")] * 2
    async with served(Scripted([LONG, say("2"), *no], window=20_000), tmp_path) as server:
        session_id = await talk(server)
        done = await compact(server, session_id)
        assert (done.outcome, done.message) == ("nothing", "no such key")
        assert done.after == done.before


async def refused(server: Served, session_id: str) -> Any:  # Any: the data of an error
    with anyio.fail_after(10), pytest.raises(ServerRefused) as caught:
        await compact(server, session_id)
    return caught.value


async def test_it_is_refused_while_a_turn_runs(tmp_path: Path) -> None:
    begun, gate = anyio.Event(), anyio.Event()

    async def wait(_: Request, __: Emit) -> Reply:
        begun.set()
        await gate.wait()
        return say("done")

    async with served(Scripted([LONG, say("2"), wait], window=20_000), tmp_path) as server:
        session_id = await talk(server)
        running = server.send(session_id, "go")
        await begun.wait()
        assert (await refused(server, session_id)).data["kind"] == "busy"
        gate.set()
        await server.answer(running)


async def test_an_unknown_session_is_refused(tmp_path: Path) -> None:
    async with served(Scripted([]), tmp_path) as server:
        assert (await refused(server, "nowhere")).data["kind"] == "sessionNotFound"


async def test_it_can_be_cancelled_by_its_request_and_by_its_turn(tmp_path: Path) -> None:
    for how in ("request", "turn"):
        begun = anyio.Event()

        async def silent(_: Request, __: Emit, begun: anyio.Event = begun) -> Reply:
            begun.set()
            await anyio.sleep_forever()
            raise AssertionError

        model = Scripted([LONG, say("2"), silent, say("3")], window=20_000)
        async with served(model, tmp_path / how, events=True) as server:
            session_id = await talk(server)
            question = server.client.ask(names.SESSION_COMPACT, {"sessionId": session_id})
            with anyio.fail_after(10):
                await begun.wait()
                if how == "request":
                    question.cancel()
                else:
                    server.client.ask(names.CANCEL, {"sessionId": session_id})
                with pytest.raises(ServerRefused) as caught:
                    await question.answer()
            assert caught.value.code == CANCELLED
            end = await server.fact("turn/end", 3)
            assert end["end"] == {"kind": "aborted", "cause": "user"}
            assert not server.facts("context/summary")
            assert (await server.turn(session_id, "go on")).end["kind"] == "completed"


async def test_in_an_untrusted_workspace_nothing_is_asked(tmp_path: Path) -> None:
    options = {"turnbuckle": {"trusted": False}}
    async with served(Scripted([]), tmp_path, options=options) as server:
        session_id = await server.open()
        kind = (await refused(server, session_id)).data["kind"]
        assert kind == "untrusted"


async def test_a_running_server_makes_room_by_itself(tmp_path: Path) -> None:
    talk_of: list[Step] = [say("word " * 4000)] * 3
    model = Scripted([*talk_of, say("They said words."), say("done")], window=20_000)
    async with served(model, tmp_path, events=True) as server:
        session_id = await talk(server, ("a", "b", "c"))
        assert not server.facts("context/summary")
        ended = await server.turn(session_id, "go on")
        assert ended.end == {"kind": "completed"}
        assert len(server.facts("context/summary")) == 1
        # Each client still sees all that was said.
        assert [fact["content"] for fact in server.facts("assistant/message")] == [
            *["word " * 4000] * 3, "done",
        ]  # fmt: skip
    assert [request.why for request in model.requests] == [None] * 3 + ["compaction", None]
