"""A subscriber is told each fact once and in order, and costs nothing while it does not read."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnbuckle.agent.hooks import Decision, PreStep, Reject
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.scope import Scope
from turnbuckle.kernel.waterfall import Next
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.rpc import INVALID_PARAMS, Connection
from turnbuckle.lsp.rpc.framing import Frames
from turnbuckle.lsp.rpc.streams import MemoryPipe
from turnbuckle.lsp.rpc.writer import Writer
from turnbuckle.lsp.stream import MAX_NOTES, Stream, start_of
from turnbuckle.model.port import Delta, Emit, Reply, Request
from turnbuckle.session import codec
from turnbuckle.session.events import (
    AssistantChunk,
    AssistantMessage,
    Fact,
    InboxAdded,
    InboxChanged,
    LlmFailed,
    LlmStream,
    RequestHeader,
    SessionCreated,
    StepEnd,
    StepStart,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.log import Log
from turnbuckle.session.parts import CallDelta, End, Failure
from turnbuckle.session.session import Session
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.served import Served, served

# Any: values on the wire are JSON.
Value = dict[str, Any]

HEADER = RequestHeader(config={"model": "m"}, system="s" * 5000, tools=(), why="initial")


def chunk(text: str) -> AssistantChunk:
    return AssistantChunk(turn=1, step=1, text=text)


def message(content: str) -> AssistantMessage:
    return AssistantMessage(turn=1, step=1, content=content, finish="stop")


def new_session() -> Session:
    created = SessionCreated(version=1, id="s1")
    return Session(Log(lambda: 7), None, Scope("session"), created)


def session_of(*facts: Fact) -> Session:
    session = new_session()
    for fact in facts:
        session.append(fact)
    return session


class Reader:
    """A session's subscriber behind a pipe that takes nothing until it is read."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.pipe = MemoryPipe(0)
        self.writer = Writer(self.pipe)
        self.connection = Connection(self.writer, prefix="s:")
        self.frames = Frames()

    def stream(self, **start: Any) -> Stream:  # Any: `after`, `turns`, `until`
        until = start.pop("until", None)
        where = {"after": None, "turns": None} | start
        index = start_of(self.session, **where)
        return Stream(self.connection, self.session, "t", index, until=until)

    async def read(self) -> list[Value]:
        """What was written, once something was."""
        return list(self._values(await self.pipe.read()))

    async def until(self, seq: int) -> list[Value]:
        """Read until a fact or the note `live` with this number came."""
        values: list[Value] = []
        while not any(seq in (value.get("seq"), value["data"].get("seq")) for value in values):
            values += await self.read()
        return values

    def _values(self, data: bytes) -> Iterator[Value]:
        for body in self.frames.feed(data):
            yield orjson.loads(body)["params"]["value"]


@asynccontextmanager
async def running(reader: Reader, stream: Stream) -> AsyncIterator[None]:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reader.writer.run)
        tasks.start_soon(stream.run)
        yield
        tasks.cancel_scope.cancel()


async def settled() -> None:
    """Let everything run that can."""
    for _ in range(20):
        await anyio.lowlevel.checkpoint()


def kinds(values: list[Value]) -> list[str]:
    return [value["type"] for value in values]


async def replay(*facts: Fact, **start: Any) -> list[Value]:
    """All that a new subscriber is told of a log, up to `live`."""
    reader = Reader(session_of(*facts))
    async with running(reader, reader.stream(**start)):
        values: list[Value] = []
        while "live" not in kinds(values):
            values += await reader.read()
    return values


# Replay.


async def test_a_replay_tells_every_fact_as_it_is_stored_and_then_live() -> None:
    session = session_of(TurnStart(turn=1), StepStart(turn=1, step=1))
    values = await replay(TurnStart(turn=1), StepStart(turn=1, step=1))
    stored = [
        orjson.loads(codec.line(e.seq, e.time, e.fact, codec.encode_fact(e.fact)))
        for e in session.log.entries
    ]
    assert values == [*stored, {"type": "live", "data": {"seq": 2}}]


async def test_a_session_without_facts_is_live_at_once() -> None:
    assert await replay() == [{"type": "live", "data": {"seq": -1}}]


async def test_a_replay_omits_the_chunks_of_finished_messages() -> None:
    values = await replay(TurnStart(turn=1), chunk("a"), chunk("b"), message("ab"))
    assert kinds(values) == ["session/created", "turn/start", "assistant/message", "live"]


async def test_a_replay_merges_the_chunks_of_a_message_that_is_still_being_said() -> None:
    values = await replay(
        chunk("old"),
        message("old"),
        LlmStream(attempt=1, model="m", digest="", turn=1, step=1),
        chunk("a"),
        chunk("b"),
    )
    (said,) = [value for value in values if value["type"] == "assistant/chunk"]
    assert said["data"]["text"] == "ab"
    assert said["seq"] == 5


@pytest.mark.parametrize(
    "over",
    [
        LlmFailed(attempt=1, failure=Failure(kind="server", message="no")),
        StepEnd(turn=1, step=1, tool_calls=0),
    ],
)
async def test_a_replay_omits_what_an_attempt_said_that_failed_or_was_cancelled(over: Fact) -> None:
    assert "assistant/chunk" not in kinds(await replay(chunk("a"), over))


async def test_a_message_finished_during_its_replay_is_not_lost_to_the_reader() -> None:
    # It was still being said when the replay began, so its text may not count as old.
    reader = Reader(session_of(TurnStart(turn=1), chunk("a"), chunk("b")))
    async with running(reader, reader.stream()):
        await settled()
        reader.session.append(message("ab"))
        values = await reader.until(4)
    said = [value["data"]["text"] for value in values if value["type"] == "assistant/chunk"]
    assert said == ["ab"]


async def test_the_header_of_a_request_travels_as_a_digest() -> None:
    values = await replay(HEADER)
    (header,) = [value for value in values if value["type"] == "request/header"]
    assert set(header["data"]) == {"digest", "why"}
    assert len(header["data"]["digest"]) == 64


@pytest.mark.parametrize(("after", "first"), [(-1, 0), (0, 1), (2, 3), (9, None)])
async def test_after_names_the_last_fact_that_was_seen(after: int, first: int | None) -> None:
    turns = (TurnStart(turn=1), TurnEnd(turn=1, end=End(kind="completed")))
    values = await replay(*turns, InboxAdded(key="k", target="turn", input="x"), after=after)
    seqs = [value["seq"] for value in values if "seq" in value]
    assert seqs == ([] if first is None else list(range(first, 4)))


@pytest.mark.parametrize(("turns", "first"), [(0, None), (1, 3), (2, 1), (9, 1)])
async def test_turns_asks_for_the_last_turns(turns: int, first: int | None) -> None:
    end = End(kind="completed")
    facts = (
        TurnStart(turn=1),
        TurnEnd(turn=1, end=end),
        TurnStart(turn=2),
        TurnEnd(turn=2, end=end),
    )
    values = await replay(*facts, turns=turns)
    seqs = [value["seq"] for value in values if "seq" in value]
    assert seqs == ([] if first is None else list(range(first, 5)))


async def test_turns_begin_with_the_message_that_they_answer() -> None:
    end = End(kind="completed")
    facts = (
        InboxAdded(key="a", target="turn", input="one"),
        TurnStart(turn=1),
        TurnEnd(turn=1, end=end),
        InboxAdded(key="b", target="turn", input="two"),
        InboxChanged(key="b", input="too"),
        TurnStart(turn=2),
    )
    for turns, first in ((1, 4), (2, 1), (9, 1)):
        values = await replay(*facts, turns=turns)
        assert [value["seq"] for value in values if "seq" in value] == list(range(first, 7))


async def test_after_and_turns_together_ask_for_what_both_want() -> None:
    facts = (TurnStart(turn=1), TurnStart(turn=2), TurnStart(turn=3))
    values = await replay(*facts, after=2, turns=2)
    assert [value["seq"] for value in values if "seq" in value] == [3]


# A client that reads slowly, or not at all.


async def test_chunks_that_wait_are_merged_and_bear_the_last_number() -> None:
    reader = Reader(session_of(TurnStart(turn=1)))
    async with running(reader, reader.stream()):
        await reader.until(1)
        for text in "abc":
            reader.session.append(chunk(text))
        await settled()
        for text in "def":
            reader.session.append(chunk(text))
        await settled()
        values = await reader.until(7)
    said = [(v["seq"], v["data"]["text"]) for v in values if v["type"] == "assistant/chunk"]
    assert said == [(4, "abc"), (7, "def")]


async def test_merged_chunks_keep_reasoning_text_and_calls() -> None:
    reader = Reader(session_of(TurnStart(turn=1)))
    pieces = [
        AssistantChunk(turn=1, step=1, reasoning="hm"),
        AssistantChunk(turn=1, step=1, text="a", reasoning="m"),
        AssistantChunk(turn=1, step=1, tool_calls=(CallDelta(index=0, name="read"),)),
        AssistantChunk(turn=1, step=1, tool_calls=(CallDelta(index=0, arguments="{"),)),
        AssistantChunk(turn=1, step=1, tool_calls=(CallDelta(index=0, arguments="}"), CallDelta(index=1, name="x"))),
    ]  # fmt: skip
    async with running(reader, reader.stream()):
        await reader.until(1)
        for piece in pieces:
            reader.session.append(piece)
        (value,) = await reader.until(6)
    assert value["data"] == {
        "turn": 1,
        "step": 1,
        "text": "a",
        "reasoning": "hmm",
        "toolCalls": [{"index": 0, "name": "read", "arguments": "{}"}, {"index": 1, "name": "x"}],
    }


async def test_chunks_of_a_finished_message_are_skipped_if_some_were_sent() -> None:
    reader = Reader(session_of(TurnStart(turn=1)))
    async with running(reader, reader.stream()):
        await reader.until(1)
        reader.session.append(chunk("a"))
        await settled()  # it is on its way, and the client does not read
        for fact in (chunk("b"), chunk("c"), message("abc")):
            reader.session.append(fact)
        values = await reader.until(5)
    assert [(v["seq"], v["type"]) for v in values] == [
        (2, "assistant/chunk"),
        (5, "assistant/message"),
    ]


async def test_chunks_of_a_finished_message_come_as_one_if_none_was_sent() -> None:
    reader = Reader(session_of(TurnStart(turn=1)))
    async with running(reader, reader.stream()):
        await reader.until(1)
        for fact in (chunk("a"), chunk("b"), chunk("c"), message("abc")):
            reader.session.append(fact)
        values = await reader.until(5)
    assert [(v["seq"], v["type"]) for v in values] == [
        (4, "assistant/chunk"),
        (5, "assistant/message"),
    ]


async def test_the_next_message_does_not_count_what_was_sent_of_a_cancelled_one() -> None:
    # Only reasoning was said before the cancel, so no message closes those chunks.
    reader = Reader(session_of(TurnStart(turn=1)))
    async with running(reader, reader.stream()):
        await reader.until(1)
        reader.session.append(AssistantChunk(turn=1, step=1, reasoning="hm"))
        await reader.until(2)
        for fact in (StepEnd(turn=1, step=1, tool_calls=0), chunk("a"), chunk("b"), message("ab")):
            reader.session.append(fact)
        values = await reader.until(6)
    assert [v["data"]["text"] for v in values if v["type"] == "assistant/chunk"] == ["ab"]


async def test_nothing_grows_while_a_client_does_not_read() -> None:
    session = session_of(TurnStart(turn=1))
    reader = Reader(session)
    streams = [reader.stream(), reader.stream()]
    async with running(reader, streams[0]), running(reader, streams[1]):
        for number in range(3_000):
            session.append(chunk(f"{number} "))
            session.note("tool/output", {"callId": "c", "text": "x" * 100})
            if number % 100 == 0:
                await settled()
        waiting = len(reader.writer._texts)
        assert waiting <= len(streams)
        assert reader.writer.backlog == 0
        assert len(reader.pipe._waiting) < 2_000
        assert all(len(stream._notes) == MAX_NOTES for stream in streams)


async def test_notes_are_dropped_beyond_a_bound_and_facts_never() -> None:
    reader = Reader(session_of(TurnStart(turn=1)))
    async with running(reader, reader.stream()):
        await reader.until(1)
        for number in range(200):
            reader.session.note("status", {"text": str(number)})
            reader.session.append(InboxAdded(key=str(number), target="turn", input="x"))
        values = await reader.until(201)
        while len([v for v in values if v["type"] == "status"]) < MAX_NOTES:
            values += await reader.read()
    notes = [int(v["data"]["text"]) for v in values if v["type"] == "status"]
    assert notes == list(range(200 - MAX_NOTES, 200))
    assert [v["seq"] for v in values if v["type"] == "inbox/added"] == list(range(2, 202))


async def test_a_note_waits_for_the_replay_and_has_no_number() -> None:
    reader = Reader(session_of(TurnStart(turn=1)))
    async with running(reader, reader.stream()):
        await settled()
        reader.session.note("status", {"text": "x"})
        values: list[Value] = []
        while "status" not in kinds(values):
            values += await reader.read()
    assert kinds(values)[-2:] == ["live", "status"]
    assert values[-1] == {"type": "status", "data": {"text": "x"}}


async def test_reached_returns_at_once_for_what_is_before_the_beginning() -> None:
    session = session_of(TurnStart(turn=1), TurnEnd(turn=1, end=End(kind="completed")))
    reader = Reader(session)
    stream = reader.stream(after=2)
    async with running(reader, stream):
        with anyio.fail_after(5):
            await stream.reached(2)


async def test_reached_waits_until_the_reader_has_taken_everything() -> None:
    reader = Reader(session_of(TurnStart(turn=1), message("a")))
    stream = reader.stream()
    passed = anyio.Event()

    async def wait() -> None:
        await stream.reached(2)
        passed.set()

    async with running(reader, stream), anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await settled()
        assert not passed.is_set()
        await reader.until(2)
        await passed.wait()


async def test_a_stream_with_an_until_ends_with_that_turn() -> None:
    reader = Reader(session_of(TurnStart(turn=1)))
    stream = reader.stream(until=1)
    async with running(reader, stream):
        reader.session.append(TurnEnd(turn=1, end=End(kind="completed")))
        reader.session.append(TurnStart(turn=2))
        values = await reader.until(2)
        await stream.ended()
        await settled()
        assert not reader.pipe._waiting
    assert kinds(values) == ["session/created", "turn/start", "turn/end"]


async def test_a_stream_leaves_nothing_behind_in_its_session() -> None:
    session = session_of(TurnStart(turn=1))
    observers = len(session.log._observers)
    reader = Reader(session)
    stream = reader.stream()
    async with running(reader, stream):
        await reader.until(1)
        await stream.stop()
    assert len(session.log._observers) == observers
    assert not session._note_observers


async def test_a_reader_that_is_gone_ends_the_stream() -> None:
    reader = Reader(session_of(TurnStart(turn=1)))
    stream = reader.stream()
    async with running(reader, stream):
        await settled()
        reader.pipe.close()
        await stream.ended()


# Text that nothing stands before.


class Roomy(Reader):
    """One whose pipe takes what it is given."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.pipe = MemoryPipe()
        self.writer = Writer(self.pipe)
        self.connection = Connection(self.writer, prefix="s:")

    async def caught_up(self) -> None:
        values: list[Value] = []
        while "live" not in kinds(values):
            values += await self.read()
        await settled()


async def test_text_goes_out_with_its_fact_where_nothing_waits() -> None:
    reader = Roomy(session_of(TurnStart(turn=1)))
    async with running(reader, stream := reader.stream()):
        await reader.caught_up()
        reader.session.append(chunk("a"))
        (value,) = reader._values(bytes(reader.pipe._waiting))
        assert (value["seq"], value["data"]["text"]) == (2, "a")
        await stream.reached(2)


async def test_text_does_not_overtake_what_waits() -> None:
    reader = Roomy(session_of(TurnStart(turn=1)))
    async with running(reader, reader.stream()):
        await reader.caught_up()
        reader.session.append(StepStart(turn=1, step=1))
        reader.session.append(chunk("a"))
        assert not reader.pipe._waiting
        values = await reader.until(3)
    assert kinds(values)[-2:] == ["step/start", "assistant/chunk"]


async def test_what_waits_goes_out_together() -> None:
    reader = Roomy(session_of(TurnStart(turn=1)))
    async with running(reader, reader.stream()):
        await reader.caught_up()
        for number in range(5):
            reader.session.append(InboxAdded(key=str(number), target="turn", input="x"))
        assert [value["seq"] for value in await reader.read()] == [2, 3, 4, 5, 6]


# Random histories and random stalls.

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.text("ab ", min_size=1, max_size=4)),
        st.tuples(st.just("other"), st.just("")),
        st.tuples(st.just("finish"), st.just("")),
        st.tuples(st.just("fail"), st.just("")),
        st.tuples(st.just("read"), st.just("")),
        st.tuples(st.just("pause"), st.just("")),
        st.tuples(st.just("note"), st.just("n")),
    ),
    max_size=40,
)


class Teller:
    """Appends what a random script says, as the loop would."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.said = ""
        self.attempt = 0
        self.messages: dict[int, str] = {}

    def tell(self, what: str, text: str) -> None:
        if what == "say":
            self.said += text
            self.session.append(chunk(text))
        elif what == "other":
            self.session.append(
                InboxAdded(key=f"k{self.session.log.seq}", target="step", input="x")
            )
        elif what == "note":
            self.session.note("status", {"text": text})
        elif what in ("finish", "fail"):
            self._end(what)

    def _end(self, what: str) -> None:
        if what == "finish":
            entry = self.session.append(message(self.said))
            self.messages[entry.seq] = self.said
        else:
            self.session.append(LlmFailed(attempt=1, failure=Failure(kind="server", message="no")))
        self.said = ""


def reduced(values: list[Value]) -> tuple[dict[int, str], dict[int, str], str]:
    """What a client holds: text of each message, what it had seen of it before, what is open."""
    whole: dict[int, str] = {}
    seen: dict[int, str] = {}
    running_text = ""
    for value in values:
        match value["type"]:
            case "assistant/chunk":
                running_text += value["data"]["text"]
            case "assistant/message":
                whole[value["seq"]], seen[value["seq"]] = value["data"]["content"], running_text
                running_text = ""
            case "llm/failed":
                running_text = ""
            case _:
                pass
    return whole, seen, running_text


async def told(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> tuple[Reader, Teller, list[Value]]:
    session = new_session()
    session.append(TurnStart(turn=1))
    teller = Teller(session)
    for step in before:
        teller.tell(*step)
    reader, values = Reader(session), []
    async with running(reader, reader.stream()):
        for what, text in after:
            if what == "read" and reader.pipe._waiting:
                values += await reader.read()
            elif what == "pause":
                await settled()
            else:
                teller.tell(what, text)
        session.append(UserMessage(turn=1, step=1, content="the end"))
        values += await reader.until(session.log.seq)
    return reader, teller, values


@settings(max_examples=150, deadline=None)
@given(STEPS, STEPS)
def test_whatever_the_reader_misses_the_text_of_each_message_is_the_logs(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    reader, teller, values = anyio.run(told, before, after)
    log = reader.session.log.entries
    whole, seen, left = reduced(values)
    assert whole == teller.messages
    assert left == teller.said
    # What was seen of a message before it came is the beginning of it.
    assert all(whole[seq].startswith(text) for seq, text in seen.items())
    # Facts other than chunks came once each and in order.
    others = [e.seq for e in log if not isinstance(e.fact, AssistantChunk)]
    assert [v["seq"] for v in values if "seq" in v and v["type"] != "assistant/chunk"] == others
    seqs = [v["seq"] for v in values if "seq" in v]
    assert seqs == sorted(set(seqs))
    assert len(reader.writer._texts) <= 1


# Over the whole server.


def words(count: int) -> str:
    return " ".join(f"word{number}" for number in range(count))


async def test_answer_and_events_of_a_turn_come_in_order(tmp_path: Path) -> None:
    async with served(Scripted([say(words(50))]), tmp_path) as server:
        session_id = await server.open()
        answer = await server.watch(session_id)
        assert (answer.from_, answer.seq) == (0, -1)
        question = server.send(session_id, "go")
        result = await server.answer(question)
        assert result.end["kind"] == "completed"
        assert server.order("events", question)[-2:] == ["turn/end", "answer"]
        seqs = [v["seq"] for v in server.editor.screen.progress("events") if "seq" in v]
        assert seqs == sorted(set(seqs))
        assert seqs[-1] == result.seq


async def test_a_turns_answer_waits_for_a_reader_that_is_behind(tmp_path: Path) -> None:
    model = Scripted([say(words(30))])
    async with served(model, tmp_path, capacity=0) as server:
        session_id = await server.open()
        await server.watch(session_id)
        server.held.hold()
        question = server.send(session_id, "go")
        while server.opened(session_id).session.last_end is None:
            await anyio.lowlevel.checkpoint()
        server.held.let_go()
        await server.answer(question)
        assert server.order("events", question)[-2:] == ["turn/end", "answer"]


async def test_two_subscriptions_are_told_the_same(tmp_path: Path) -> None:
    async with served(Scripted([say("one two"), say("three")]), tmp_path) as server:
        session_id = await server.open()
        await server.watch(session_id, "a")
        await server.turn(session_id, "go")
        await server.watch(session_id, 7)
        await server.turn(session_id, "go on")
        screen = server.editor.screen

        def without_chunks(token: int | str) -> list[Value]:
            return [
                v for v in screen.progress(token) if v["type"] not in ("assistant/chunk", "live")
            ]

        assert without_chunks("a") == without_chunks(7)
        assert without_chunks("a")[-1]["type"] == "turn/end"


async def test_a_token_that_is_in_use_is_refused(tmp_path: Path) -> None:
    async with served(Scripted([say("yes")]), tmp_path) as server:
        session_id = await server.open()
        await server.watch(session_id)
        with pytest.raises(ServerRefused, match="in use") as caught:
            await server.watch(session_id)
        assert caught.value.code == INVALID_PARAMS
        with pytest.raises(ServerRefused, match="partialResultToken") as caught:
            await server.turn(session_id, "go", partialResultToken="events")
        assert caught.value.code == INVALID_PARAMS
        # The first one goes on, and the refused message was not sent.
        await server.turn(session_id, "go")
        assert len(server.facts("turn/start")) == 1


async def test_after_a_stop_nothing_travels_on_the_token_and_it_is_free(tmp_path: Path) -> None:
    async with served(Scripted([say("yes"), say("no")]), tmp_path) as server:
        session_id = await server.open()
        await server.watch(session_id)
        await server.turn(session_id, "go")
        await stop(server)
        count = len(server.editor.screen.progress("events"))
        await server.turn(session_id, "go on")
        assert len(server.editor.screen.progress("events")) == count
        await stop(server)  # there is none any more
        await server.watch(session_id, after=0)


async def stop(server: Served) -> None:
    await server.client.request("turnbuckle/session/events/stop", {"token": "events"})


async def test_a_subscription_can_be_stopped_while_its_reader_is_behind(tmp_path: Path) -> None:
    async with served(Scripted([say(words(500))]), tmp_path, capacity=0) as server:
        session_id = await server.open()
        await server.watch(session_id)
        server.held.hold()
        question = server.send(session_id, "go")
        while server.opened(session_id).session.last_end is None:
            await anyio.lowlevel.checkpoint()
        stopped = server.client.ask("turnbuckle/session/events/stop", {"token": "events"})
        for _ in range(5):
            await settled()
        server.held.let_go()
        await stopped.answer()
        await server.answer(question)
        assert "turn/end" not in {v["type"] for v in server.editor.screen.progress("events")}


async def test_the_partial_results_of_a_turn_are_that_turns_and_come_before_its_answer(
    tmp_path: Path,
) -> None:
    async with served(Scripted([say("one"), say("two")]), tmp_path) as server:
        session_id = await server.open()
        await server.turn(session_id, "go")
        question = server.send(session_id, "go on", partialResultToken="part")
        await server.answer(question)
        order = server.order("part", question)
        assert (order[0], order[-2], order[-1]) == ("turn/start", "turn/end", "answer")
        assert {v["data"].get("turn", 2) for v in server.editor.screen.progress("part")} == {2}


def reject(ctx: PluginContext) -> None:
    async def no(_: PreStep, _next: Next[PreStep, Decision]) -> Decision:
        return Reject("not today")

    ctx.hooks.pre_step.use(no)


async def test_partial_results_of_a_refused_turn_come_before_its_answer(tmp_path: Path) -> None:
    # Nothing in such a turn waits for anything, so it is over before anybody could subscribe.
    async with served(Scripted([]), tmp_path, plugins=[reject]) as server:
        session_id = await server.open()
        question = server.send(session_id, "go", partialResultToken="part")
        result = await server.answer(question)
        assert result.end["kind"] == "blocked"
        order = server.order("part", question)
        assert (order[0], order[-2], order[-1]) == ("turn/start", "turn/end", "answer")
        # The same message again: the turn is joined, and its values are told again.
        again = server.send(session_id, "go", key="k1", partialResultToken="again")
        assert await server.answer(again) == result
        assert server.order("again", again) == order


async def test_events_end_when_their_session_is_closed(tmp_path: Path) -> None:
    async with served(Scripted([say("yes")]), tmp_path) as server:
        session_id = await server.open()
        await server.watch(session_id)
        await server.turn(session_id, "go")
        await server.client.request("turnbuckle/session/close", {"sessionId": session_id})
        # Resumed, and watched from the end: there is nothing to tell, and it closes all the same.
        assert await server.open(session_id) == session_id
        await server.watch(session_id, after=10_000)
        with anyio.fail_after(5):
            await server.client.request("turnbuckle/session/close", {"sessionId": session_id})


async def test_who_comes_in_the_middle_is_told_what_was_said_so_far(tmp_path: Path) -> None:
    going, ending = anyio.Event(), anyio.Event()

    async def slowly(_: Request, emit: Emit) -> Reply:
        emit(Delta(text="one "))
        await going.wait()
        emit(Delta(text="two"))
        await ending.wait()
        return say("one two")

    async with served(Scripted([slowly]), tmp_path) as server:
        session_id = await server.open()
        await server.watch(session_id)
        question = server.send(session_id, "go")
        await server.fact("assistant/chunk")
        await server.watch(session_id, "late")
        await server.fact("live", token="late")
        going.set()
        await server.fact("assistant/chunk", 2, "late")
        ending.set()
        await server.answer(question)
        said = [data["text"] for data in server.facts("assistant/chunk", "late")]
        assert said == ["one ", "two"]
        assert server.facts("assistant/message", "late")[0]["content"] == "one two"
