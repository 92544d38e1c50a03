"""Reading files and kept outputs."""

from pathlib import Path
from threading import get_ident

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.testing.workspace import Desk, MemoryTexts
from turnbuckle.tools.builtin import excerpt
from turnbuckle.tools.builtin.read_file import ReadFile, read_file
from turnbuckle.tools.tool import Outcome, Read, ToolError
from turnbuckle.workspace.changes import digest_of
from turnbuckle.workspace.paths import uri_of
from turnbuckle.workspace.text import split_lines


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "work"
    folder.mkdir()
    return Desk(folder)


async def read(
    desk: Desk, path: str, offset: int | None = None, limit: int | None = None
) -> Outcome:
    arguments = ReadFile(path=path, offset=offset, limit=limit)
    return await desk.perform(await read_file().prepare(arguments, desk.workspace))


async def code_of(desk: Desk, path: str, offset: int | None = None) -> str:
    with pytest.raises(ToolError) as caught:
        await read(desk, path, offset)
    return caught.value.code


async def test_lines_stand_as_they_are_under_a_first_line_that_says_which(desk: Desk) -> None:
    (desk.folder / "a.py").write_bytes(b"x = 1\r\n\tif y:\n\n")
    outcome = await read(desk, "a.py")
    assert outcome.content == "a.py lines 1-3 of 3\nx = 1\r\n\tif y:\n\n"


async def test_the_lines_of_a_file_are_counted_where_nobody_waits_for_it(tmp_path: Path) -> None:
    threads: set[int] = set()

    class Large(str):
        __slots__ = ()

        def isascii(self) -> bool:
            threads.add(get_ident())
            return super().isascii()

    place = uri_of(tmp_path / "a.py")
    desk = Desk(tmp_path, texts=MemoryTexts({place: Large("1\n2\n")}))
    assert (await read(desk, "a.py", 2)).content == "a.py lines 2-2 of 2\n2\n"
    assert threads
    assert get_ident() not in threads


async def test_what_was_read_is_told_with_its_digest(desk: Desk) -> None:
    (desk.folder / "a.py").write_text("1\n2\n3\n")
    outcome = await read(desk, "a.py", 2, 1)
    assert outcome.meta == {
        "read": {
            "uri": uri_of(desk.folder / "a.py"),
            "digest": digest_of("1\n2\n3\n"),
            "from": 2,
            "to": 2,
        }
    }


async def test_a_range_says_how_to_read_on(desk: Desk) -> None:
    (desk.folder / "a.py").write_text("1\n2\n3\n4")
    outcome = await read(desk, "a.py", 2, 2)
    assert outcome.content == "a.py lines 2-3 of 4; read on with offset=4\n2\n3\n"
    assert (await read(desk, "a.py", 4)).content == "a.py lines 4-4 of 4\n4"


async def test_a_large_file_is_read_in_parts_that_are_bounded(desk: Desk) -> None:
    text = "".join(f"line {n} é\n" for n in range(20_000))
    (desk.folder / "big").write_text(text)
    offset, parts = 1, []
    while offset:
        outcome = await read(desk, "big", offset)
        assert len(outcome.content.encode()) <= excerpt.MOST
        title, _, body = outcome.content.partition("\n")
        parts.append(body)
        offset = int(title.rpartition("=")[2]) if "read on" in title else 0
    assert "".join(parts) == text


async def test_one_endless_line_is_bounded_too(desk: Desk) -> None:
    (desk.folder / "one_line.html").write_text("QUJD" * 450_000)
    content = (await read(desk, "one_line.html")).content
    assert len(content.encode()) <= 65_536
    assert content.startswith("one_line.html lines 1-1 of 1, only the first 64,512 bytes")


async def test_after_a_line_that_is_too_long_the_next_can_be_read(desk: Desk) -> None:
    (desk.folder / "f").write_text("é" * 100_000 + "\nnext\n")
    assert "; read on with offset=2\n" in (await read(desk, "f")).content
    assert (await read(desk, "f", 2)).content == "f lines 2-2 of 2\nnext\n"


async def test_an_empty_file_says_so_and_counts_as_read(desk: Desk) -> None:
    (desk.folder / "f").write_text("")
    outcome = await read(desk, "f")
    assert outcome.content == "f is empty"
    assert desk.digests == {uri_of(desk.folder / "f"): digest_of("")}


async def test_an_offset_past_the_end_says_where_the_end_is(desk: Desk) -> None:
    (desk.folder / "f").write_text("1\n2\n")
    with pytest.raises(ToolError, match="f has 2 lines") as caught:
        await read(desk, "f", 3)
    assert caught.value.code == "INVALID_ARGS"


async def test_what_cannot_be_read_has_a_code(desk: Desk) -> None:
    (desk.folder / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    (desk.folder / "latin").write_bytes(b"caf\xe9")
    assert await code_of(desk, "nothing") == "NOT_FOUND"
    assert await code_of(desk, ".") == "NOT_FOUND"
    assert await code_of(desk, "x.png") == "BINARY"
    assert await code_of(desk, "latin") == "ENCODING"
    assert await code_of(desk, "a\0b") == "INVALID_ARGS"


async def test_places_are_only_marked_so_that_policy_can_decide(desk: Desk) -> None:
    (desk.folder / ".env").write_text("K=1")
    prepared = await read_file().prepare(ReadFile(path=".env"), desk.workspace)
    assert isinstance(prepared.subject, Read)
    assert prepared.subject.places[0].secret
    prepared = await read_file().prepare(ReadFile(path="../x"), desk.workspace)
    assert isinstance(prepared.subject, Read)
    assert not prepared.subject.places[0].inside


async def test_a_kept_output_is_read_in_the_same_manner(desk: Desk) -> None:
    digest = await desk.blobs.put(b"".join(b"\x1b[1m%d\x1b[0m\r\n" % n for n in range(100_000)))
    first = (await read(desk, f"blob:{digest}", 99_999)).content
    assert first == f"blob:{digest} lines 99999-100000 of 100000\n99998\n99999\n"
    part = await read(desk, f"blob:{digest}", 5, 1)
    assert part.content == f"blob:{digest} lines 5-5 of 100000; read on with offset=6\n4\n"
    assert await code_of(desk, f"blob:{digest}", 100_001) == "INVALID_ARGS"
    assert await code_of(desk, "blob:../../x") == "NOT_FOUND"
    assert await code_of(desk, f"blob:{'0' * 64}") == "NOT_FOUND"


async def test_all_of_a_kept_output_can_be_read_part_by_part(desk: Desk) -> None:
    text = "".join(f"{n}\n" for n in range(50_000))
    digest = await desk.blobs.put(text.encode())
    offset, parts = 1, []
    while offset:
        title, _, body = (await read(desk, f"blob:{digest}", offset)).content.partition("\n")
        parts.append(body)
        offset = int(title.rpartition("=")[2]) if "read on" in title else 0
    assert "".join(parts) == text


async def test_an_endless_line_of_a_kept_output_is_bounded(desk: Desk) -> None:
    digest = await desk.blobs.put(b"x" * 5_000_000)
    content = (await read(desk, f"blob:{digest}")).content
    assert len(content.encode()) <= excerpt.MOST
    assert "lines 1-1 of 1, only the first" in content


@given(st.text(st.sampled_from("ab\r\né"), max_size=40), st.data())
def test_an_excerpt_holds_the_lines_that_it_names(text: str, data: st.DataObject) -> None:
    lines = split_lines(text)
    offset = data.draw(st.integers(1, max(len(lines), 1)))
    limit = data.draw(st.one_of(st.none(), st.integers(1, 9)))
    found = excerpt.of_text(text, "f", offset, limit)
    assert found.total == len(lines)
    assert found.text == "".join(lines[max(found.first - 1, 0) : found.last])
    assert found.last == min(len(lines), offset - 1 + (limit or len(lines)))
