"""A session taken back to before a turn, with and without files; and that taken back again."""

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from turnbuckle.agent.inbox import Ended
from turnbuckle.agent.restoring import Restored, Skipped
from turnbuckle.agent.rewinding import Busy, CannotRewind, rewind, standing, turns_in_view, undo
from turnbuckle.agent.sessions import SessionNotFound
from turnbuckle.model.port import Emit, Reply, Request
from turnbuckle.plugins import shipped_tools
from turnbuckle.session import codec
from turnbuckle.session.events import (
    AssistantMessage,
    ContextRewound,
    EditUndone,
    LlmStream,
    Message,
    ToolResult,
    UserMessage,
)
from turnbuckle.session.projection import project
from turnbuckle.session.rebuild import Rebuild, verify
from turnbuckle.session.store import StoreFailed, read_lines, sync_data
from turnbuckle.testing.agents import Driven, driven
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.workspace.paths import uri_of

LOOK = ("look", "read_file", {"path": "a.txt"})


def edit(call_id: str, old: str, new: str, path: str = "a.txt") -> Reply:
    arguments = {"path": path, "edits": [{"old": old, "new": new}]}
    return say("", (call_id, "edit_file", arguments))


def write(call_id: str, path: str, content: str) -> Reply:
    return say("", (call_id, "write_file", {"path": path, "content": content}))


@asynccontextmanager
async def working(
    folder: Path, *replies: Any, **how: Any
) -> AsyncIterator[Driven]:  # Any: as given
    """A session with the tools that ship, in which everything is allowed."""
    (folder / "work").mkdir(exist_ok=True)
    async with driven(Scripted(replies), folder, plugins=[shipped_tools.install], **how) as session:
        session.answer_approvals(True)
        yield session


async def back(session: Driven, turn: int, *, files: bool = True) -> Restored:
    async with session.opened.changing:
        return await rewind(session.opened, turn, files=files)


async def forth(session: Driven) -> Restored:
    async with session.opened.changing:
        return await undo(session.opened)


def said(session: Driven) -> list[str]:
    messages = session.opened.session.projection.messages
    shown = [m for m in messages if isinstance(m, UserMessage | AssistantMessage)]
    return [message.content for message in shown if message.content]


def assert_verified(folder: Path) -> None:
    for path in (folder / "state" / "sessions").glob("**/*.jsonl"):
        lines, _ = read_lines(path)
        assert all(same for _, same in verify(iter(lines)))


# The model's view.


async def test_the_view_goes_back_to_before_a_turn_and_turn_numbers_go_on(tmp_path: Path) -> None:
    async with working(tmp_path, *(say(answer) for answer in "abcd")) as session:
        for prompt in ("one", "two", "three"):
            await session.say(prompt)
        assert await back(session, 2) == Restored()
        assert said(session) == ["one", "a"]
        assert turns_in_view(session.entries) == [1]
        end = await session.say("other")
        assert isinstance(end, Ended)
        assert (end.turn, end.end.kind) == (4, "completed")
        assert said(session) == ["one", "a", "other", "d"]
    assert_verified(tmp_path)


async def test_a_rewind_is_taken_back_and_the_one_before_it_too(tmp_path: Path) -> None:
    async with working(tmp_path, *(say(answer) for answer in "abc")) as session:
        for prompt in ("one", "two"):
            await session.say(prompt)
        await back(session, 2)
        await back(session, 1)
        assert said(session) == []
        await forth(session)
        assert said(session) == ["one", "a"]
        await forth(session)
        assert said(session) == ["one", "a", "two", "b"]
        with pytest.raises(CannotRewind, match="nothing was rewound"):
            await forth(session)
        await session.say("three")
        assert said(session) == ["one", "a", "two", "b", "three", "c"]
    assert_verified(tmp_path)


async def test_a_turn_that_is_not_in_view_cannot_be_taken_back(tmp_path: Path) -> None:
    async with working(tmp_path, *(say(answer) for answer in "abc")) as session:
        for prompt in ("one", "two", "three"):
            await session.say(prompt)
        await back(session, 2)
        before = session.facts
        with pytest.raises(CannotRewind, match="turn 3 was taken back already"):
            await back(session, 3)
        with pytest.raises(CannotRewind, match="no turn 9"):
            await back(session, 9)
        assert session.facts == before


async def test_nothing_is_taken_back_while_a_turn_runs(tmp_path: Path) -> None:
    begun, go = anyio.Event(), anyio.Event()

    async def held(_: Request, emit: Emit) -> Reply:
        begun.set()
        await go.wait()
        return say("b")

    async with working(tmp_path, say("a"), held) as session:
        await session.say("one")
        session.send("two")
        await begun.wait()
        before = session.facts
        with pytest.raises(Busy, match="a turn runs"):
            await back(session, 1)
        with pytest.raises(CannotRewind):
            await forth(session)
        assert session.facts == before
        go.set()
        await session.opened.driver.idle()
        await back(session, 1)
        assert said(session) == []


async def test_an_interrupted_turn_that_was_taken_back_is_not_resumed(tmp_path: Path) -> None:
    async with working(tmp_path, say("a"), ValueError("boom")) as session:
        await session.say("one")
        await session.say("two")
        last = session.opened.session.last_end
        assert last is not None
        assert last.end.kind == "error"
        await back(session, 2)
        last = session.opened.session.last_end
        assert last is not None
        assert (last.turn, last.end.kind) == (1, "completed")
        await back(session, 1)
        assert session.opened.session.last_end is None


# Files.


async def test_files_are_put_back_and_created_ones_removed(tmp_path: Path) -> None:
    replies = (
        say("", LOOK), edit("e1", "one", "1"), edit("e2", "two", "2"),
        write("w", "new/b.txt", "made\n"), say("done"), say("again"),
    )  # fmt: skip
    async with working(tmp_path, *replies) as session:
        a, b = tmp_path / "work" / "a.txt", tmp_path / "work" / "new" / "b.txt"
        a.write_text("one\ntwo\nthree\n")
        await session.say("go")
        assert (a.read_text(), b.read_text()) == ("1\n2\nthree\n", "made\n")
        came = await back(session, 1)
        assert came == Restored(restored=(uri_of(a), uri_of(b)))
        assert a.read_text() == "one\ntwo\nthree\n"
        assert not b.exists()
        undone = [fact for fact in session.facts if isinstance(fact, EditUndone)]
        assert [(fact.uri, fact.by) for fact in undone] == [
            (uri_of(a), "rewind"), (uri_of(b), "rewind"),
        ]  # fmt: skip
        # And forth again, with what the agent had written.
        assert await forth(session) == Restored(restored=(uri_of(a), uri_of(b)))
        assert (a.read_text(), b.read_text()) == ("1\n2\nthree\n", "made\n")
        assert said(session) == ["go", "done"]
        assert await back(session, 1) == came
        assert not b.exists()
    assert_verified(tmp_path)


async def test_files_are_kept_where_that_was_asked(tmp_path: Path) -> None:
    async with working(tmp_path, write("w", "b.txt", "made\n"), say("done")) as session:
        await session.say("go")
        assert await back(session, 1, files=False) == Restored()
        assert (tmp_path / "work" / "b.txt").read_text() == "made\n"
        assert await forth(session) == Restored()


async def test_a_later_turns_files_go_back_no_further_than_asked(tmp_path: Path) -> None:
    replies = (
        say("", LOOK), edit("e1", "one", "1"), say("a"), edit("e2", "two", "2"), say("b"),
    )  # fmt: skip
    async with working(tmp_path, *replies) as session:
        a = tmp_path / "work" / "a.txt"
        a.write_text("one\ntwo\n")
        await session.say("first")
        await session.say("second")
        await back(session, 2)
        assert a.read_text() == "1\ntwo\n"
        await back(session, 1)
        assert a.read_text() == "one\ntwo\n"
        await forth(session)
        await forth(session)
        assert a.read_text() == "1\n2\n"


BYTES = [
    "\ufeffone\r\ntwo\r\n".encode(),
    "\ufeffone\ntwo \N{GRINNING FACE}\r\n".encode("utf-16-le"),
    b"one\rtwo\nthree",
]


@pytest.mark.parametrize("raw", BYTES)
async def test_bytes_that_were_not_edited_come_back_exactly(tmp_path: Path, raw: bytes) -> None:
    async with working(tmp_path, say("", LOOK), edit("e", "one", "1"), say("done")) as session:
        a = tmp_path / "work" / "a.txt"
        a.write_bytes(raw)
        a.chmod(0o640)
        await session.say("go")
        assert a.read_bytes() != raw
        await back(session, 1)
        assert a.read_bytes() == raw
        assert a.stat().st_mode & 0o777 == 0o640


Harm = Callable[[Path, Path], object]


def typed(a: Path, _: Path) -> None:
    a.write_text("1\ntwo\nand mine\n")


def removed(a: Path, _: Path) -> None:
    a.unlink()


def locked(a: Path, _: Path) -> None:
    a.chmod(0o400)


def forgotten(_: Path, state: Path) -> None:
    for blob in (state / "blobs").iterdir():
        blob.unlink()


def binary(a: Path, _: Path) -> None:
    a.write_bytes(b"\0\1")


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        (typed, "it was changed since the agent wrote it"),
        (removed, "it is not there any more"),
        (locked, "the file is read-only"),
        (forgotten, "what stood there before is not kept any more"),
        (binary, "NUL"),
    ],
)
async def test_a_file_that_is_not_as_the_agent_left_it_is_reported_and_left_alone(
    tmp_path: Path, harm: Harm, why: str
) -> None:
    replies = (say("", LOOK), edit("e", "one", "1"), write("w", "b.txt", "made\n"), say("done"))
    async with working(tmp_path, *replies) as session:
        a, b = tmp_path / "work" / "a.txt", tmp_path / "work" / "b.txt"
        a.write_text("one\ntwo\n")
        await session.say("go")
        harm(a, tmp_path / "state")
        raw = a.read_bytes() if a.exists() else None
        came = await back(session, 1)
        assert came.restored == (uri_of(b),)
        [skipped] = came.skipped
        assert skipped.uri == uri_of(a)
        assert why in skipped.why
        assert (a.read_bytes() if a.exists() else None) == raw
        assert said(session) == []


async def test_a_file_that_stands_as_before_anyway_is_not_mentioned(tmp_path: Path) -> None:
    replies = (say("", LOOK), edit("e", "one", "1"), say("done"))
    async with working(tmp_path, *replies) as session:
        a = tmp_path / "work" / "a.txt"
        a.write_text("one\ntwo\n")
        await session.say("go")
        a.write_text("one\ntwo\n")
        assert await back(session, 1) == Restored()


async def test_what_somebody_else_wrote_between_two_edits_is_not_lost(tmp_path: Path) -> None:
    replies = (
        say("", LOOK), edit("e1", "one", "1"), say("a"),
        say("", LOOK), edit("e2", "two", "2"), say("b"),
    )  # fmt: skip
    async with working(tmp_path, *replies) as session:
        a = tmp_path / "work" / "a.txt"
        a.write_text("one\ntwo\n")
        await session.say("first")
        a.write_text("1\ntwo\nmine\n")
        await session.say("second")
        assert a.read_text() == "1\n2\nmine\n"
        came = await back(session, 1)
        assert came == Restored(
            skipped=(Skipped(uri_of(a), "somebody else changed it between the agent's edits"),)
        )
        assert a.read_text() == "1\n2\nmine\n"


async def test_what_was_changed_after_a_rewind_is_left_alone_when_that_is_undone(
    tmp_path: Path,
) -> None:
    async with working(tmp_path, write("w", "b.txt", "made\n"), say("done")) as session:
        b = tmp_path / "work" / "b.txt"
        await session.say("go")
        await back(session, 1)
        b.write_text("mine\n")
        came = await forth(session)
        assert [file.why for file in came.skipped] == ["it was changed since the agent wrote it"]
        assert b.read_text() == "mine\n"
        assert said(session) == ["go", "done"]


async def test_a_model_that_was_taken_back_has_not_read_the_file(tmp_path: Path) -> None:
    replies = (say("", LOOK), say("a"), edit("e", "one", "1"), say("b"))
    async with working(tmp_path, *replies) as session:
        a = tmp_path / "work" / "a.txt"
        a.write_text("one\n")
        await session.say("look")
        await back(session, 1)
        await session.say("edit")
        result = [fact for fact in session.facts if isinstance(fact, ToolResult)][-1]
        assert result.code == "UNREAD"
        assert a.read_text() == "one\n"


async def test_nothing_is_touched_while_the_log_cannot_be_written(tmp_path: Path) -> None:
    full = False

    async def sync(descriptor: int) -> None:
        if full:
            raise OSError(28, "No space left on device")
        await sync_data(descriptor)

    async with working(tmp_path, write("w", "b.txt", "made\n"), say("a"), sync=sync) as session:
        await session.say("go")
        before = session.facts
        full = True
        session.opened.session.append(ContextRewound(to=len(before) - 1))
        with pytest.raises(StoreFailed):
            await back(session, 1)
        assert (tmp_path / "work" / "b.txt").exists()
        full = False
        assert len((await back(session, 1)).restored) == 1


async def test_a_rewind_is_known_after_a_restart_and_can_be_undone_there(tmp_path: Path) -> None:
    async with working(tmp_path, write("w", "b.txt", "made\n"), say("a")) as session:
        await session.say("go")
        await back(session, 1)
        session_id = session.opened.session.id
    async with working(tmp_path, session_id=session_id) as session:
        assert said(session) == []
        came = await forth(session)
        assert len(came.restored) == 1
        assert (tmp_path / "work" / "b.txt").read_text() == "made\n"
        assert said(session) == ["go", "a"]


async def test_a_session_that_is_closed_meanwhile_is_put_back_to_the_end(tmp_path: Path) -> None:
    holds, waits, go = False, anyio.Event(), anyio.Event()

    async def sync(descriptor: int) -> None:
        if holds and not (tmp_path / "work" / "b.txt").exists():
            waits.set()
            await go.wait()
        await sync_data(descriptor)

    async with working(tmp_path, write("w", "b.txt", "made\n"), say("a"), sync=sync) as session:
        await session.say("go")
        holds = True
        session_id = session.opened.session.id
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(back, session, 1)
            await waits.wait()  # the file is gone, and the fact that says so is not on disk
            tasks.start_soon(session.sessions.close, session_id)
            await anyio.wait_all_tasks_blocked()
            assert not session.opened.closed.is_set()
            go.set()
        assert session.opened.closed.is_set()
        again = await session.sessions.open(session_id)
        assert not again.read_only
        assert any(isinstance(entry.fact, EditUndone) for entry in again.session.log.entries)
        with pytest.raises(SessionNotFound, match="was closed"):
            await session.sessions.write(session.opened)


# Anything, in any order.


def assert_pairs(messages: list[Message]) -> None:
    owed: list[str] = []
    for message in messages:
        if isinstance(message, ToolResult):
            assert owed.pop(0) == message.call_id
            continue
        assert not owed
        if isinstance(message, AssistantMessage):
            owed = [call.call_id for call in message.tool_calls]
    assert not owed


class Working:
    """A model that calls tools at random."""

    window = None

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.calls = 0

    async def __call__(self, _request: Request, _emit: Emit) -> Reply:
        if self.rng.random() < 0.4:
            return say("done")
        self.calls += 1
        name = f"f{self.rng.randrange(3)}.txt"
        call_id = f"{self.rng.getrandbits(40)}"
        if self.rng.random() < 0.4:
            return say("", (call_id, "read_file", {"path": name}))
        return write(call_id, name, f"text {self.calls}\n")


class Life:
    """A random life of sessions in one folder: turns, rewinds, undoing, forks, restarts."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng = random.Random(seed)
        self.folder = folder
        self.session_id: str | None = None
        self.views: dict[str, dict[int, list[Message]]] = {}

    async def run(self) -> None:
        for _ in range(3):
            async with driven(
                Working(self.rng), self.folder, plugins=[shipped_tools.install],
                session_id=self.session_id,
            ) as session:  # fmt: skip
                session.answer_approvals(True)
                session.prompts = self.rng.getrandbits(40)
                for _ in range(self.rng.randrange(2, 7)):
                    await self.act(session)
                    self.judge(session)
                if not session.entries:
                    continue  # it was never written
                self.session_id = session.opened.session.id
                if self.rng.random() < 0.4:
                    turns = session.opened.session.turn
                    at = self.rng.randrange(turns + 1)
                    self.session_id = await session.sessions.fork(self.session_id, at)
        assert_verified(self.folder)

    async def act(self, session: Driven) -> None:
        what = self.rng.random()
        view, work = turns_in_view(session.entries), self.folder / "work"
        if what < 0.35 and view:
            turn = self.rng.choice(view)
            before = session.opened.session.projection.messages[:]
            disk = {p.name: p.read_bytes() for p in work.iterdir()}
            await back(session, turn, files=self.rng.random() < 0.5)
            assert turn not in turns_in_view(session.entries)
            if self.rng.random() < 0.5:
                await forth(session)
                assert session.opened.session.projection.messages == before
                assert {p.name: p.read_bytes() for p in work.iterdir()} == disk
        elif what < 0.5 and standing(session.entries):
            await forth(session)
        elif what < 0.6:
            (work / f"f{self.rng.randrange(3)}.txt").write_text(f"mine {self.rng.random()}\n")
        else:
            await session.say("go on")

    def judge(self, session: Driven) -> None:
        messages = session.opened.session.projection.messages
        assert_pairs(messages)
        assert project(session.entries).messages == messages
        store = session.opened.session.store
        assert store is not None
        lines, _ = read_lines(store.path)
        rebuilt = Rebuild()
        ask = LlmStream(turn=1, step=1, attempt=1, model="m", digest="")
        for line in [*lines, codec.line(len(lines), 1, ask, codec.encode_fact(ask))]:
            rebuilt.feed(line)
        assert rebuilt.request == [codec.encode(message) for message in messages]


@pytest.mark.parametrize("seed", range(25))
async def test_any_order_of_turns_rewinds_undoing_and_forks_keeps_every_invariant(
    tmp_path: Path, seed: int
) -> None:
    await Life(seed, tmp_path).run()
