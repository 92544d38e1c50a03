"""Random files and random edits: no byte outside of an edit changes, or nothing does."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnbuckle.testing.strategies import soak
from turnbuckle.testing.workspace import Desk
from turnbuckle.tools.builtin.edit_file import EditFile, OneEdit, edit_file
from turnbuckle.tools.builtin.read_file import ReadFile, read_file
from turnbuckle.tools.builtin.write_file import WriteFile, write_file
from turnbuckle.tools.tool import Change, ToolError
from turnbuckle.workspace.line_ends import plain, spliced
from turnbuckle.workspace.text import Splice, line_end, whole

BOMS = {
    "utf-8": b"",
    "utf-8-sig": b"\xef\xbb\xbf",
    "utf-16-le": b"\xff\xfe",
    "utf-16-be": b"\xfe\xff",
}
ENDS = ("\n", "\r\n", "\r", "\n\n", "\u2028", "\x85", "\f", "")
WORDS = ("a", "b", "ab", "", " ", "\t", "é", "測", "😀", "\ufeff", "\u202e", "e\u0301", "x" * 99)

REFUSALS = ("BINARY", "ENCODING", "NOT_FOUND", "NOT_UNIQUE", "OVERLAP", "INVALID_ARGS", "TOO_LARGE")
"""Why an edit may be refused here."""

lines = st.tuples(st.sampled_from(WORDS), st.sampled_from(ENDS)).map("".join)
texts = st.lists(lines, max_size=8).map("".join)
junk = st.text(st.sampled_from("ab\r\n\0\ud83d\ude00\ufeffé"), max_size=5)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Files as they are met: text in some encoding, perhaps with a few bytes that do not fit."""
    encoding = draw(st.sampled_from([*BOMS, "latin-1", "shift-jis"]))
    text = draw(texts)
    data = BOMS.get(encoding, b"") + text.encode(encoding.removesuffix("-sig"), "replace")
    if draw(st.integers(0, 9)) == 0:
        at = draw(st.integers(0, len(data)))
        data = data[:at] + draw(st.binary(min_size=1, max_size=3)) + data[at:]
    return data


@st.composite
def edits(draw: st.DrawFn, data: bytes) -> list[OneEdit]:
    """Edits whose old texts mostly stand in the file, as a model would give them."""
    shown = _decoded(data) or data.decode("latin-1")
    made = []
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(shown)))
        old = shown[start : start + draw(st.integers(0, 6))]
        if draw(st.booleans()):
            old = old.replace("\r\n", "\n")
        if draw(st.integers(0, 9)) == 0:
            old = draw(junk)
        everywhere = draw(st.booleans())
        made.append(OneEdit(old=old, new=draw(texts | junk), all=everywhere))
    return made


def _decoded(data: bytes) -> str | None:
    """The text of a file, read with nothing of ours; None where it is none."""
    codec = "utf-8"
    for name, bom in BOMS.items():
        if bom and data.startswith(bom):
            codec, data = name.removesuffix("-sig"), data[len(bom) :]
            break
    try:
        text = data.decode(codec)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


@dataclass
class Kept:
    """What of a file lies outside of its edits, in order, and what it comes to without line ends."""

    pieces: list[bytes]
    plain: str


def kept(data: bytes, asked: Sequence[OneEdit]) -> Kept:
    """What has to stay of a file whose edits were taken, found with nothing of ours."""
    text = _decoded(data)
    assert text is not None
    encoding, bom = next(
        ((n.removesuffix("-sig"), b) for n, b in BOMS.items() if b and data.startswith(b)),
        ("utf-8", b""),
    )
    lone = max(("\n", "\r\n", "\r"), key=lambda end: len(re.findall(_END[end], text))) == "\r"
    # Each character of the plain text with where it ends in the exact one.
    ends, shown, at = [0], "", 0
    while at < len(text):
        width = 2 if text[at : at + 2] == "\r\n" else 1
        newline = width == 2 or (text[at] == "\r" and lone)
        shown += "\n" if newline else text[at]
        at += width
        ends.append(at)
    spans = sorted(
        (match.start(), match.end(), _plain(one.new, lone=lone))
        for one in asked
        for match in re.finditer(re.escape(_plain(one.old, lone=lone)), shown)
    )
    marks = [0, *(mark for start, stop, _ in spans for mark in (start, stop)), len(shown)]
    pieces = [text[ends[a] : ends[b]].encode(encoding) for a, b in list(pairwise(marks))[::2]]
    result, at = "", 0
    for start, stop, new in spans:
        result, at = result + shown[at:start] + new, stop
    return Kept([bom + pieces[0], *pieces[1:]], result + shown[at:])


_END = {"\n": r"(?<!\r)\n", "\r\n": r"\r\n", "\r": r"\r(?!\n)"}


def _plain(text: str, *, lone: bool) -> str:
    text = whole(text).replace("\r\n", "\n")
    return text.replace("\r", "\n") if lone else text


async def edited(folder: Path, data: bytes, asked: list[OneEdit]) -> tuple[bytes, bool]:
    """The bytes of a file after edits, and whether these were taken."""
    (folder / "work").mkdir()
    desk, path = Desk(folder / "work"), folder / "work" / "f"
    path.write_bytes(data)
    was = path.stat()
    try:
        reading = await read_file().prepare(ReadFile(path="f"), desk.workspace)
        await desk.perform(reading)
        prepared = await edit_file().prepare(EditFile(path="f", edits=asked), desk.workspace)
        await desk.perform(prepared)
    except ToolError as error:
        if error.code not in REFUSALS:
            raise
        assert path.stat().st_mtime_ns == was.st_mtime_ns
        return path.read_bytes(), False
    return path.read_bytes(), True


@settings(max_examples=soak(400), deadline=None)
@given(st.data())
async def test_bytes_outside_an_edit_stay_or_the_edit_is_refused(given_: st.DataObject) -> None:
    data = given_.draw(files(), "file")
    asked = given_.draw(edits(data), "edits")
    with TemporaryDirectory() as folder:
        after, taken = await edited(Path(folder), data, asked)
    if not taken:
        assert after == data
        return
    stays = kept(data, asked)
    at = 0
    assert after.startswith(stays.pieces[0])
    assert after.endswith(stays.pieces[-1])
    for piece in stays.pieces:
        at = after.index(piece, at) + len(piece)
    text = _decoded(after)
    assert text is None or bare(text) == bare(stays.plain)


def bare(text: str) -> str:
    r"""A text without what is a file's own affair: how its lines end, and its byte order mark.

    A `\r` of an edit may come to stand before a newline that stays, so these are not counted.
    """
    return re.sub("[\r\n]+", "\n", text).lstrip("\ufeff")


@settings(max_examples=soak(300), deadline=None)
@given(files(), texts | junk)
async def test_a_whole_text_is_what_is_written_or_nothing_is(data: bytes, content: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "work" / "f"
        path.parent.mkdir()
        desk = Desk(path.parent)
        path.write_bytes(data)
        try:
            await desk.perform(await read_file().prepare(ReadFile(path="f"), desk.workspace))
            asked = WriteFile(path="f", content=content)
            await desk.perform(await write_file().prepare(asked, desk.workspace))
        except ToolError:
            assert path.read_bytes() == data
            return
        text = _decoded(path.read_bytes())
    assert text is not None
    assert bare(text) == bare(whole(content))


@settings(max_examples=soak(300), deadline=None)
@given(files(), st.data())
async def test_any_hunks_may_be_accepted_and_the_rest_stays(
    data: bytes, given_: st.DataObject
) -> None:
    asked = given_.draw(edits(data), "edits")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "work" / "f"
        path.parent.mkdir()
        desk = Desk(path.parent)
        path.write_bytes(data)
        try:
            await desk.perform(await read_file().prepare(ReadFile(path="f"), desk.workspace))
            prepared = await edit_file().prepare(EditFile(path="f", edits=asked), desk.workspace)
        except ToolError:
            return
        assert isinstance(prepared.subject, Change)
        (change,) = prepared.subject.files
        ids = [hunk.hunk_id for hunk in change.hunks]
        accepted = [one for one in ids if given_.draw(st.booleans(), "accepted")]
        batches = [[one] for one in given_.draw(st.permutations(accepted), "order")]
        if batches:
            await desk.perform(prepared, batches)
        at = 0
        after = path.read_bytes()
        text = _decoded(after)
    if text is not None:
        assert text == change.with_hunks(accepted)
    if not accepted:
        assert after == data
    assert at == 0


pieces = st.text(st.sampled_from("ab\r\n"), max_size=12)


@settings(max_examples=soak(500))
@given(pieces, st.data())
def test_what_lies_outside_of_splices_of_the_plain_text_stays(
    base: str, given_: st.DataObject
) -> None:
    shown = plain(base, line_end(base))
    cuts = sorted(given_.draw(st.lists(st.integers(0, len(shown)), min_size=2, max_size=2)))
    new = given_.draw(st.text(st.sampled_from("ab\n"), max_size=4))
    after = spliced(base, [Splice(cuts[0], cuts[1], new)])
    head, tail = shown[: cuts[0]], shown[cuts[1] :]
    before = next(n for n in range(len(base) + 1) if plain(base[:n], line_end(base)) == head)
    behind = next(n for n in range(len(base), -1, -1) if plain(base[n:], line_end(base)) == tail)
    assert after.startswith(base[:before])
    assert after.endswith(base[behind:])


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\na\nb\r\na\r\n", "a\nb\n", "", b"a\r\na\r\n"),
        (b"b\r\na\na\r\nb\n", "\na\nb", "a\n", b"b\r\naa\r\n\n"),
        (b"\r\na\n\r\n", "a", "b\n", b"\r\nb\r\n\n\r\n"),
        (b"b\nb\na\nb\r\n", "a\nb", "", b"b\nb\n\r\n"),
    ],
)
async def test_of_lines_that_repeat_the_ones_that_were_meant_go(
    tmp_path: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    assert await edited(tmp_path, before, [OneEdit(old=old, new=new)]) == (after, True)
