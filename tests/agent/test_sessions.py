"""The life of a session: what is on disk when, damage, a second process, titles, deleting."""

import subprocess
import sys
from pathlib import Path

import pytest

from turnbuckle.agent.inbox import Ended
from turnbuckle.agent.sessions import (
    OpenSession,
    SessionNotFound,
    SessionUnreadable,
)
from turnbuckle.session import codec
from turnbuckle.session.events import (
    Fact,
    InboxAdded,
    SessionTitle,
    TurnEnd,
)
from turnbuckle.session.recovery import closing
from turnbuckle.session.session import ReadOnly
from turnbuckle.session.store import Locked, read_lines, sync_data
from turnbuckle.testing.agents import driven
from turnbuckle.testing.scripted import Scripted, say


def files(folder: Path) -> list[str]:
    return sorted(p.name for p in (folder / "state").rglob("*") if p.is_file())


def log_of(folder: Path) -> Path:
    (path,) = (folder / "state" / "sessions").glob("**/*.jsonl")
    return path


def is_written(opened: OpenSession) -> bool:
    return not opened.read_only


def ended(end: object) -> str:
    assert isinstance(end, Ended)
    return end.end.kind


async def a_turn(folder: Path, *prompts: str) -> str:
    """A session with a turn for each prompt; gives its id."""
    async with driven(Scripted([say("yes")] * len(prompts)), folder) as session:
        for prompt in prompts:
            await session.say(prompt)
        return session.opened.session.id


# What is on disk when.


async def test_a_new_session_writes_nothing_until_its_first_fact(tmp_path: Path) -> None:
    async with driven(Scripted([say("yes")]), tmp_path) as session:
        assert session.opened.session.log.seq == -1
        assert files(tmp_path) == []
        await session.sessions.close(session.opened.session.id)
    assert files(tmp_path) == []


async def test_a_closed_log_gets_nothing_when_it_is_opened_again(tmp_path: Path) -> None:
    session_id = await a_turn(tmp_path, "go")
    before = log_of(tmp_path).read_bytes()
    async with driven(Scripted([]), tmp_path, session_id=session_id):
        pass
    assert log_of(tmp_path).read_bytes() == before


async def test_the_title_is_the_first_line_of_the_first_prompt_until_one_is_set(
    tmp_path: Path,
) -> None:
    session_id = await a_turn(tmp_path, "\n Mend it \nplease", "another")
    async with driven(Scripted([]), tmp_path, session_id=session_id) as session:
        assert session.opened.session.title == "Mend it"
        session.opened.session.append(SessionTitle(title="The parser"))
    async with driven(Scripted([]), tmp_path, session_id=session_id) as session:
        assert session.opened.session.title == "The parser"


async def test_a_fact_that_may_be_skipped_is_kept_and_numbering_goes_on(tmp_path: Path) -> None:
    session_id = await a_turn(tmp_path, "go")
    path = log_of(tmp_path)
    last = len(read_lines(path)[0])
    foreign = b'{"seq":%d,"time":5,"type":"moon/risen","ignorable":true,"data":[1]}\n' % last
    path.write_bytes(path.read_bytes() + foreign)
    async with driven(Scripted([say("on")]), tmp_path, session_id=session_id) as session:
        assert ended(await session.say("go on")) == "completed"
    lines, _ = read_lines(path)
    assert lines[last] == foreign
    assert [codec.parse(line).seq for line in lines] == list(range(len(lines)))


# Disk full, or a folder that cannot be written.


async def test_a_full_disk_ends_the_turn_and_the_next_one_writes_all(tmp_path: Path) -> None:
    full = False

    async def sync(descriptor: int) -> None:
        if full:
            raise OSError(28, "No space left on device")
        await sync_data(descriptor)

    model = Scripted([say("one"), say("three")])
    async with driven(model, tmp_path, sync=sync) as session:
        await session.say("first")
        full = True
        end = await session.say("second")
        assert isinstance(end, Ended)
        assert end.end.failure is not None
        assert end.end.failure.kind == "store"
        assert "No space left on device" in end.end.failure.message
        assert "send the message again" in end.end.failure.message
        assert len(model.requests) == 1  # nothing was sent
        full = False
        assert ended(await session.say("third")) == "completed"
        facts = session.facts
    stored = [codec.parse(line).fact for line in read_lines(log_of(tmp_path))[0]]
    assert stored == facts
    assert [f.input for f in stored if isinstance(f, InboxAdded)] == ["first", "second", "third"]


async def test_an_unwritable_state_folder_ends_the_turn_until_it_can_be_written(
    tmp_path: Path,
) -> None:
    (tmp_path / "state").write_text("in the way")
    async with driven(Scripted([say("yes")]), tmp_path) as session:
        end = await session.say("first")
        assert isinstance(end, Ended)
        assert end.end.failure is not None
        assert "check the folder" in end.end.failure.message
        (tmp_path / "state").unlink()
        assert ended(await session.say("second")) == "completed"
        assert len(session.entries) == len(read_lines(log_of(tmp_path))[0])


# Two processes.


_WRITER = """
import anyio, sys
from pathlib import Path
from turnbuckle.testing.agents import driven
from turnbuckle.testing.scripted import Scripted, say

async def held(request, emit):
    from turnbuckle.model.port import Delta
    emit(Delta(text="half an "))
    await anyio.sleep(0)
    print("held", flush=True)
    await anyio.sleep_forever()

async def main():
    folder, session_id = Path(sys.argv[1]), sys.argv[2]
    async with driven(Scripted([say("from the other"), held]), folder, session_id=session_id) as s:
        s.prompts = 100  # its messages have keys of their own
        print("open", flush=True)
        for line in iter(sys.stdin.readline, ""):
            if line == "say\\n":
                await s.say("said by the other")
                print("said", flush=True)
            else:
                s.send("never answered")
                await anyio.sleep_forever()

anyio.run(main)
"""


class Other:
    """Another process that writes a session."""

    def __init__(self, folder: Path, session_id: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(folder), session_id],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.expect(b"open\n")

    def expect(self, line: bytes) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == line

    def tell(self, line: bytes, answer: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()
        self.expect(answer)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


async def test_a_second_process_reads_and_takes_over_when_the_first_was_killed(
    tmp_path: Path,
) -> None:
    session_id = await a_turn(tmp_path, "go")
    other = Other(tmp_path, session_id)
    try:
        model = Scripted([say("and on")])
        async with driven(model, tmp_path, session_id=session_id) as session:
            session.prompts = 200
            opened, told = session.opened, list[Fact]()
            opened.session.log.observe(session.scope, lambda entry, _: told.append(entry.fact))
            assert not is_written(opened)
            with pytest.raises(ReadOnly):
                opened.session.append(SessionTitle(title="mine"))
            assert not await session.sessions.write(opened)
            # What the other appends is seen when the session is opened once more.
            other.tell(b"say\n", b"said\n")
            before = len(session.entries)
            assert await session.sessions.open(session_id) is opened
            assert len(session.entries) > before
            assert told == session.facts[before:]
            assert not await session.sessions.write(opened)
            # When it is gone, the next message takes over.
            other.tell(b"hold\n", b"held\n")
            other.kill()
            assert await session.sessions.write(opened)
            assert is_written(opened)
            assert closing(session.entries) == []
            assert told == session.facts[before:]
            ends = [fact.end.kind for fact in told if isinstance(fact, TurnEnd)]
            assert ends == ["completed", "interrupted"]
            assert ended(await session.say("go on")) == "completed"
            header = [f for f in session.facts if f.type == "request/header"][-1]
            assert getattr(header, "why", None) == "resume"
            facts = session.facts
            said = [getattr(m, "content", "") for m in model.requests[0].messages]
            # What the other had said and nobody was shown went with it.
            assert said[-2:] == ["never answered", "go on"]
    finally:
        other.kill()
    lines, _ = read_lines(log_of(tmp_path))
    assert [codec.parse(line).fact for line in lines] == facts
    assert [codec.parse(line).seq for line in lines] == list(range(len(lines)))


async def test_what_is_not_what_was_shown_is_not_taken_over(tmp_path: Path) -> None:
    session_id = await a_turn(tmp_path, "go", "on")
    async with (
        driven(Scripted([]), tmp_path, session_id=session_id) as first,
        driven(Scripted([]), tmp_path, session_id=session_id) as second,
    ):
        assert not is_written(second.opened)
        await first.sessions.close(session_id)
        path = log_of(tmp_path)
        lines, _ = read_lines(path)
        path.write_bytes(b"".join(lines[:-3]))
        with pytest.raises(SessionUnreadable, match="close it and open it again"):
            await second.sessions.write(second.opened)
        await second.sessions.close(session_id)
        again = await second.sessions.open(session_id)
        assert is_written(again)


# Deleting.


async def test_deleting_removes_the_file_and_its_lock(tmp_path: Path) -> None:
    session_id = await a_turn(tmp_path, "go")
    path = log_of(tmp_path)
    path.write_bytes(path.read_bytes() + b'{"torn')
    async with driven(Scripted([]), tmp_path, session_id=session_id) as session:
        assert files(tmp_path) != []
        await session.sessions.delete(session_id)
        assert session.opened.closed.is_set()
        assert files(tmp_path) == []
        with pytest.raises(SessionNotFound):
            await session.sessions.open(session_id)
        with pytest.raises(SessionNotFound):
            await session.sessions.delete(session_id)


async def test_a_session_that_was_never_written_can_be_deleted(tmp_path: Path) -> None:
    async with driven(Scripted([]), tmp_path) as session:
        await session.sessions.delete(session.opened.session.id)
        assert session.sessions.open_sessions == ()


async def test_what_another_process_writes_is_not_deleted(tmp_path: Path) -> None:
    session_id = await a_turn(tmp_path, "go")
    async with (
        driven(Scripted([]), tmp_path, session_id=session_id),
        driven(Scripted([]), tmp_path, session_id=session_id) as second,
    ):
        with pytest.raises(Locked):
            await second.sessions.delete(session_id)
        assert second.opened in second.sessions.open_sessions
        assert log_of(tmp_path).exists()
