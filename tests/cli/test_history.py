"""What was typed before comes back in the next chat, and is nobody else's."""

import stat
import sys
from pathlib import Path

import pytest

from turnbuckle.cli.history import LONGEST, MOST, History


def kept(folder: Path) -> list[str]:
    return History(folder).load()


def test_prompts_come_back_oldest_first(tmp_path: Path) -> None:
    history = History(tmp_path / "state")
    history.add("one")
    history.add("two\nlines, and ✂")
    assert kept(tmp_path / "state") == ["one", "two\nlines, and ✂"]


def test_there_is_none_at_first(tmp_path: Path) -> None:
    assert kept(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    History(tmp_path / "state").add("one")
    assert stat.S_IMODE((tmp_path / "state" / "history").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700


def test_only_the_last_ones_are_given_and_a_long_file_is_made_shorter(tmp_path: Path) -> None:
    history = History(tmp_path)
    for number in range(2 * MOST + 1):
        history.add(str(number))
    last = [str(number) for number in range(MOST + 1, 2 * MOST + 1)]
    assert kept(tmp_path) == last
    assert len((tmp_path / "history").read_bytes().splitlines()) == MOST
    assert [path.name for path in tmp_path.iterdir()] == ["history"]
    assert kept(tmp_path) == last


def test_a_very_long_prompt_is_not_kept(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.add("x" * (LONGEST + 1))
    history.add("x" * LONGEST)
    assert kept(tmp_path) == ["x" * LONGEST]


def test_half_a_line_and_foreign_ones_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "history").write_bytes(b'"one"\n{"no": "text"}\n"hal\n\xff\n""\n"two"\n"cut o')
    assert kept(tmp_path) == ["one", "two"]


def test_half_a_character_is_kept_as_a_question_mark(tmp_path: Path) -> None:
    History(tmp_path).add("a\ud800b")
    assert kept(tmp_path) == ["a?b"]


def test_where_nothing_can_be_written_there_is_no_history(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file, where the folder should be")
    History(tmp_path / "state").add("one")
    assert kept(tmp_path / "state") == []
