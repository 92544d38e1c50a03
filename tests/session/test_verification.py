"""A session's file proves every request, and says where it was changed."""

import re
from pathlib import Path

import pytest

from turnbuckle.session.reading import Unreadable, session_files
from turnbuckle.session.verification import Difference, Verified, verify_file
from turnbuckle.testing.agents import driven
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.tools import tool
from turnbuckle.tools.tool import Go


async def session(folder: Path) -> Path:
    """The file of a real session of two turns, the first with a tool call."""
    replies = [say("looking", ("1", "look", {})), say("one"), say("two")]

    async def look(_: object, go: Go) -> str:
        return "seen"

    async with driven(Scripted(replies), folder, tools=[tool("look", look)]) as agent:
        await agent.say("first")
        await agent.say("second")
        await agent.opened.session.flush()
        (path,) = session_files(agent.state)
        return path


def line_of(path: Path, tag: str, number: int = 1) -> int:
    """The line of the fact of this type, the first or a later one."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [n for n, line in enumerate(lines, 1) if f'"type":"{tag}"' in line]
    return found[number - 1]


def change(path: Path, line: int, old: str, new: str) -> None:
    """Change one line."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new)
    path.write_text("".join(lines), encoding="utf-8", newline="")


async def test_the_requests_of_a_real_session_are_verified(tmp_path: Path) -> None:
    verified = verify_file(await session(tmp_path))
    assert verified == Verified(3, ())
    assert verified.ok


async def test_a_changed_prompt_is_found(tmp_path: Path) -> None:
    path = await session(tmp_path)
    line, sent = line_of(path, "user/message", 2), line_of(path, "inbox/added", 2)
    change(path, line, "second", "secund")
    verified = verify_file(path)
    assert verified.differing == (3,)
    what = f"this user/message and line {sent}, which says the same, do not agree"
    assert verified.difference == Difference(line, what)


async def test_a_changed_answer_is_found(tmp_path: Path) -> None:
    path = await session(tmp_path)
    line = line_of(path, "assistant/message", 2)
    change(path, line, '"content":"one"', '"content":"won"')
    verified = verify_file(path)
    assert verified.differing == (3,)
    assert verified.difference is not None
    assert verified.difference.line == line


async def test_a_changed_system_prompt_is_found(tmp_path: Path) -> None:
    path = await session(tmp_path)
    line = line_of(path, "request/header")
    change(path, line, '"system":"', '"system":"Obey. ')
    verified = verify_file(path)
    assert verified.differing == (1, 2, 3)
    what = "request 1 is not what was sent; most likely this request/header was changed"
    assert verified.difference == Difference(line, what)


async def test_a_changed_result_is_found(tmp_path: Path) -> None:
    path = await session(tmp_path)
    line = line_of(path, "tool/result")
    change(path, line, "seen", "scene")
    verified = verify_file(path)
    assert verified.differing == (2, 3)
    what = "request 2 is not what was sent; most likely this tool/result was changed"
    assert verified.difference == Difference(line, what)


async def test_a_changed_digest_is_found(tmp_path: Path) -> None:
    path = await session(tmp_path)
    line = line_of(path, "llm/stream", 3)
    text = path.read_text(encoding="utf-8").splitlines()[line - 1]
    digest = re.findall(r'"digest":"(\w+)"', text)[0]
    change(path, line, digest, "0" * 64)
    verified = verify_file(path)
    assert verified.differing == (3,)
    assert verified.difference is not None
    assert verified.difference.line == line


async def test_every_line_that_is_missing_or_doubled_is_found(tmp_path: Path) -> None:
    path = await session(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    for at in range(len(lines) - 1):  # without its last line it is as it was a moment before
        path.write_bytes(b"".join(lines[:at] + lines[at + 1 :]))
        missing = verify_file(path)
        assert missing.difference == Difference(
            at + 1, f"fact {at + 1} stands where fact {at} was due: lines are missing before it"
        )
        path.write_bytes(b"".join(lines[: at + 1] + lines[at:]))
        doubled = verify_file(path)
        assert doubled.difference is not None
        assert (doubled.difference.line, doubled.ok) == (at + 2, False)


@pytest.mark.parametrize("damage", [b"\n", b"nothing\n", b'{"seq":%d,"time":1}\n', b"\xff\x00\n"])
async def test_a_session_that_is_damaged_cannot_be_verified(damage: bytes, tmp_path: Path) -> None:
    path = await session(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    torn = damage.replace(b"%d", b"%d" % len(lines))
    path.write_bytes(b"".join(lines) + torn)
    number = len(lines) + 1
    with pytest.raises(Unreadable, match=f"line {number}, after request 3, is damaged"):
        verify_file(path)


def test_a_file_without_facts_holds_no_requests(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"seq":0,"time')
    assert verify_file(path) == Verified(0, ())
