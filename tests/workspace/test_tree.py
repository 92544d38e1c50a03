"""Walking a folder."""

from pathlib import Path

import pytest

from turnbuckle.workspace.tree import walk


def plant(root: Path, *paths: str) -> None:
    for name in paths:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def seen(root: Path) -> list[str]:
    return [entry.path + "/" * entry.is_folder for entry in walk(root)]


def test_upper_levels_come_first_and_names_are_sorted(tmp_path: Path) -> None:
    plant(tmp_path, "b/x", "a/deep/y", "a/z", "c")
    assert seen(tmp_path) == ["a/", "b/", "c", "a/deep/", "a/z", "b/x", "a/deep/y"]


def test_ignored_files_are_passed_over_and_the_nearest_rule_wins(tmp_path: Path) -> None:
    plant(tmp_path, "a.log", "keep.log", "build/x", "sub/b.log", "sub/only.txt", "sub/build/x")
    (tmp_path / ".gitignore").write_text("*.log\n!keep.log\n/build/\n")
    (tmp_path / "sub" / ".gitignore").write_text("!b.log\nonly.txt\n")
    assert seen(tmp_path) == [
        ".gitignore", "keep.log", "sub/", "sub/.gitignore", "sub/b.log", "sub/build/", "sub/build/x",
    ]  # fmt: skip


def test_rules_of_the_repository_above_hold_too(tmp_path: Path) -> None:
    plant(tmp_path, ".git/HEAD", "part/a.tmp", "part/inner/b.py")
    (tmp_path / ".gitignore").write_text("*.tmp\n")
    assert seen(tmp_path / "part") == ["inner/", "inner/b.py"]


def test_what_version_control_keeps_for_itself_is_not_shown(tmp_path: Path) -> None:
    plant(tmp_path, ".git/config", ".github/x.yml")
    assert seen(tmp_path) == [".github/", ".github/x.yml"]


def test_links_are_named_and_not_followed(tmp_path: Path) -> None:
    plant(tmp_path, "out/secret", "in/a")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "out")
    (tmp_path / "in" / "loop").symlink_to(tmp_path / "in")
    assert seen(tmp_path / "in") == ["a", "link", "loop"]


def test_a_walk_has_an_end(tmp_path: Path) -> None:
    plant(tmp_path, "a/b/c")
    with pytest.raises(TimeoutError):
        list(walk(tmp_path, seconds=-1))


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        seen(tmp_path / "nothing")


def test_a_file_with_bad_rules_hides_nothing(tmp_path: Path) -> None:
    plant(tmp_path, "a")
    (tmp_path / ".gitignore").write_bytes(b"\xff[\n")
    assert "a" in seen(tmp_path)
