"""Replacing pieces of a file: exact bytes, all or nothing, and errors that say what to do."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.testing.workspace import Desk
from turnbuckle.tools.builtin.edit_file import EditFile, OneEdit, edit_file
from turnbuckle.tools.builtin.matching import Edit, hint, matched
from turnbuckle.tools.builtin.read_file import ReadFile, read_file
from turnbuckle.tools.tool import Change, Outcome, Prepared, ToolError
from turnbuckle.workspace.paths import uri_of
from turnbuckle.workspace.text import joined


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "work"
    folder.mkdir()
    return Desk(folder)


async def read(desk: Desk, name: str) -> None:
    await desk.perform(await read_file().prepare(ReadFile(path=name), desk.workspace))


async def prepare(desk: Desk, name: str, *edits: OneEdit) -> Prepared:
    return await edit_file().prepare(EditFile(path=name, edits=list(edits)), desk.workspace)


async def edit(desk: Desk, data: bytes, *edits: OneEdit) -> bytes:
    """The bytes after these edits of a file of these bytes that was read."""
    path = desk.folder / "f"
    path.write_bytes(data)
    await read(desk, "f")
    outcome = await desk.perform(await prepare(desk, "f", *edits))
    assert outcome.code is None
    return path.read_bytes()


async def refused(desk: Desk, data: bytes, *edits: OneEdit) -> ToolError:
    """Why these edits are refused, before anybody is asked; the file stays as it is."""
    path = desk.folder / "f"
    path.write_bytes(data)
    await read(desk, "f")
    with pytest.raises(ToolError) as caught:
        await prepare(desk, "f", *edits)
    assert path.read_bytes() == data
    return caught.value


def one(old: str, new: str, *, everywhere: bool = False) -> OneEdit:
    return OneEdit(old=old, new=new, all=everywhere)


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        # a model writes \n where the file has \r\n
        (b"a = 1\r\nb = 2\r\nc = 3\r\nd\r\n", "b = 2\nc = 3", "b = 22\nc = 33\nx",
         b"a = 1\r\nb = 22\r\nc = 33\r\nx\r\nd\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "c\r\nd", b"c\r\nd\r\n"),
        # mixed line ends: only what is edited differs
        (b"a\r\nb\nc", "c", "C", b"a\r\nb\nC"),
        (b"a\nb\r\nc\n", "a\nb\nc", "a\nb\nC", b"a\nb\r\nC\n"),
        (b"a\rb\rc\r", "a\nb", "a\nx\nb", b"a\rx\rb\rc\r"),
        # a byte order mark stays, and is no part of the first line
        (b"\xef\xbb\xbfimport os\r\nx\r\n", "import os", "import sys",
         b"\xef\xbb\xbfimport sys\r\nx\r\n"),
        # nothing is added or removed at the end of the file
        (b"a\nb\n", "a", "A", b"A\nb\n"),
        (b"a\nb\n", "b\n", "c", b"a\nc"),
        (b"a\nb\nc\n", "b\n", "x\n", b"a\nx\nc\n"),
        (b"a\nlast", "last", "last\n", b"a\nlast\n"),
        # an empty file is filled
        (b"", "", "X\n", b"X\n"),
        ("😀 測\n".encode(), "測", "試", "😀 試\n".encode()),
    ],
)  # fmt: skip
async def test_exactly_the_old_text_becomes_the_new(
    desk: Desk, before: bytes, old: str, new: str, after: bytes
) -> None:
    assert await edit(desk, before, one(old, new)) == after


async def test_all_replaces_wherever_it_stands(desk: Desk) -> None:
    edits = one("x = 1", "x = 9", everywhere=True)
    assert await edit(desk, b"x = 1\ny = 2\nx = 1\n", edits) == b"x = 9\ny = 2\nx = 9\n"


async def test_edits_are_matched_against_the_text_before_all_of_them(desk: Desk) -> None:
    assert await edit(desk, b"a\nb\n", one("a", "b"), one("b", "a")) == b"b\na\n"
    error = await refused(desk, b"a\nb\n", one("a", "c"), one("c", "a"))
    assert error.code == "NOT_FOUND"


async def test_an_old_text_that_stands_twice_is_not_unique(desk: Desk) -> None:
    error = await refused(desk, b"x = 1\ny = 2\nx = 1\n", one("x = 1", "x = 9"))
    assert error.code == "NOT_UNIQUE"
    assert "2 times" in str(error)
    assert "lines 1, 3" in str(error)


async def test_places_that_overlap_themselves_are_not_unique(desk: Desk) -> None:
    assert (await refused(desk, b"aaa", one("aa", "b"))).code == "NOT_UNIQUE"


async def test_one_edit_that_does_not_fit_stops_all(desk: Desk) -> None:
    error = await refused(desk, b"a\nb\n", one("a", "A"), one("zzz", "Z"))
    assert error.code == "NOT_FOUND"
    assert "edit 2" in str(error)


async def test_edits_that_overlap_are_refused(desk: Desk) -> None:
    error = await refused(desk, b"one two three\n", one("two three", "x"), one("one two", "y"))
    assert error.code == "OVERLAP"
    assert "edits 2 and 1" in str(error)


async def test_edits_that_touch_do_not_overlap(desk: Desk) -> None:
    assert await edit(desk, b"abcd", one("ab", "1"), one("cd", "2")) == b"12"


@pytest.mark.parametrize(
    ("data", "old", "new"),
    [(b"abcd", "", "X"), (b"a\nb\n", "a", "a"), (b"a\r\nb\r\n", "a\n", "a\r\n")],
)
async def test_an_empty_old_text_or_no_change_is_refused(
    desk: Desk, data: bytes, old: str, new: str
) -> None:
    error = await refused(desk, data, one(old, new, everywhere=True))
    assert error.code == "INVALID_ARGS"


async def test_edits_that_undo_each_other_are_no_change(desk: Desk) -> None:
    error = await refused(desk, b"a b", one("a ", "a"), one("b", " b"))
    assert error.code == "INVALID_ARGS"


async def test_a_missing_newline_at_the_end_is_named(desk: Desk) -> None:
    error = await refused(desk, b"a\nlast", one("last\n", "end\n"))
    assert error.code == "NOT_FOUND"
    assert "newline" in str(error)


async def test_what_differs_in_white_space_is_shown_as_it_stands(desk: Desk) -> None:
    error = await refused(desk, b"a = 10\nb = 2\n", one("b=2", "b=3"))
    assert error.code == "NOT_FOUND"
    assert "line 2 reads:\nb = 2" in str(error)


def test_the_nearest_lines_are_shown() -> None:
    text = "def area(width, height):\n    return width * height\n\nprint(1)\n"
    said = hint(text, "def area(width, heigth):\n    return width*height\n")
    assert "lines 1-2 read:\ndef area(width, height):\n    return width * height" in said
    assert hint(text, "nothing like it at all") == ""


async def test_a_file_must_be_read_before(desk: Desk) -> None:
    (desk.folder / "f").write_text("a\n")
    with pytest.raises(ToolError) as caught:
        await prepare(desk, "f", one("a", "b"))
    assert caught.value.code == "UNREAD"


async def test_after_an_edit_the_next_needs_no_reading(desk: Desk) -> None:
    await edit(desk, b"a\nb\n", one("a", "A"))
    outcome = await desk.perform(await prepare(desk, "f", one("b", "B")))
    assert outcome.code is None
    assert (desk.folder / "f").read_text() == "A\nB\n"


async def test_a_file_read_by_its_own_name_can_be_edited_through_a_link(desk: Desk) -> None:
    (desk.folder / "f").write_text("a\n")
    (desk.folder / "link").symlink_to("f")
    await read(desk, "f")
    await desk.perform(await prepare(desk, "link", one("a", "b")))
    assert (desk.folder / "link").is_symlink()
    assert (desk.folder / "f").read_text() == "b\n"


async def test_only_what_differs_is_proposed(desk: Desk) -> None:
    text = "".join(f"{n}\n" for n in range(30))
    (desk.folder / "f").write_text(text)
    await read(desk, "f")
    prepared = await prepare(desk, "f", one("3\n4\n5\n", "3\nfour\n5\n"), one("20\n", "twenty\n"))
    assert isinstance(prepared.subject, Change)
    (change,) = prepared.subject.files
    assert change.uri == uri_of(desk.folder / "f")
    assert [(h.old, h.new) for h in change.hunks] == [("4\n", "four\n"), ("20\n", "twenty\n")]


async def test_a_missing_file_is_made_by_one_edit_with_an_empty_old_text(desk: Desk) -> None:
    outcome: Outcome = await desk.perform(await prepare(desk, "new/f", one("", "text\n")))
    assert outcome.content == "Created new/f (+1)."
    assert (desk.folder / "new/f").read_text() == "text\n"
    with pytest.raises(ToolError, match="write_file") as caught:
        await prepare(desk, "other", one("a", "b"))
    assert caught.value.code == "NOT_FOUND"


async def test_places_that_must_not_be_written_are_refused_before_anybody_is_asked(
    desk: Desk,
) -> None:
    (desk.folder / "read-only").write_text("a\n")
    (desk.folder / "read-only").chmod(0o444)
    (desk.folder / "latin").write_bytes(b"caf\xe9\n")
    (desk.folder.parent / "victim").write_text("a\n")
    (desk.folder / "out").symlink_to(desk.folder.parent / "victim")
    codes = {
        "read-only": "READ_ONLY",
        "latin": "ENCODING",
        "out": "OUTSIDE",
        "../victim": "OUTSIDE",
    }
    for name, code in codes.items():
        with pytest.raises(ToolError) as caught:
            await prepare(desk, name, one("a", "b"))
        assert caught.value.code == code


async def test_half_a_character_in_the_arguments_is_replaced(desk: Desk) -> None:
    assert await edit(desk, b"a\n", one("a", "b\ud83d")) == "b\ufffd\n".encode()


pieces = st.text(st.sampled_from("abc\n"), min_size=1, max_size=4)


@given(st.lists(st.tuples(pieces, pieces), min_size=1, max_size=5))
def test_every_piece_is_replaced_in_its_place(pairs: list[tuple[str, str]]) -> None:
    marked = [(f"<{n}{old}{n}>", new) for n, (old, new) in enumerate(pairs)]
    text = "-".join(old for old, _ in marked)
    edits = tuple(Edit(old, new) for old, new in reversed(marked))
    assert joined(text, matched(text, edits, "f")) == "-".join(new for _, new in marked)


async def test_a_text_with_a_nul_is_refused_before_anybody_is_asked(desk: Desk) -> None:
    error = await refused(desk, b"a\n", OneEdit(old="a", new="a\0b"))
    assert (error.code, "NUL" in str(error)) == ("INVALID_ARGS", True)


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"\xef\xbb\xbfa\nb\n", "\ufeffa", "\ufeffc", b"\xef\xbb\xbfc\nb\n"),
        (b"\xef\xbb\xbfa\nb\n", "a", "\ufeffc", b"\xef\xbb\xbfc\nb\n"),
        (b"a\nb\n", "\ufeffa", "\ufeffc", b"c\nb\n"),
        ("a\n\ufeffb\n".encode(), "\ufeffb", "\ufeffc", "a\n\ufeffc\n".encode()),
    ],
)
async def test_whether_a_file_begins_with_a_byte_order_mark_is_its_own_affair(
    desk: Desk, before: bytes, old: str, new: str, after: bytes
) -> None:
    assert await edit(desk, before, OneEdit(old=old, new=new)) == after


async def test_a_file_that_would_grow_beyond_what_can_be_read_is_left_as_it_is(desk: Desk) -> None:
    error = await refused(desk, b"a" * 5000, OneEdit(old="a", new="b" * 5000, all=True))
    assert error.code == "TOO_LARGE"
