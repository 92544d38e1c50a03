"""Rules for places: folders, files and patterns, in the workspace and outside."""

from pathlib import Path

import pytest

from turnbuckle.workspace.placerules import place_rule


@pytest.mark.parametrize(
    ("rule", "yes", "no"),
    [
        ("src", ["src", "src/a", "src/b/c"], ["srcs/a", "a/src", "a/src/b", "s"]),
        ("src/", ["src/a"], ["srcs"]),
        ("./src", ["src/a"], ["a/src/b"]),
        ("a/b", ["a/b", "a/b/c"], ["a/bc", "a"]),
        ("*.md", ["a.md", "x/y/a.md"], ["a.mdx", "a.md/b"]),
        ("docs/*.md", ["docs/a.md"], ["docs/x/a.md", "a.md"]),
        ("docs/**", ["docs/a", "docs/x/y"], ["doc/a", "docsx/a"]),
        ("docs/**/*.md", ["docs/a.md", "docs/x/y/a.md"], ["docs/a.py", "a.md"]),
        ("{a,b}/x", ["a/x", "b/x"], ["c/x", "a/x/y"]),
        (".", ["a", "x/y"], []),
        ("**", ["a", "x/y"], []),
    ],
)
def test_a_relative_rule_begins_at_each_folder_of_the_workspace(
    tmp_path: Path, rule: str, yes: list[str], no: list[str]
) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    found = place_rule(rule)
    for folder in folders:
        assert [found.matches(folder / path, folders) for path in yes] == [True] * len(yes)
        assert [found.matches(folder / path, folders) for path in no] == [False] * len(no)
    assert not found.matches(tmp_path / "three" / "src" / "a.md", folders)


def test_an_absolute_rule_and_one_from_home_are_what_they_say(tmp_path: Path) -> None:
    folder = place_rule(str(tmp_path / "x"))
    assert folder.matches(tmp_path / "x" / "a", [])
    assert not folder.matches(tmp_path / "xa", [])
    pattern = place_rule(f"{tmp_path}/*.h")
    assert pattern.matches(tmp_path / "a.h", [])
    assert not pattern.matches(tmp_path / "x" / "a.h", [])
    assert place_rule("~/notes").matches(Path.home().resolve() / "notes" / "a", [])


def test_a_folder_that_is_a_link_means_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert place_rule(str(tmp_path / "link")).matches(tmp_path / "real" / "a", [])


@pytest.mark.parametrize("rule", ["", " ", "a\0b", "..", "a/../b", "../*", "{a,b}" * 9])
def test_what_is_no_rule_is_refused(rule: str) -> None:
    with pytest.raises(ValueError, match="it"):
        place_rule(rule)
