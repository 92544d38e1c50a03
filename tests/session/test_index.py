"""The list of sessions: order, pages, words, and files that are no sessions."""

import os
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.session.codec import encode_fact, line
from turnbuckle.session.events import (
    AssistantMessage,
    Fact,
    InboxAdded,
    SessionCreated,
    SessionTitle,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.index import Index, Listed, Live, Page, said_in_file
from turnbuckle.session.parts import End
from turnbuckle.session.search import SHOWN, Words, said_in


def write(state: Path, name: str, *facts: Fact, at: int = 1000, cwd: str = "file:///work") -> Path:
    """A session with these facts, the last of them at `at`."""
    path = state / "sessions" / "2026-11" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = (SessionCreated(version=1, id=name, cwd=cwd), *facts)
    first = at - len(whole) + 1
    path.write_bytes(
        b"".join(line(n, first + n, fact, encode_fact(fact)) for n, fact in enumerate(whole))
    )
    return path


def said(prompt: str, answer: str = "Done.", turn: int = 1) -> tuple[Fact, ...]:
    """A turn."""
    return (
        InboxAdded(key=f"k{turn}", target="turn", input=prompt),
        TurnStart(turn=turn),
        UserMessage(turn=turn, step=1, key=f"k{turn}", content=prompt),
        AssistantMessage(turn=turn, step=1, content=answer, finish="stop"),
        TurnEnd(turn=turn, end=End(kind="completed")),
    )


def ids(page: Page) -> list[str]:
    return [one.session_id for one in page.sessions]


async def found(state: Path, query: str) -> list[tuple[str, str | None]]:
    page = await Index(state).page(words=Words(query))
    return [(one.session_id, one.match) for one in page.sessions]


async def test_what_was_used_last_comes_first(tmp_path: Path) -> None:
    write(tmp_path, "20261101-a", *said("a"), at=5000)
    write(tmp_path, "20261102-b", *said("b"), at=4000)
    write(tmp_path, "20261103-c", *said("c"), *said("d", turn=2), at=6000)
    page = await Index(tmp_path).page()
    assert ids(page) == ["20261103-c", "20261101-a", "20261102-b"]
    assert page.sessions[0] == Listed(
        session_id="20261103-c", updated=6000, title="c", cwd="file:///work", turns=2
    )
    assert page.after is None


async def test_pages_hold_every_session_once(tmp_path: Path) -> None:
    for number in range(7):
        write(tmp_path, f"s-{number}", *said("x"), at=1000 + number // 2)
    index, after, seen = Index(tmp_path), None, list[str]()
    for _ in range(3):
        page = await index.page(after=after, size=3)
        seen += ids(page)
        after = page.after
    assert after is None
    assert sorted(seen) == [f"s-{number}" for number in range(7)]
    assert len(ids(await index.page(size=7))) == 7
    assert (await index.page(size=7)).after is None


async def test_a_session_that_goes_on_is_seen_as_it_is_now(tmp_path: Path) -> None:
    write(tmp_path, "s-1", *said("x"), at=1000)
    write(tmp_path, "s-2", *said("y"), at=2000)
    index = Index(tmp_path)
    assert ids(await index.page()) == ["s-2", "s-1"]
    write(tmp_path, "s-1", *said("x"), *said("more", turn=2), at=3000)
    page = await index.page()
    assert (ids(page), page.sessions[0].turns) == (["s-1", "s-2"], 2)
    (tmp_path / "sessions" / "2026-11" / "s-1.jsonl").unlink()
    assert ids(await index.page()) == ["s-2"]


async def test_only_the_sessions_of_a_folder_are_listed_if_that_is_wanted(tmp_path: Path) -> None:
    write(tmp_path, "s-1", *said("x"), cwd="file:///one")
    write(tmp_path, "s-2", *said("x"), cwd="file:///two")
    page = await Index(tmp_path).page(wanted=lambda cwd: cwd == "file:///two")
    assert ids(page) == ["s-2"]


async def test_a_session_in_which_nothing_has_happened_is_not_listed(tmp_path: Path) -> None:
    write(tmp_path, "s-1")
    path = write(tmp_path, "s-2")
    path.write_bytes(b'{"seq":0,"ti')
    (path.parent / "s-3.jsonl").touch()
    child = write(tmp_path, "s-4")
    created = SessionCreated(version=1, id="s-4", parent="s-1")
    child.write_bytes(line(0, 1000, created, encode_fact(created)))
    page = await Index(tmp_path).page()
    assert [(one.session_id, one.parent) for one in page.sessions] == [("s-4", "s-1")]


async def test_damaged_sessions_are_listed_as_such(tmp_path: Path) -> None:
    path = write(tmp_path, "s-1", *said("Fix it"), at=2000)
    path.write_bytes(path.read_bytes() + b"garbage\n")
    os.utime(path, (1, 1))
    (path.parent / "s-2.jsonl").write_bytes(b"\x00\xff\n" * 10)
    os.utime(path.parent / "s-2.jsonl", (2, 2))
    page = await Index(tmp_path).page()
    assert [(one.session_id, one.title, one.updated) for one in page.sessions] == [
        ("s-2", None, 2000),
        ("s-1", "Fix it", 1000),
    ]
    assert all(one.damaged for one in page.sessions)


async def test_what_is_no_file_of_ours_stops_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, "s-1", *said("x"))
    (path.parent / "s-2.jsonl").mkdir()
    if sys.platform != "win32":
        (path.parent / "s-3.jsonl").symlink_to(path)
        (path.parent / "s-4.jsonl").symlink_to("/dev/zero")
        os.mkfifo(path.parent / "s-5.jsonl")
    index = Index(tmp_path)
    assert ids(await index.page()) == ["s-1"]
    assert ids(await index.page(words=Words("x"))) == ["s-1"]
    assert ids(await Index(tmp_path / "nowhere").page()) == []


async def test_an_open_session_is_told_as_it_is_here(tmp_path: Path) -> None:
    write(tmp_path, "s-1", *said("on disk"), at=5000)
    now = Listed(session_id="s-1", updated=9000, title="now", turns=7)
    unsaved = Listed(session_id="s-2", updated=8000, title="new")
    live = [Live(now, lambda: ["spoken here"]), Live(unsaved, lambda: ["nothing of it"])]
    index = Index(tmp_path)
    assert (await index.page(live=live)).sessions == (now, unsaved)
    page = await index.page(live=live, words=Words("HERE"))
    assert [(one.session_id, one.match) for one in page.sessions] == [("s-1", "spoken here")]
    assert ids(await index.page(live=live, words=Words("disk"))) == []


# Words.


async def test_words_are_found_in_titles_prompts_and_answers(tmp_path: Path) -> None:
    write(tmp_path, "s-1", *said("Fix the parser\nand the lexer", "It was the Lexer."), at=3000)
    write(tmp_path, "s-2", *said("hello", "no"), SessionTitle(title="Lexing"), at=2000)
    write(tmp_path, "s-3", InboxAdded(key="k", target="turn", input="lexer waits"), at=1000)
    assert await found(tmp_path, "LEXER") == [("s-1", "and the lexer"), ("s-3", "lexer waits")]
    assert await found(tmp_path, "lexing") == [("s-2", "Lexing")]
    assert await found(tmp_path, "lexer was") == [("s-1", "It was the Lexer.")]
    assert await found(tmp_path, "parser lexer") == [("s-1", "Fix the parser")]
    assert await found(tmp_path, "parser nothing") == []


async def test_what_only_the_agent_saw_is_not_found(tmp_path: Path) -> None:
    pointed = UserMessage(turn=1, step=1, content="secret sauce", source="context")
    write(tmp_path, "s-1", *said("x"), pointed)
    for query in ("sauce", "inbox/added", "seq", "completed"):
        assert await found(tmp_path, query) == []


async def test_words_that_json_writes_otherwise_are_found(tmp_path: Path) -> None:
    text = 'a "quoted\\path" and\ttab, ÄRGER über 日本'
    write(tmp_path, "s-1", *said(text))
    for query in ('"quoted', "quoted\\path", '"', "\\", "ärger", "ÜBER", "日本", "tab,"):
        assert await found(tmp_path, query) == [("s-1", text)], query


async def test_a_long_line_is_cut_around_what_was_found(tmp_path: Path) -> None:
    write(tmp_path, "s-1", *said("x " * 5000 + "needle" + " y" * 5000))
    ((_, match),) = await found(tmp_path, "needle")
    assert match is not None
    assert "needle" in match
    assert len(match) <= SHOWN + 2


async def test_damage_does_not_hide_what_stands_before_it(tmp_path: Path) -> None:
    path = write(tmp_path, "s-1", *said("needle"))
    path.write_bytes(
        path.read_bytes() + b'{"seq":9,"time":1,"type":"user/message","data":[]}\n\xff\n'
    )
    assert await found(tmp_path, "needle") == [("s-1", "needle")]


LETTERS = st.text('abÄß"\\\n\t 日\u0001', max_size=20)


@given(st.lists(LETTERS, max_size=4), LETTERS)
def test_the_quick_look_never_misses_what_the_slow_one_finds(texts: list[str], query: str) -> None:
    words = Words(query)
    facts = [AssistantMessage(turn=1, step=1, content=text, finish="stop") for text in texts]
    lines = [line(n, 0, fact, encode_fact(fact)) for n, fact in enumerate(facts)]
    stored = [said for one in lines for said in words.said(one)]
    assert stored == texts
    holds = all(any(word in text.lower() for text in texts) for word in words.words)
    assert (words.find(stored) is not None) == holds
    if holds:
        assert words.may_be_in(b"".join(lines))


def test_what_is_said_live_is_what_is_said_in_the_file(tmp_path: Path) -> None:
    from turnbuckle.session.reading import load

    path = write(tmp_path, "s-1", *said("Fix it"), SessionTitle(title="T"))
    words = Words("t")
    assert list(said_in(load(path).entries)) == list(said_in_file(path, words))
