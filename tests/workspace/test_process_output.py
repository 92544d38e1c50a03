"""What a process wrote: bounded, plain, shown as it comes, and kept whole."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.session.blobs import Blobs
from turnbuckle.workspace.process.live import ROOM, WINDOW, Live
from turnbuckle.workspace.process.output import HEAD, TAIL, Kept, Output
from turnbuckle.workspace.process.plain import plain_text


async def kept(data: bytes, size: int = 10_000, output: Output | None = None) -> Kept:
    output = output or Output()
    for start in range(0, len(data), size):
        await output.take(data[start : start + size])
    return await output.finish()


@pytest.mark.parametrize("size", [HEAD, HEAD + 1, HEAD + TAIL - 1, HEAD + TAIL])
async def test_what_fits_is_whole(size: int) -> None:
    seen = await kept(b"x" * size)
    assert (seen.text, seen.cut, seen.blob) == ("x" * size, False, None)


@pytest.mark.parametrize("size", [HEAD + TAIL + 1, HEAD + TAIL + 5000, 1_000_000])
@pytest.mark.parametrize("piece", [7, 10_000, 2_000_000])
async def test_of_one_endless_line_both_ends_are_kept(size: int, piece: int) -> None:
    seen = await kept(b"a" + b"x" * (size - 2) + b"z", piece)
    head, between, tail = seen.text.split("\n")
    assert head == "a" + "x" * (HEAD - 1)
    assert tail == "x" * (TAIL - 1) + "z"
    assert between == f"[{size - HEAD - TAIL:,} bytes left out]"


async def test_lines_are_cut_whole_where_that_is_near() -> None:
    data = b"".join(b"line %d\n" % n for n in range(100_000))
    head, tail = (await kept(data)).text.split(" bytes left out]\n")
    assert head.rpartition("\n")[0].splitlines()[-1].startswith("line ")
    assert tail.splitlines()[0].startswith("line ")
    assert tail.endswith("line 99999\n")


@pytest.mark.parametrize("shift", range(4))
async def test_characters_are_cut_whole(shift: int) -> None:
    text = (await kept(b"x" * shift + "😀".encode() * 50_000)).text
    assert "\\x" not in text
    assert "\ufffd" not in text


async def test_what_stands_for_bytes_that_are_no_text_is_bounded_too() -> None:
    seen = await kept(b"\xff" * 60_000)
    assert not seen.cut
    assert len(seen.text) == HEAD + TAIL
    assert len((await kept(b"\xff" * 200_000)).text.encode()) < 66_000


async def test_all_of_it_is_kept_in_a_blob(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    data = bytes(range(256)) * 4000
    seen = await kept(data, output=Output(blobs))
    assert seen.blob is not None
    assert await blobs.get(seen.blob) == data
    assert seen.missing is None


async def test_a_short_output_touches_no_disk(tmp_path: Path) -> None:
    await kept(b"short", output=Output(Blobs(tmp_path / "blobs")))
    assert not (tmp_path / "blobs").exists()


async def test_only_so_much_is_kept_on_disk_and_that_is_said(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    seen = await kept(b"x" * 1_000_000, output=Output(blobs, limit=100_000))
    assert seen.blob is not None
    assert await blobs.get(seen.blob) == b"x" * 100_000
    assert seen.missing == "only its first 100,000 bytes were kept"
    assert seen.total == 1_000_000


async def test_a_disk_that_takes_nothing_does_not_lose_the_ends(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("a file where the folder should be")
    seen = await kept(b"x" * 100_000, output=Output(Blobs(tmp_path / "blobs")))
    assert seen.blob is None
    assert seen.missing is not None
    assert "could not be kept" in seen.missing
    assert seen.text.startswith("x")


async def test_what_is_discarded_leaves_nothing(tmp_path: Path) -> None:
    output = Output(Blobs(tmp_path / "blobs"))
    await output.take(b"x" * 1_000_000)
    await output.discard()
    await output.discard()
    assert list((tmp_path / "blobs").iterdir()) == []


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("\x1b[31mred\x1b[0m\n", "red\n"),
        ("10%\r50%\r100%\n", "100%\n"),
        ("a\x1b]8;;http://x\x07link\x1b]8;;\x07b\n", "alinkb\n"),
        ("\x1b]52;c;aGk=\x07x\n", "x\n"),
        ("\x1b]0;title\x1b\\x\n", "x\n"),
        ("\x1b]0;never ended\nx\n", "\nx\n"),
        ("a\x00b\n", "ab\n"),
        ("ab\bc\n", "ac\n"),
        ("\b\ba\n", "a\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\r\r\nb", "a\nb"),
        ("50%\r", "50%"),
        ("\x1b[2K\x1b[1Gok\n", "ok\n"),
        ("\x1b(B\x1b7\x1bMa\x7f\x07", "a"),
        ("\x9b31mred\u0085\x1bP1$r\x1b\\", "red"),
        ("cut \x1b[3", "cut "),
        ("\ttab\n", "\ttab\n"),
    ],
)
def test_control_sequences_leave_plain_text(raw: str, text: str) -> None:
    assert plain_text(raw.encode()) == text


def test_bytes_that_are_no_text_are_shown() -> None:
    assert plain_text(b"\xf0\xff ok caf\xe9") == "\\xf0\\xff ok caf\\xe9"


@given(st.binary(max_size=200))
def test_plain_text_has_no_controls_but_newline_and_tab(data: bytes) -> None:
    text = plain_text(data)
    assert not [c for c in text if c not in "\n\t" and (c < " " or "\x7f" <= c <= "\x9f")]


class Watched:
    """Live output under a clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pieces: list[str] = []
        self.live = Live(self.pieces.append, lambda: self.now)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def test_live_output_is_bounded_in_each_window() -> None:
    watched = Watched()
    for _ in range(10):
        watched.live.feed(b"x" * 3000)
    assert len(watched.text) == ROOM
    watched.now += WINDOW
    watched.live.feed(b"y" * 10)
    assert watched.text.endswith("y" * 10)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=30))
def test_live_output_is_the_same_however_it_is_cut(sizes: list[int]) -> None:
    data = "é😀\x1b[31mred\x1b[0m\r\nx\x1b]8;;http://x\x07link\x1b]8;;\x07\r5%\rok\n".encode()
    watched = Watched()
    at = 0
    for size in [*sizes, len(data)]:
        watched.live.feed(data[at : at + size])
        at += size
    assert watched.text == "é😀red\nxlink\n5%\nok\n"
