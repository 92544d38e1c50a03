"""A session that begins as another one did, up to the end of a turn."""

from collections.abc import Iterator
from pathlib import Path

import anyio
import orjson
import pytest

from turnbuckle.agent.forking import BadBoundary
from turnbuckle.agent.inbox import Ended
from turnbuckle.agent.opening import SessionNotFound, SessionUnreadable, find_session
from turnbuckle.model.port import Delta, Emit, Reply, Request
from turnbuckle.session import codec, logfiles
from turnbuckle.session.events import GrantAdded, GrantRevoked, InboxDropped, UserMessage
from turnbuckle.session.rebuild import verify
from turnbuckle.session.store import StoreFailed, read_lines
from turnbuckle.testing.agents import driven
from turnbuckle.testing.scripted import Scripted, say


def lines_of(folder: Path, session_id: str) -> list[bytes]:
    return read_lines(find_session(folder / "state", session_id))[0]


def logs(folder: Path) -> list[Path]:
    return sorted((folder / "state").glob("sessions/**/*"))


def up_to(lines: list[bytes], turn: int) -> list[bytes]:
    """The lines up to the end of a turn."""
    for number, line in enumerate(lines, 1):
        record = orjson.loads(line)
        if record["type"] == "turn/end" and record["data"]["turn"] == turn:
            return lines[:number]
    return lines[:1]


async def three_turns(folder: Path) -> str:
    async with driven(Scripted([say("a"), say("b"), say("c")]), folder) as session:
        for prompt in ("one", "two", "three"):
            await session.say(prompt)
        return session.opened.session.id


def said(request: Request) -> list[str]:
    return [getattr(message, "content", "") for message in request.messages]


async def goes_on(folder: Path, child: str, before: list[str], turn: int) -> None:
    """The child takes a turn of its own, behind what it began with."""
    model = Scripted([say("and on")])
    async with driven(model, folder, session_id=child) as session:
        session.prompts = 100
        end = await session.say("mine")
        assert isinstance(end, Ended)
        assert (end.turn, end.end.kind) == (turn, "completed")
    assert said(model.requests[0]) == [*before, "mine"]
    lines = lines_of(folder, child)
    assert [codec.parse(line).seq for line in lines] == list(range(len(lines)))
    assert all(same for _, same in verify(iter(lines)))


HISTORY = ["one", "a", "two", "b", "three", "c"]


@pytest.mark.parametrize("turn", [0, 1, 2, 3])
@pytest.mark.parametrize("live", [True, False])
async def test_fork_works_at_any_turns_end_of_live_and_of_closed_sessions(
    tmp_path: Path, turn: int, live: bool
) -> None:
    parent = await three_turns(tmp_path)
    before = lines_of(tmp_path, parent)
    async with driven(Scripted([]), tmp_path, session_id=parent) as session:
        if not live:
            await session.sessions.close(parent)
        child = await session.sessions.fork(parent, turn)
    assert lines_of(tmp_path, parent) == before
    first, *rest = lines_of(tmp_path, child)
    assert rest == up_to(before, turn)[1:]
    assert orjson.loads(first)["data"] == {"version": 1, "id": child, "parent": parent}
    await goes_on(tmp_path, child, HISTORY[: 2 * turn], turn + 1)


async def test_a_fork_works_in_the_same_folder(tmp_path: Path) -> None:
    async with driven(Scripted([say("a")]), tmp_path) as session:
        opened = await session.sessions.open(cwd="file:///somewhere")
        child = await session.sessions.open(await session.sessions.fork(opened.session.id, 0))
        assert child.session.created.cwd == "file:///somewhere"
        assert child.session.created.parent == opened.session.id


async def test_a_session_without_a_fact_can_only_be_forked_at_its_beginning(
    tmp_path: Path,
) -> None:
    async with driven(Scripted([]), tmp_path) as session:
        empty = session.opened.session.id
        with pytest.raises(BadBoundary):
            await session.sessions.fork(empty, 1)
        assert logs(tmp_path) == []
        child = await session.sessions.fork(empty, 0)
    await goes_on(tmp_path, child, [], 1)


async def test_what_waits_in_the_parent_and_what_was_allowed_there_is_not_inherited(
    tmp_path: Path,
) -> None:
    begun, go = anyio.Event(), anyio.Event()

    async def held(_: Request, emit: Emit) -> Reply:
        emit(Delta(text="so"))
        begun.set()
        await go.wait()
        return say("so far")

    async with driven(Scripted([held, say("b"), say("c")]), tmp_path) as session:
        session.send("one")
        await begun.wait()
        session.opened.session.append(GrantAdded(grant_id="g", subject={"kind": "command"}))
        session.send("two")
        session.send("three")
        go.set()
        await session.opened.driver.idle()
        parent = session.opened.session.id
        child = await session.sessions.fork(parent, 1)
        facts = [codec.parse(line).fact for line in lines_of(tmp_path, child)]
        assert facts[-2:] == [
            InboxDropped(keys=("p2", "p3"), why="forked"),
            GrantRevoked(grant_id="g"),
        ]
        opened = await session.sessions.open(child)
        assert opened.agent.inbox.waiting == ()
        await opened.driver.idle()
        entered = [f for f in facts if isinstance(f, UserMessage)]
        assert [message.content for message in entered] == ["one"]
        await session.sessions.close(child)
    await goes_on(tmp_path, child, ["one", "so far"], 2)


async def test_a_turn_that_runs_or_does_not_exist_is_no_boundary_and_creates_nothing(
    tmp_path: Path,
) -> None:
    begun = anyio.Event()

    async def never(_: Request, emit: Emit) -> Reply:
        begun.set()
        await anyio.sleep_forever()
        raise AssertionError

    async with driven(Scripted([say("a"), never]), tmp_path) as session:
        await session.say("one")
        session.send("two")
        await begun.wait()
        before = logs(tmp_path)
        with pytest.raises(BadBoundary, match="turn 2 is not over"):
            await session.sessions.fork(session.opened.session.id, 2)
        with pytest.raises(BadBoundary, match="no turn 3"):
            await session.sessions.fork(session.opened.session.id, 3)
        with pytest.raises(SessionNotFound):
            await session.sessions.fork("20260101-000000-00000000", 1)
        assert logs(tmp_path) == before
        child = await session.sessions.fork(session.opened.session.id, 1)
    await goes_on(tmp_path, child, ["one", "a"], 2)


async def test_a_damaged_session_can_be_forked_at_its_last_good_turn(tmp_path: Path) -> None:
    parent = await three_turns(tmp_path)
    path = find_session(tmp_path / "state", parent)
    lines, _ = read_lines(path)
    at = len(up_to(lines, 2)) + 2
    path.write_bytes(b"".join([*lines[:at], b"rubbish\n", *lines[at + 1 :]]))
    raw = path.read_bytes()
    for opens in (True, False):
        async with driven(Scripted([]), tmp_path, session_id=parent) as session:
            assert session.opened.read_only
            if not opens:
                await session.sessions.close(parent)
            with pytest.raises(BadBoundary, match=f"line {at + 1} is damaged"):
                await session.sessions.fork(parent, 3)
            child = await session.sessions.fork(parent, 2)
        await goes_on(tmp_path, child, HISTORY[:4], 3)
    assert path.read_bytes() == raw


async def test_a_session_of_a_newer_version_is_not_forked(tmp_path: Path) -> None:
    parent = await three_turns(tmp_path)
    path = find_session(tmp_path / "state", parent)
    path.write_bytes(path.read_bytes().replace(b'"version":1', b'"version":2', 1))
    before = logs(tmp_path)
    async with driven(Scripted([]), tmp_path) as session:
        with pytest.raises(SessionUnreadable, match="newer version"):
            await session.sessions.fork(parent, 1)
    assert logs(tmp_path) == before


async def test_a_fork_of_a_fork_of_a_rewound_session_is_what_it_was(tmp_path: Path) -> None:
    parent = await three_turns(tmp_path)
    async with driven(Scripted([]), tmp_path, session_id=parent) as session:
        child = await session.sessions.fork(parent, 3)
        grandchild = await session.sessions.fork(child, 2)
        opened = await session.sessions.open(grandchild)
        assert opened.session.created.parent == child
        await session.sessions.close(grandchild)
    await goes_on(tmp_path, grandchild, HISTORY[:4], 3)


def test_a_kill_in_the_middle_leaves_nothing_that_lists_or_opens(tmp_path: Path) -> None:
    class Killed(BaseException):
        pass

    class Dying(list[bytes]):
        def __iter__(self) -> Iterator[bytes]:
            yield b'{"seq":0}\n'
            # What a kill would leave is what is on disk now.
            names.extend(p.name for p in tmp_path.iterdir())
            raise Killed

    names: list[str] = []
    with pytest.raises(Killed):
        logfiles.write_log(tmp_path / "s.jsonl", Dying([b""]))
    assert len(names) == 1
    assert not names[0].endswith(".jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_child_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreFailed, match="make room or check"):
        logfiles.write_log(tmp_path / "file" / "s.jsonl", [b"x\n"])
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
