"""What is allowed for the session: a fold over the log, by exact subject."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.agent.grants import Grant, Grants, covers, grantable
from turnbuckle.session.codec import Entry
from turnbuckle.session.events import Fact, GrantAdded, GrantRevoked, TurnStart
from turnbuckle.tools.caution import Caution
from turnbuckle.tools.subject import Change, Command, Internal, Question, Read, Subject
from turnbuckle.workspace.changes import make_change
from turnbuckle.workspace.paths import Place, Roots, uri_of

NONE = Caution()


def entries(*facts: Fact) -> list[Entry]:
    return [Entry(seq, 1000 + seq, fact) for seq, fact in enumerate(facts)]


def added(grant_id: str) -> GrantAdded:
    return GrantAdded(grant_id=grant_id, subject={"kind": "change", "uri": grant_id})


def revoked(grant_id: str) -> GrantRevoked:
    return GrantRevoked(grant_id=grant_id)


FACTS = st.one_of(
    st.sampled_from("abc").map(added),
    st.sampled_from("abc").map(revoked),
    st.just(TurnStart(turn=1)),
)


@given(st.lists(FACTS, max_size=12), st.lists(st.integers(0, 12)))
def test_following_in_any_pieces_is_reading_it_at_once(facts: list[Fact], stops: list[int]) -> None:
    log = entries(*facts)
    grants = Grants()
    for stop in sorted(stops):
        grants.follow(log[:stop])
    assert grants.follow(log) == Grants().follow(log)
    held: list[str] = []
    for fact in facts:
        if isinstance(fact, GrantAdded) and fact.grant_id not in held:
            held.append(fact.grant_id)
        elif isinstance(fact, GrantRevoked) and fact.grant_id in held:
            held.remove(fact.grant_id)
    assert [grant.grant_id for grant in grants.follow(log)] == held


def test_a_grant_says_since_when_it_holds() -> None:
    log = entries(TurnStart(turn=1), added("a"))
    assert Grants().follow(log) == (Grant("a", {"kind": "change", "uri": "a"}, 1001),)


def change(*paths: Path) -> Change:
    return Change(files=tuple(make_change(uri_of(path), "", "x\n", "create") for path in paths))


def command(line: str = "make", cwd: str = "file:///w", timeout: float = 1) -> Command:
    return Command(command=line, cwd=cwd, timeout=timeout)


def read(folder: Path, *paths: str) -> Read:
    roots = Roots(cwd=folder, folders=(folder,))
    return Read(places=tuple(map(roots.resolve, paths)))


def held(subject: Subject) -> list[Grant]:
    return [Grant(str(n), one, 0) for n, one in enumerate(grantable(subject, NONE))]


def test_a_command_is_its_line_and_its_folder_and_not_its_time_limit() -> None:
    grants = held(command())
    assert covers(grants, command(timeout=99), NONE)
    assert not covers(grants, command("make "), NONE)
    assert not covers(grants, command("make x"), NONE)
    assert not covers(grants, command(cwd="file:///w/sub"), NONE)


def test_a_change_is_covered_if_each_of_its_files_is(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    assert covers(held(change(a, b)), change(b), NONE)
    assert covers([*held(change(a)), *held(change(b))], change(a, b), NONE)
    assert not covers(held(change(a)), change(a, b), NONE)
    assert not covers(held(change(a)), change(a / "c"), NONE)


def test_a_link_is_what_it_leads_to(tmp_path: Path) -> None:
    link, other = tmp_path / "link", tmp_path / "other"
    link.symlink_to(tmp_path / "a")
    grants = held(change(link))
    assert covers(grants, change(tmp_path / "a"), NONE)
    link.unlink()
    link.symlink_to(other)
    assert not covers(grants, change(link), NONE)


def test_of_a_read_only_what_lies_outside_has_to_be_granted(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    grants = held(read(work, "in", "../out"))
    assert [grant.subject for grant in grants] == [
        {"kind": "read", "uri": uri_of(tmp_path / "out")}
    ]
    assert covers(grants, read(work, "../out"), NONE)
    assert not covers(grants, read(work, "../out/more"), NONE)
    assert not covers(grants, read(work, ".."), NONE)


def test_a_grant_to_read_is_none_to_write(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert not covers(held(read(tmp_path / "work", str(out))), change(out), NONE)
    assert not covers(held(change(out)), read(tmp_path / "work", str(out)), NONE)


def test_nothing_else_can_be_granted(tmp_path: Path) -> None:
    secret = Place(uri="file:///k", path=Path("/k"), shown="k", inside=True, secret=True)
    for subject in (
        Question(question="?"), Internal(), Read(places=()), Read(places=(secret,)),
        change(tmp_path / ".git" / "config"), change(tmp_path / "a", tmp_path / "AGENTS.md"),
        change(tmp_path / "key.pem"), Change(files=(make_change("untitled:a", "", "x", "create"),)),
    ):  # fmt: skip
        assert grantable(subject, NONE) == ()
        assert not covers([Grant("a", {"kind": "command"}, 0)], subject, NONE)


def test_removing_and_moving_a_file_is_asked_about_whatever_was_granted(tmp_path: Path) -> None:
    roots = Roots(cwd=tmp_path, folders=(tmp_path,))
    file = make_change(uri_of(tmp_path / "a"), "x\n", "", "edit")
    for kind in ("delete", "rename"):
        other = replace(file, kind=kind, target=roots.resolve("b") if kind == "rename" else None)
        assert grantable(Change(files=(other,)), NONE) == ()
        assert not covers(
            held(change(tmp_path / "a", tmp_path / "b")), Change(files=(other,)), NONE
        )


@pytest.mark.parametrize("target", [".git/hooks/x", "AGENTS.md", ".env"])
def test_moving_a_file_to_where_others_run_it_is_asked_about_each_time(
    tmp_path: Path, target: str
) -> None:
    roots = Roots(cwd=tmp_path, folders=(tmp_path,))
    file = make_change(uri_of(tmp_path / "a"), "x\n", "", "edit")
    moved = replace(file, kind="rename", target=roots.resolve(target))
    assert NONE.reason(Change(files=(moved,))) is not None
