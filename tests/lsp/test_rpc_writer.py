"""The writer never waits, never grows without bound, and never lets text hold up an answer."""

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.lsp.rpc.streams import MemoryPipe, PeerGone
from turnbuckle.lsp.rpc.writer import FULL, ROOMY, Writer


class Stuck:
    """A sink that takes one piece at once and then only what it is told to take."""

    def __init__(self, *, free: bool = False) -> None:
        self.taken: list[bytes] = []
        self.closed = False
        self._free = free
        self._room = anyio.Event()

    def write(self, data: bytes) -> bool:
        self.taken.append(data)
        return self._free

    async def drained(self) -> None:
        await self._room.wait()
        self._room = anyio.Event()
        if self.closed:
            raise PeerGone

    def close(self) -> None:
        self.closed = True
        self._room.set()

    async def take(self) -> None:
        """Have room for what was handed over, and let the writer notice."""
        self._room.set()
        await anyio.wait_all_tasks_blocked()


async def test_a_frame_to_a_free_sink_is_handed_over_at_once() -> None:
    sink = Stuck(free=True)
    Writer(sink).post(b"one")
    assert sink.taken == [b"one"]


async def test_control_frames_overtake_waiting_text_but_split_no_frame() -> None:
    sink = Stuck()
    writer = Writer(sink)
    async with anyio.create_task_group() as group:
        group.start_soon(writer.run)
        for text in (b"<text 1>", b"<text 2>"):
            group.start_soon(writer.text, text)
        await anyio.wait_all_tasks_blocked()
        writer.post(b"<answer 1>")
        writer.post(b"<answer 2>")
        for _ in range(3):
            await sink.take()
        assert sink.taken == [b"<text 1>", b"<answer 1><answer 2>", b"<text 2>"]
        group.cancel_scope.cancel()


async def test_a_text_sender_waits_until_the_system_took_its_frame() -> None:
    sink = Stuck()
    writer = Writer(sink)
    order: list[str] = []

    async def send() -> None:
        for number in range(3):
            await writer.text(b"%d" % number)
            order.append(f"sent {number}")

    async with anyio.create_task_group() as group:
        group.start_soon(writer.run)
        group.start_soon(send)
        await anyio.wait_all_tasks_blocked()
        assert (sink.taken, order) == ([b"0"], [])
        await sink.take()
        assert (sink.taken, order) == ([b"0", b"1"], ["sent 0"])
        group.cancel_scope.cancel()


async def test_nothing_grows_while_the_peer_does_not_read() -> None:
    sink = Stuck()
    writer = Writer(sink)

    async def chatter() -> None:
        while True:
            await writer.text(b"x" * 1000)

    async with anyio.create_task_group() as group:
        group.start_soon(writer.run)
        for _ in range(5):
            group.start_soon(chatter)
        await anyio.wait_all_tasks_blocked()
        assert sum(map(len, sink.taken)) == 1000
        writer.post(b"answer")
        assert writer.backlog == len(b"answer")
        group.cancel_scope.cancel()


async def test_a_cancelled_text_is_not_sent_unless_its_first_bytes_are_out() -> None:
    sink = Stuck()
    writer = Writer(sink)
    async with anyio.create_task_group() as group:
        group.start_soon(writer.run)
        async with anyio.create_task_group() as senders:
            senders.start_soon(writer.text, b"begun")
            senders.start_soon(writer.text, b"waiting")
            await anyio.wait_all_tasks_blocked()
            senders.cancel_scope.cancel()
        writer.post(b"after")
        await sink.take()
        await sink.take()
        assert sink.taken == [b"begun", b"after"]
        group.cancel_scope.cancel()


async def test_a_peer_that_reads_nothing_for_too_much_is_given_up() -> None:
    sink = Stuck()
    writer = Writer(sink, max_backlog=100)
    async with anyio.create_task_group() as group:
        group.start_soon(writer.run)
        writer.post(b"x" * 90)
        writer.post(b"x" * 100)
        assert not writer.gone
        writer.post(b"x")
        assert (writer.gone, sink.closed, writer.backlog) == (True, True, 0)
        # `run` returns, and with it the group.
    writer.post(b"nobody hears it")
    with pytest.raises(PeerGone):
        await writer.text(b"nor that")


async def test_a_peer_that_goes_wakes_every_text_sender() -> None:
    pipe = MemoryPipe(capacity=0)
    writer = Writer(pipe)
    woken: list[int] = []

    async def send(number: int) -> None:
        with pytest.raises(PeerGone):
            await writer.text(b"text")
        woken.append(number)

    async with anyio.create_task_group() as group:
        for number in range(3):
            group.start_soon(send, number)
        await anyio.wait_all_tasks_blocked()
        group.start_soon(writer.run)
        pipe.close()
    assert sorted(woken) == [0, 1, 2]


async def test_flush_returns_when_all_that_was_posted_is_taken() -> None:
    sink = Stuck()
    writer = Writer(sink)
    flushed: list[bool] = []

    async def flush() -> None:
        await writer.flush()
        flushed.append(True)

    async with anyio.create_task_group() as group:
        group.start_soon(writer.run)
        writer.post(b"a")
        writer.post(b"b")
        group.start_soon(flush)
        for _ in range(2):
            await anyio.wait_all_tasks_blocked()
            assert not flushed
            await sink.take()
        await sink.take()
        assert flushed
        group.cancel_scope.cancel()


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=30), st.integers(0, 12))
def test_every_frame_arrives_whole_once_and_in_its_class_in_order(
    sent: list[tuple[bool, int]], capacity: int
) -> None:
    """`sent`: whether it is control, and how many turns of the reader come after it."""
    got = anyio.run(_exchange, sent, capacity)
    frames = [f"<{number}>" for number in range(len(sent))]
    assert sorted(got) == sorted(frames)
    for kind in (True, False):
        mine = [f for f, (control, _) in zip(frames, sent, strict=True) if control is kind]
        assert [frame for frame in got if frame in mine] == mine


async def _exchange(sent: list[tuple[bool, int]], capacity: int) -> list[str]:
    pipe = MemoryPipe(capacity)
    writer = Writer(pipe)
    arrived = bytearray()

    async def read_some(turns: int) -> None:
        for _ in range(turns):
            with anyio.move_on_after(0):
                arrived.extend(await pipe.read())

    async with anyio.create_task_group() as group, anyio.create_task_group() as senders:
        group.start_soon(writer.run)
        for number, (control, turns) in enumerate(sent):
            frame = b"<%d>" % number
            if control:
                writer.post(frame)
            else:
                senders.start_soon(writer.text, frame)
                await anyio.lowlevel.checkpoint()
            await read_some(turns)
        senders.start_soon(_finish, writer, pipe)
        while data := await pipe.read():
            arrived.extend(data)
        group.cancel_scope.cancel()
    return [part + ">" for part in arrived.decode().split(">")[:-1]]


async def _finish(writer: Writer, pipe: MemoryPipe) -> None:
    await writer.flush()
    pipe.close()


async def test_text_may_be_offered_while_the_way_is_free_and_nobody_waits_for_it() -> None:
    sink = Stuck(free=True)
    writer = Writer(sink)
    assert writer.free
    writer.offer(b"one")
    assert sink.taken == [b"one"]
    assert writer.free


async def test_the_way_is_not_free_while_the_system_takes_nothing_or_the_peer_is_gone() -> None:
    writer = Writer(Stuck())
    writer.offer(b"one")
    assert not writer.free
    gone = Writer(Stuck(free=True))
    gone.lose()
    assert not gone.free


@pytest.mark.parametrize("end", ["taken", "gone"])
async def test_there_is_room_again_when_enough_was_taken_or_the_peer_is_gone(end: str) -> None:
    sink = Stuck()
    writer = Writer(sink)
    came: list[str] = []

    async def wait_for_room() -> None:
        await writer.room()
        came.append("room")

    async with anyio.create_task_group() as group:
        group.start_soon(writer.run)
        await wait_for_room()
        for _ in range(12):
            writer.post(b"x" * (FULL // 8))
        assert writer.backlog > FULL
        group.start_soon(wait_for_room)
        while end == "taken" and writer.backlog > ROOMY:
            assert came == ["room"]
            await sink.take()
        if end == "gone":
            await anyio.wait_all_tasks_blocked()
            assert came == ["room"]
            writer.lose()
        await anyio.wait_all_tasks_blocked()
        assert came == ["room", "room"]
        writer.lose()
