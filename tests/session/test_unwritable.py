"""State that cannot be written: what is there is shown, what is wrong is said, nothing is lost."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from turnbuckle.lsp.client import ServerRefused
from turnbuckle.session.codec import parse
from turnbuckle.session.events import AssistantMessage, TurnEnd
from turnbuckle.session.store import read_lines
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served

posix = pytest.mark.skipif(os.name == "nt", reason="needs limits of a process")


async def began(folder: Path) -> tuple[str, Path]:
    """A session with one turn that another server wrote, and its file."""
    async with served(Scripted([say("the first answer")]), folder) as server:
        session_id = await server.open()
        await server.turn(session_id, "go")
    (path,) = (folder / "state" / "sessions").glob(f"**/{session_id}.jsonl")
    return session_id, path


async def is_shown(server: Served, session_id: str) -> None:
    """It opens to be read, with all that is in it."""
    opened = await server.client.request("turnbuckle/session/open", {"sessionId": session_id})
    assert opened.read_only
    assert opened.damaged is None
    await server.watch(session_id)
    assert (await server.fact("assistant/message"))["content"] == "the first answer"


async def is_refused(server: Served, session_id: str) -> None:
    """A message is refused with what to do, and nothing is asked of a model."""
    with pytest.raises(ServerRefused) as caught:
        await server.turn(session_id, "next", key="n")
    data = caught.value.data
    assert isinstance(data, dict)
    assert data["kind"] == "store"
    assert data["retryable"]
    assert "Make room or check the folder, then send the message again" in str(caught.value)


async def goes_on(server: Served, session_id: str, path: Path) -> None:
    """It is written again, behind what was there, and no fact is lost or doubled."""
    assert (await server.turn(session_id, "next", key="n")).end == {"kind": "completed"}
    lines, torn = read_lines(path)
    assert not torn
    entries = [parse(line) for line in lines]
    assert [entry.seq for entry in entries] == list(range(len(lines)))
    said = [e.fact.content for e in entries if isinstance(e.fact, AssistantMessage)]
    assert said == ["the first answer", "the second answer"]
    assert len([e for e in entries if isinstance(e.fact, TurnEnd)]) == 2


async def test_a_session_that_may_not_be_written_is_opened_to_be_read(tmp_path: Path) -> None:
    session_id, path = await began(tmp_path)
    before = path.read_bytes()
    lock = path.with_name(f"{path.name}.lock")
    lock.unlink(missing_ok=True)
    lock.mkdir()  # nobody can take the lock, as in a folder that is read-only
    async with served(Scripted([say("the second answer")]), tmp_path) as server:
        await is_shown(server, session_id)
        await is_refused(server, session_id)
        assert path.read_bytes() == before
        lock.rmdir()
        await goes_on(server, session_id, path)


@contextmanager
def no_room() -> Iterator[None]:
    """Nothing can be written to any file."""
    import resource  # not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@posix
async def test_a_torn_tail_that_there_is_no_room_to_keep_stays_where_it_is(tmp_path: Path) -> None:
    session_id, path = await began(tmp_path)
    with path.open("ab") as file:
        file.write(b'{"seq":99,"ty')
    before = path.read_bytes()
    async with served(Scripted([say("the second answer")]), tmp_path) as server:
        with no_room():
            await is_shown(server, session_id)
            await is_refused(server, session_id)
            assert path.read_bytes() == before
            assert not list(path.parent.glob("*.torn-*"))
        await goes_on(server, session_id, path)
        (aside,) = path.parent.glob("*.torn-*")
        assert aside.read_bytes() == b'{"seq":99,"ty'


async def test_where_no_state_can_be_kept_the_server_lives_and_says_so(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.write_text("in the way")
    model = Scripted([say("the answer")])
    async with served(model, tmp_path) as server:
        listed = await server.client.request("turnbuckle/session/list", {})
        assert not listed.sessions
        session_id = await server.open()
        end = (await server.turn(session_id, "one")).end
        assert end["failure"]["kind"] == "store"
        assert str(state) in end["failure"]["message"]
        assert "Make room or check the folder" in end["failure"]["message"]
        assert not model.requests
        with pytest.raises(ServerRefused):
            await server.open("20260101-000000-abcdef01")
        state.unlink()
        assert (await server.turn(session_id, "two")).end == {"kind": "completed"}
        (path,) = (state / "sessions").glob(f"**/{session_id}.jsonl")
        stored = [parse(line).fact for line in read_lines(path)[0]]
        live = [entry.fact for entry in server.opened(session_id).session.log.entries]
    assert stored == live[: len(stored)]
    assert [f for f in stored if isinstance(f, TurnEnd)] == [
        f for f in live if isinstance(f, TurnEnd)
    ]
