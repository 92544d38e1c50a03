"""The log on disk."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from turnbuckle.kernel.scope import Scope
from turnbuckle.session import codec
from turnbuckle.session.events import AssistantChunk, Fact, PluginFact, SessionTitle, TurnStart
from turnbuckle.session.log import Log
from turnbuckle.session.store import Locked, Store, StoreFailed, Sync, read_lines, sync_data
from turnbuckle.testing.strategies import facts


@contextmanager
def writing(path: Path, sync: Sync = sync_data) -> Iterator[tuple[Log, Store]]:
    store, log = Store(path, sync=sync), Log(lambda: 1)
    lines = store.read()
    store.begin()
    for line in lines:
        log.load([codec.parse(line)])
    log.observe(Scope("s"), store)
    try:
        yield log, store
    finally:
        store.close()


def stored(path: Path) -> list[Fact]:
    return [codec.parse(line).fact for line in read_lines(path)[0]]


def test_nothing_is_made_before_the_first_fact(tmp_path: Path) -> None:
    with writing(tmp_path / "deep" / "s.jsonl"):
        assert list(tmp_path.iterdir()) == []


def test_a_fact_is_written_through_at_once_and_a_chunk_waits_for_the_next(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with writing(path) as (log, _):
        log.append(TurnStart(turn=1))
        assert stored(path) == [TurnStart(turn=1)]
        log.append(AssistantChunk(turn=1, step=1, text="a"))
        assert len(stored(path)) == 1
        log.append(TurnStart(turn=2))
        assert len(stored(path)) == 3
        log.append(AssistantChunk(turn=1, step=1, text="x" * 70_000))
        assert len(stored(path)) == 4


def test_waiting_chunks_are_written_through_before_they_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with writing(path) as (log, store):
        log.append(AssistantChunk(turn=1, step=1, text="a"))
        assert stored(path) == []
        store.write_through()
        assert stored(path) == [AssistantChunk(turn=1, step=1, text="a")]


def test_files_are_for_the_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "state" / "s.jsonl"
    with writing(path) as (log, _):
        log.append(TurnStart(turn=1))
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(facts(), max_size=8), st.data())
def test_any_byte_prefix_of_the_file_is_a_prefix_of_the_log(
    tmp_path: Path, history: list[Fact], data: st.DataObject
) -> None:
    path = tmp_path / "s.jsonl"
    path.unlink(missing_ok=True)
    with writing(path) as (log, _):
        for fact in history:
            log.append(fact)
    raw = path.read_bytes() if history else b""
    path.write_bytes(raw[: data.draw(st.integers(0, len(raw)))])
    with writing(path):
        seen = stored(path)
    assert seen == history[: len(seen)]


def test_a_torn_tail_is_set_aside_and_the_log_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with writing(path) as (log, _):
        log.append(TurnStart(turn=1))
    for half in (b'{"seq":1,"ti', b'{"seq":1,"time'):
        with path.open("ab") as file:
            file.write(half)
        with writing(path) as (log, _):
            pass
    assert (tmp_path / "s.torn-1").read_bytes() == b'{"seq":1,"ti'
    assert (tmp_path / "s.torn-2").read_bytes() == b'{"seq":1,"time'
    with writing(path) as (log, _):
        assert log.append(TurnStart(turn=2)).seq == 1
    assert stored(path) == [TurnStart(turn=1), TurnStart(turn=2)]


@pytest.mark.parametrize(
    "tail",
    [b"\n", b"\0" * 4096, b'{"seq":1,"ty\n\n', b'{"seq":1,"ty\n' + b"\0" * 9, b"\xe6\n \n\0\n"],
)
def test_blank_lines_and_zeros_at_the_end_are_torn_too(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "s.jsonl"
    with writing(path) as (log, _):
        log.append(TurnStart(turn=1))
    with path.open("ab") as file:
        file.write(tail)
    with writing(path) as (log, _):
        log.append(TurnStart(turn=2))
    assert (tmp_path / "s.torn-1").read_bytes() == tail
    assert stored(path) == [TurnStart(turn=1), TurnStart(turn=2)]


def test_a_broken_line_that_a_good_one_follows_is_no_torn_tail(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    lines = [b'{"seq":0}\n', b'{"se\n', b'{"seq":1}\n']
    path.write_bytes(b"".join([*lines, b"\n"]))
    assert read_lines(path) == (lines, b"\n")


def test_lines_are_split_on_the_newline_byte_only(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    fact = SessionTitle(title="a\u2028b\x85c\rd\x0be\n")
    with writing(path) as (log, _):
        log.append(fact)
    assert stored(path) == [fact]


async def test_a_flush_syncs_once_for_what_waits(tmp_path: Path) -> None:
    syncs: list[int] = []

    async def sync(descriptor: int) -> None:
        syncs.append(descriptor)

    with writing(tmp_path / "s.jsonl", sync) as (log, store):
        log.append(TurnStart(turn=1))
        log.append(AssistantChunk(turn=1, step=1, text="a"))
        await store.flush()
        await store.flush()
    assert len(syncs) == 1


async def test_a_failed_sync_stops_and_the_next_flush_writes_it_all_again(tmp_path: Path) -> None:
    path, fail = tmp_path / "s.jsonl", [True]

    async def sync(descriptor: int) -> None:
        if fail.pop() if fail else False:
            raise OSError(28, "No space left on device")
        await sync_data(descriptor)

    with writing(path, sync) as (log, store):
        log.append(TurnStart(turn=1))
        with pytest.raises(StoreFailed, match="No space left on device"):
            await store.flush()
        assert stored(path) == []  # nobody knows what of it is on disk
        log.append(TurnStart(turn=2))
        await store.flush()
        assert stored(path) == [TurnStart(turn=1), TurnStart(turn=2)]


async def test_a_full_disk_leaves_whole_facts_and_loses_none(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with writing(path) as (log, store):
        log.append(TurnStart(turn=1))
        await store.flush()
        size = path.stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, hard))
        try:
            big = PluginFact(name="x", data={"a": "b" * 100})
            log.append(big)
            with pytest.raises(StoreFailed, match="nothing was run"):
                await store.flush()
            assert path.stat().st_size == size
            log.append(TurnStart(turn=2))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        await store.flush()
        assert stored(path) == [TurnStart(turn=1), big, TurnStart(turn=2)]


async def test_an_unwritable_folder_is_said_at_the_flush(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with writing(tmp_path / "file" / "s.jsonl") as (log, store):
        log.append(TurnStart(turn=1))
        with pytest.raises(StoreFailed, match="check the folder"):
            await store.flush()


async def test_a_file_that_could_not_be_opened_at_first_is_free_again_after_the_end(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.jsonl"
    with writing(path) as (log, store):
        path.mkdir()
        for turn in (1, 2):
            log.append(TurnStart(turn=turn))
            with pytest.raises(StoreFailed):
                await store.flush()
        path.rmdir()
        await store.flush()
    with writing(path):
        assert stored(path) == [TurnStart(turn=1), TurnStart(turn=2)]


_HOLD = """
import sys
from pathlib import Path
from turnbuckle.session.store import Store
store = Store(Path(sys.argv[1]))
store.read()
store.begin()
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_process_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with writing(path) as (log, _):
        log.append(TurnStart(turn=1))
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(Locked):
            Store(path).read()
        other.kill()
    with writing(path) as (log, _):
        assert log.append(TurnStart(turn=2)).seq == 1
