"""A log whose lines are damaged, missing, doubled, or newer: what is read, and what is said."""

import re
from collections.abc import Iterator
from pathlib import Path

import anyio
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.agent.agent import Settings
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.agent.sessions import SessionUnreadable
from turnbuckle.model.port import ModelRefused
from turnbuckle.plugins import shipped_tools
from turnbuckle.session import codec
from turnbuckle.session.events import StepStart, TurnEnd
from turnbuckle.session.loading import NewerSession, read_log
from turnbuckle.session.projection import project
from turnbuckle.session.recovery import closing
from turnbuckle.session.store import read_lines
from turnbuckle.testing.agents import MODEL, Driven, driven
from turnbuckle.testing.scripted import Scripted, say


def keep_notes(ctx: PluginContext) -> None:
    def keep(start: StepStart) -> None:
        ctx.session.keep({"step": start.step})

    ctx.on(StepStart, keep)


async def record(folder: Path) -> Path:
    """A session in which much happens: tools, edits, approvals, failures, a plugin's facts."""
    model = Scripted(
        [
            say("I look.", ("r", "read_file", {"path": "a.txt"}), reasoning="hm"),
            say("", ("e", "edit_file", {"path": "a.txt", "edits": [{"old": "one", "new": "1"}]})),
            say("", ("w", "write_file", {"path": "b.txt", "content": "new\n"})),
            say("", ("t", "todo_write", {"items": [{"text": "rest", "state": "open"}]})),
            say("done"),
            ModelRefused("quota", "no money"),
            say("", ("x", "read_file", {"path": "none.txt"})),
            say("gone"),
        ]
    )
    plugins = [shipped_tools.install, keep_notes]
    async with driven(model, folder, plugins=plugins, settings=Settings(model=MODEL)) as session:
        (folder / "work" / "a.txt").write_text("one\ntwo\n")
        session.answer_approvals(True, note="fine")
        for prompt in ("change it", "and now", "look again"):
            await session.say(prompt)
        store = session.opened.session.store
        assert store is not None
        return store.path


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    path = anyio.run(record, tmp_path_factory.mktemp("rich"))
    return read_lines(path)[0]


def turns_before(lines: list[bytes], number: int) -> int:
    """How many turns had ended before the line of this number, counted from 0."""
    return sum(b'"type":"turn/end"' in line for line in lines[:number])


Case = tuple[int, str, list[bytes], str]


def cases(lines: list[bytes]) -> Iterator[Case]:
    """Each line harmed in each way: its number, how, the lines then, and what must be said."""
    for number, line in enumerate(lines):
        before, after, shown = lines[:number], lines[number + 1 :], number + 1
        for how, bad in (
            ("cut", line[: len(line) // 2] + b"\n"),
            ("empty", b"\n"),
            ("binary", b"\x00\xff" * 20 + b"\n"),
            ("no object", b"[1]\n"),
            (
                "without data",
                orjson.dumps({"seq": number, "time": 1, "type": "todo/write"}) + b"\n",
            ),
            ("no number", line.replace(b'"seq":', b'"sec":', 1)),
        ):
            yield number, how, [*before, bad, *after], f"line {shown} is damaged"
        yield number, "doubled", [*before, line, line, *after], f"line {shown + 1} is there twice"
        if after:
            yield number, "missing", [*before, *after], f"a line is missing before line {shown}"


def test_a_whole_log_is_read_whole(rich: list[bytes]) -> None:
    loaded = read_log(rich)
    assert loaded.damage is None
    assert [codec.line(e.seq, e.time, e.fact, codec.encode_fact(e.fact)) for e in loaded.entries]
    assert list(loaded.lines) == rich
    types = {codec.tag(entry.fact) for entry in loaded.entries}
    assert len(types) > 18, "the recorded session should hold much of what there is"


def test_any_line_that_is_damaged_missing_or_doubled_leaves_the_turns_before_it(
    rich: list[bytes],
) -> None:
    seen = 0
    for number, how, lines, said in cases(rich):
        loaded = read_log(lines)
        assert loaded.damage is not None, (number, how)
        assert loaded.damage.startswith(said), (number, how)
        # What is given is whole turns, as they were, and nothing is left open.
        good = number + 1 if how == "doubled" else number
        assert list(loaded.lines) == rich[: len(loaded.lines)], (number, how)
        ends = sum(isinstance(entry.fact, TurnEnd) for entry in loaded.entries)
        assert ends == turns_before(rich, good), (number, how)
        assert closing(loaded.entries) == []
        assert project(loaded.entries).messages is not None
        seen += 1
    assert seen > 8 * 60


def test_a_newer_version_is_refused_with_what_to_do(rich: list[bytes]) -> None:
    for number in range(len(rich)):
        future = b'{"seq":%d,"time":1,"type":"future/thing","data":{}}\n' % number
        with pytest.raises(NewerSession, match=f"line {number + 1} holds future/thing.*newer"):
            read_log([*rich[:number], future, *rich[number + 1 :]])
    head = rich[0].replace(b'"version":1', b'"version":2')
    with pytest.raises(NewerSession, match=r"format 2.*knows 1.*newer version of turnbuckle"):
        read_log([head, *rich[1:]])
    # Also where the newer first line looks like nothing that is known here.
    head = b'{"seq":0,"time":1,"type":"session/created","data":{"version":7,"id":["a"]}}\n'
    with pytest.raises(NewerSession, match="format 7"):
        read_log([head, *rich[1:]])


def test_a_fact_that_may_be_skipped_is_kept_in_its_place(rich: list[bytes]) -> None:
    number = len(rich) // 2
    foreign = b'{"seq":%d,"time":1,"type":"a/b","ignorable":true,"data":{"x":[1]}}\n' % number
    loaded = read_log([*rich[:number], foreign, *rich[number + 1 :]])
    assert loaded.damage is None
    entry = loaded.entries[number]
    assert codec.line(entry.seq, entry.time, entry.fact, codec.encode_fact(entry.fact)) == foreign


@given(data=st.data())
def test_any_bytes_in_place_of_a_line_are_no_crash(rich: list[bytes], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(rich) - 1))
    noise = data.draw(
        st.binary(max_size=60)
        | st.recursive(
            st.none() | st.integers() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["seq", "time", "type", "data"]), inner)
            ),
        ).map(orjson_or_not)
    ).replace(b"\n", b" ")
    try:
        loaded = read_log([*rich[:number], noise + b"\n", *rich[number + 1 :]])
    except NewerSession:
        return
    assert len(loaded.entries) <= number or loaded.damage is None


def orjson_or_not(value: object) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:
        return b"{}"


async def shown(folder: Path, session_id: str) -> Driven:
    async with driven(Scripted([]), folder, session_id=session_id) as session:
        return session


@pytest.mark.parametrize("how", ["cut", "doubled", "missing"])
async def test_a_damaged_session_is_opened_read_only_and_its_file_is_left_alone(
    tmp_path: Path, rich: list[bytes], how: str
) -> None:
    session_id = "20260101-000000-00000000"
    path = tmp_path / "state" / "sessions" / f"{session_id}.jsonl"
    path.parent.mkdir(parents=True)
    harmed = [case for case in cases(rich) if case[1] == how][::7]
    for number, _, lines, _ in harmed:
        raw = b"".join(lines) + b'{"half'
        path.write_bytes(raw)
        async with driven(Scripted([]), tmp_path, session_id=session_id) as session:
            opened = session.opened
            assert opened.read_only
            said = opened.session.damage or ""
            good = number + 1 if how == "doubled" else number
            turns = turns_before(rich, good)
            assert re.search(r"line \d+", said)
            assert f"Fork it at turn {turns} to go on" in said
            assert not await session.sessions.write(opened)
            # Nobody is kept from it.
            async with driven(Scripted([]), tmp_path, session_id=session_id) as other:
                assert other.opened.session.damage == said
        assert path.read_bytes() == raw
        assert sorted(p.suffix for p in path.parent.iterdir()) in ([".jsonl"], [".jsonl", ".lock"])


async def test_a_newer_session_is_refused_and_its_file_is_left_alone(
    tmp_path: Path, rich: list[bytes]
) -> None:
    session_id = "20260101-000000-00000000"
    path = tmp_path / "state" / "sessions" / f"{session_id}.jsonl"
    path.parent.mkdir(parents=True)
    raw = b"".join(rich).replace(b'"version":1', b'"version":9', 1) + b'{"half'
    path.write_bytes(raw)
    with pytest.raises(ExceptionGroup) as caught:
        await shown(tmp_path, session_id)
    assert caught.group_contains(SessionUnreadable, match="newer version of turnbuckle")
    assert path.read_bytes() == raw
