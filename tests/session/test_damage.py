"""A session's file that something else wrote into: it opens as far as it is whole, or says why."""

from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnbuckle.agent.inbox import Ended
from turnbuckle.agent.sessions import SessionUnreadable
from turnbuckle.session.events import UserMessage
from turnbuckle.session.store import read_lines
from turnbuckle.testing.agents import driven
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.strategies import soak
from turnbuckle.testing.tools import tool
from turnbuckle.tools.tool import Go

SESSION = "20260101-000000-abcdef01"


async def _found(_: object, _go: Go) -> str:
    return "what it found \u2028 é\n" * 9


@pytest.fixture(scope="module")
def whole() -> bytes:
    """The file of a session with three turns, one of them with a call of a tool."""

    async def play(folder: Path) -> bytes:
        script = [say("one"), say("", ("c", "find", {})), say("two"), say("three")]
        async with driven(Scripted(script), folder, tools=[tool("find", _found)]) as agent:
            for prompt in ("first", "second", "third"):
                await agent.say(prompt)
            agent_id = agent.opened.session.id.encode()
        (path,) = folder.rglob("*.jsonl")
        return path.read_bytes().replace(agent_id, SESSION.encode())

    with TemporaryDirectory() as folder:
        return anyio.run(play, Path(folder))


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """The bytes of a file after what disks, synchronisers and editors do to files."""
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(data)))
        to = min(len(data), at + draw(st.sampled_from((1, 3, 100, 600))))
        lines = data.splitlines(keepends=True)
        line = draw(st.integers(0, max(0, len(lines) - 1)))
        match draw(st.integers(0, 8)):
            case 0:
                data = data[:at] + draw(st.binary(min_size=1, max_size=3)) + data[at + 1 :]
            case 1:
                data = data[:at] + data[to:]
            case 2:
                data = data[:at] + bytes(to - at) + data[to:]
            case 3:
                data = data[:at]
            case 4:
                data = b"".join([*lines[: line + 1], *lines[line:]])
            case 5:
                data = b"".join([*lines[:line], *lines[line + 1 :]])
            case 6:
                data = b"".join([*lines[:line], *lines[line + 1 :], *lines[line : line + 1]])
            case 7:
                data = data.replace(b"\n", b"\r\n")
            case _:
                ends = (b"\n", b"\n\n", bytes(512), b"{}\n", b"null\n", b"[1]\n", b"\xff\xfe")
                data += draw(st.sampled_from(ends))
    return data


def bytes_of(folder: Path) -> bytes:
    """All that is kept of the session: its file, and what was set aside."""
    (path,) = folder.rglob("*.jsonl")
    aside = sorted(folder.rglob("*.torn-*"))
    return path.read_bytes() + b"".join(one.read_bytes() for one in aside)


@settings(max_examples=soak(100), deadline=None)
@given(st.data())
async def test_a_damaged_file_is_read_as_far_as_it_is_whole_and_loses_nothing(
    whole: bytes, given_: st.DataObject
) -> None:
    data = given_.draw(damaged(whole), "file")
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "state" / "sessions" / "2026-01" / f"{SESSION}.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        goes_on = await played(folder, path)
        if not goes_on:
            assert path.read_bytes() == data
            return
        kept = bytes_of(folder)
        lines, torn = read_lines(path)
        before = data[: len(data) - len(torn)]
        assert all(piece in kept for piece in before.splitlines())
        model = Scripted([])
        async with driven(model, folder, session_id=SESSION) as agent:
            assert not agent.opened.read_only
            assert agent.opened.session.damage is None
            assert len(agent.entries) == len(lines)
            said = [f.content for f in agent.facts if isinstance(f, UserMessage)]
            assert said[-1] == "and on"


async def played(folder: Path, path: Path) -> bool:
    """Open the session and send a message, if it can be written; whether that was so."""
    model = Scripted([say("fine")] * 9)
    try:
        async with driven(model, folder, session_id=SESSION) as agent:
            if agent.opened.read_only:
                assert agent.opened.session.damage
                return False
            agent.prompts = 100  # the keys of before are taken
            end = await agent.say("and on")
            assert isinstance(end, Ended)
            if end.end.kind != "completed":  # a fact says something else than its line: not sent
                assert end.end.failure is not None
                assert "is not what the log says" in end.end.failure.message
                assert not model.requests
            return True
    except* SessionUnreadable:
        pass
    return False


@pytest.mark.parametrize(
    ("old", "new"), [(b"\n", b"\r\n"), (b'"type":', b'"type": '), (b'{"seq":', b'{ "seq":')]
)
async def test_a_file_whose_lines_were_spelled_anew_goes_on(
    whole: bytes, tmp_path: Path, old: bytes, new: bytes
) -> None:
    path = tmp_path / "state" / "sessions" / "2026-01" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(whole.replace(old, new))
    model = Scripted([say("fine"), say("again")])
    for prompt in ("and on", "and on again"):
        async with driven(model, tmp_path, session_id=SESSION) as agent:
            assert not agent.opened.read_only
            agent.prompts = len(model.requests) + 100  # the keys of before are taken
            end = await agent.say(prompt)
            assert isinstance(end, Ended)
            assert end.end.kind == "completed"
    assert path.read_bytes().startswith(whole.replace(old, new))
