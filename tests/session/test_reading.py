"""Sessions on disk as others read them."""

from pathlib import Path

import pytest

from turnbuckle.session.codec import encode_fact, line
from turnbuckle.session.events import (
    Fact,
    InboxAdded,
    SessionCreated,
    SessionTitle,
    TurnEnd,
    TurnStart,
)
from turnbuckle.session.parts import End
from turnbuckle.session.reading import (
    Unreadable,
    Verified,
    find_files,
    outline,
    records,
    session_files,
    verify_file,
)
from turnbuckle.testing.agents import driven
from turnbuckle.testing.scripted import Scripted, say

COMPLETED = End(kind="completed")


def write(state: Path, session_id: str, *facts: Fact, month: str = "2026-11") -> Path:
    """A session's file with these facts."""
    path = state / "sessions" / month / f"{session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        b"".join(line(n, 1000 + n, fact, encode_fact(fact)) for n, fact in enumerate(facts))
    )
    return path


def created(session_id: str = "s") -> SessionCreated:
    return SessionCreated(version=1, id=session_id, cwd="file:///work")


def sent(prompt: str) -> InboxAdded:
    return InboxAdded(key="k", target="turn", input=prompt)


async def session(state: Path) -> Path:
    """The file of a real session of two turns."""
    async with driven(Scripted([say("one"), say("two")]), state) as agent:
        await agent.say("first")
        await agent.say("second")
        await agent.opened.session.flush()
        (path,) = session_files(agent.state)
        return path


def test_the_newest_session_comes_first(tmp_path: Path) -> None:
    write(tmp_path, "20261101-a", created(), month="2026-11")
    write(tmp_path, "20261230-b", created(), month="2026-12")
    write(tmp_path, "20261102-c", created(), month="2026-11")
    assert [p.stem for p in session_files(tmp_path)] == ["20261230-b", "20261102-c", "20261101-a"]


def test_where_there_is_no_state_there_are_no_sessions(tmp_path: Path) -> None:
    assert session_files(tmp_path / "nowhere") == []


def test_a_session_is_found_by_its_id_or_its_beginning(tmp_path: Path) -> None:
    short, long = write(tmp_path, "ab", created()), write(tmp_path, "abc", created())
    assert find_files(tmp_path, "ab") == [short]
    assert find_files(tmp_path, "abc") == [long]
    assert find_files(tmp_path, "a") == [long, short]
    assert find_files(tmp_path, "*") == []


def test_an_outline_says_what_a_session_came_to(tmp_path: Path) -> None:
    facts = (sent("\n Fix it\nnow"), TurnStart(turn=1), TurnEnd(turn=1, end=COMPLETED))
    path = write(tmp_path, "s", created(), *facts)
    seen = outline(path)
    assert (seen.session_id, seen.title, seen.turns, seen.end) == ("s", "Fix it", 1, "completed")
    assert (seen.created, seen.updated, seen.cwd) == (1000, 1003, "file:///work")
    assert seen.size == path.stat().st_size


def test_a_given_title_stands_before_the_first_prompt(tmp_path: Path) -> None:
    path = write(tmp_path, "s", created(), sent("Fix it"), SessionTitle(title="T"), sent("again"))
    assert outline(path).title == "T"


def test_a_turn_that_has_no_end_has_none_in_the_outline(tmp_path: Path) -> None:
    first = (TurnStart(turn=1), TurnEnd(turn=1, end=COMPLETED))
    seen = outline(write(tmp_path, "s", created(), *first, TurnStart(turn=2)))
    assert (seen.turns, seen.end) == (2, None)


def test_a_torn_tail_does_not_count(tmp_path: Path) -> None:
    path = write(tmp_path, "s", created(), TurnStart(turn=1))
    with path.open("ab") as file:
        file.write(b'{"seq":2,"time":1002,"type":"turn/e')
    assert outline(path).damaged is None
    assert verify_file(path) == Verified(0, ())
    assert len(list(records(path))) == 2


@pytest.mark.parametrize(
    "damage", [b"garbage\n", b'{"seq":1,"time":1,"type":"turn/end","data":{}}\n', b"\n"]
)
def test_a_damaged_session_is_outlined_up_to_the_damage(damage: bytes, tmp_path: Path) -> None:
    path = write(tmp_path, "s", created(), sent("Fix it"))
    path.write_bytes(path.read_bytes() + damage)
    seen = outline(path)
    assert seen.title == "Fix it"
    assert seen.damaged is not None
    assert seen.damaged.startswith("line 3 is damaged")


def test_a_file_that_cannot_be_opened_is_unreadable(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "s.jsonl"
    folder.mkdir(parents=True)
    for read in (outline, verify_file, lambda path: list(records(path))):
        with pytest.raises(Unreadable, match="could not be read"):
            read(folder)


async def test_the_requests_of_a_real_session_are_verified(tmp_path: Path) -> None:
    assert verify_file(await session(tmp_path)) == Verified(2, ())


async def test_a_changed_answer_shows_in_the_requests_after_it(tmp_path: Path) -> None:
    path = await session(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"content":"one"', b'"content":"won"'))
    assert verify_file(path) == Verified(2, (2,))


async def test_a_session_that_is_damaged_cannot_be_verified(tmp_path: Path) -> None:
    path = await session(tmp_path)
    path.write_bytes(path.read_bytes() + b'{"seq":99,"time":1,"type":"user/message","data":}\n')
    with pytest.raises(Unreadable, match="after request 2 is damaged"):
        verify_file(path)
    with pytest.raises(Unreadable, match="is damaged"):
        list(records(path))
