"""Sessions on disk as others read them."""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.session.codec import encode_fact, line
from turnbuckle.session.events import (
    Fact,
    InboxAdded,
    PluginFact,
    SessionCreated,
    SessionTitle,
    TurnEnd,
    TurnStart,
)
from turnbuckle.session.parts import End
from turnbuckle.session.reading import (
    LINE_LIMIT,
    Unreadable,
    find_files,
    load,
    outline,
    records,
    session_files,
)

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
    assert len(load(path).entries) == 2
    assert len(list(records(path))) == 2


@pytest.mark.parametrize(
    "damage",
    [
        b"garbage\n",
        b"\n",
        b"\x00\xff\xfe\n",
        b'{"seq":2,"time":1,"type":"turn/end","data":{}}\n',
        b'{"seq":2,"time":1,"type":"turn/start","data":{"turn":"one"}}\n',
        b'{"seq":2,"time":1,"type":"turn/start","data":{"turn":1}\n',
        b'{"seq":2,"time":9999999999999999999999,"type":"turn/start","data":{"turn":1}}\n',
        b'{"seq":2,"time":1,"type":"no/such","data":{}}\n',
        b'{"seq":3,"time":1,"type":"turn/start","data":{"turn":1}}\n',
        b'{"seq":1,"time":1,"type":"turn/start","data":{"turn":1}}\n',
        b"[" * 5000 + b"\n",
    ],
)
def test_a_damaged_session_is_outlined_up_to_the_damage(damage: bytes, tmp_path: Path) -> None:
    path = write(tmp_path, "s", created(), sent("Fix it"))
    path.write_bytes(path.read_bytes() + damage)
    seen = outline(path)
    assert seen.title == "Fix it"
    assert (seen.facts, seen.updated) == (2, 1001)
    assert seen.damaged is not None
    assert seen.damaged.startswith("line 3 is damaged")
    kept = load(path)
    assert len(kept.entries) == len(kept.lines) == 2
    assert kept.damaged is not None
    assert kept.damaged.startswith("line 3 ")
    assert "\n" not in kept.damaged


def test_a_file_that_cannot_be_opened_is_unreadable(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "s.jsonl"
    folder.mkdir(parents=True)
    for read in (outline, load, lambda path: list(records(path))):
        with pytest.raises(Unreadable, match="could not be read"):
            read(folder)


def test_what_is_called_a_session_and_is_none_is_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, "s", created())
    folder = path.parent
    (folder / "folder.jsonl").mkdir()
    (folder / "notes.txt").write_text("")
    inner = folder / "folder.jsonl" / "inner.jsonl"
    inner.touch()
    if sys.platform != "win32":
        (folder / "link.jsonl").symlink_to(path)
        (tmp_path / "sessions" / "elsewhere").symlink_to(folder)
        os.mkfifo(folder / "pipe.jsonl")
    assert session_files(tmp_path) == [path, inner]


def test_a_line_without_an_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = write(tmp_path, "s", created(), sent("Fix it"))
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size + LINE_LIMIT)  # zeros, which take no room
    seen = outline(path)
    assert (seen.title, seen.facts) == ("Fix it", 2)
    assert seen.damaged is not None
    assert "longer than" in seen.damaged
    assert load(path).damaged == seen.damaged
    path.write_bytes(b"")
    with path.open("r+b") as file:
        file.truncate(LINE_LIMIT)
    with pytest.raises(Unreadable, match="longer than"):
        outline(path)


def test_what_a_plugin_or_a_later_version_kept_is_no_damage(tmp_path: Path) -> None:
    kept = PluginFact(name="mine", data={"type": "turn/start"})
    path = write(tmp_path, "s", created(), kept)
    with path.open("ab") as file:
        file.write(b'{"seq":2,"time":1,"type":"later/fact","ignorable":true,"data":[]}\n')
    seen = outline(path)
    assert (seen.damaged, seen.facts, seen.turns) == (None, 3, 0)
    assert load(path).damaged is None


@given(st.integers(min_value=0))
def test_any_beginning_of_a_file_reads_as_a_beginning_of_its_facts(cut: int) -> None:
    with TemporaryDirectory() as folder:
        facts = (sent("Fix it"), TurnStart(turn=1), TurnEnd(turn=1, end=COMPLETED))
        path = write(Path(folder), "s", created(), *facts)
        whole = load(path)
        raw = path.read_bytes()
        path.write_bytes(raw[: cut % (len(raw) + 1)])
        part = load(path)
        assert part.damaged is None
        assert part.entries == whole.entries[: len(part.entries)]
        assert outline(path).facts == len(part.entries)
