"""Files on disk: exact bytes, whole writes, and nothing outside."""

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from turnbuckle.workspace import disk as files_disk
from turnbuckle.workspace.changes import FileChange, digest_of, make_change
from turnbuckle.workspace.errors import Missing, WorkspaceError
from turnbuckle.workspace.files import DiskTexts
from turnbuckle.workspace.folders import opened
from turnbuckle.workspace.paths import Place, Roots
from turnbuckle.workspace.port import Applied
from turnbuckle.workspace.text import decode

disk = DiskTexts()
posix = pytest.mark.skipif(os.name == "nt", reason="modes and links as POSIX has them")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


def at(folder: Path, name: str) -> Place:
    return Roots(cwd=folder, folders=(folder,)).resolve(name)


def edit(folder: Path, name: str, old: str, new: str) -> FileChange:
    """A change of the file as it stands."""
    place = at(folder, name)
    text, _ = decode(place.path.read_bytes())
    return make_change(place.uri, text, text.replace(old, new), "edit")


def ids(change: FileChange) -> tuple[str, ...]:
    return tuple(hunk.hunk_id for hunk in change.hunks)


async def put(folder: Path, name: str, change: FileChange) -> Applied:
    return await disk.apply(at(folder, name), change, ids(change))


def create(folder: Path, name: str, text: str) -> FileChange:
    return make_change(at(folder, name).uri, "", text, "create")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a = 1\r\nb = 2\r\n", b"a = 1\r\nc = 2\r\n"),
        (b"\xef\xbb\xbfb\r\nx\r\n", b"\xef\xbb\xbfc\r\nx\r\n"),
        (b"\xff\xfeb\0\r\0\n\0", b"\xff\xfec\0\r\0\n\0"),
        (b"a\nb", b"a\nc"),
        (b"a\r\nb\nx\r", b"a\r\nc\nx\r"),
        ("é\u2028b\f\n".encode(), "é\u2028c\f\n".encode()),
    ],
)
async def test_bytes_outside_an_edit_stay(folder: Path, before: bytes, after: bytes) -> None:
    (folder / "f").write_bytes(before)
    applied = await put(folder, "f", edit(folder, "f", "b", "c"))
    assert applied.outcome == "applied"
    assert (folder / "f").read_bytes() == after
    assert applied.after == (await disk.read(at(folder, "f"))).digest


@posix
@pytest.mark.parametrize("mode", [0o755, 0o600, 0o640, 0o4711])
async def test_the_mode_stays(folder: Path, mode: int) -> None:
    path = folder / "run.sh"
    path.write_text("echo a\n")
    path.chmod(mode)
    await put(folder, "run.sh", edit(folder, "run.sh", "a", "b"))
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
async def test_a_link_stays_a_link_and_its_target_is_written(folder: Path) -> None:
    (folder / "AGENTS.md").write_text("old\n")
    (folder / "CLAUDE.md").symlink_to("AGENTS.md")
    await put(folder, "CLAUDE.md", edit(folder, "CLAUDE.md", "old", "new"))
    assert (folder / "CLAUDE.md").is_symlink()
    assert (folder / "AGENTS.md").read_text() == "new\n"


@posix
@pytest.mark.parametrize("new", ["longer than before", ""])
async def test_hard_links_stay_one_file(folder: Path, new: str) -> None:
    (folder / "a").write_text("old\n")
    os.link(folder / "a", folder / "b")
    applied = await put(folder, "a", edit(folder, "a", "old", new))
    assert applied.outcome == "applied"
    assert (folder / "b").read_text() == f"{new}\n"
    assert (folder / "a").stat().st_ino == (folder / "b").stat().st_ino


async def test_a_new_file_is_made_with_its_folders_in_plain_utf_8(folder: Path) -> None:
    applied = await put(folder, "a/b/c.txt", create(folder, "a/b/c.txt", "é\r\n"))
    assert (applied.outcome, applied.after) == ("applied", digest_of("é\r\n"))
    assert (folder / "a/b/c.txt").read_bytes() == b"\xc3\xa9\r\n"
    assert names(folder) == ["a", "b", "c.txt"]


@posix
async def test_a_new_file_has_the_mode_that_new_files_have(folder: Path) -> None:
    (folder / "mine").write_text("")
    await put(folder, "new", create(folder, "new", ""))
    assert (folder / "new").stat().st_mode == (folder / "mine").stat().st_mode


async def test_a_file_that_came_meanwhile_is_not_written_over(folder: Path) -> None:
    change = create(folder, "f", "ours")
    (folder / "f").write_text("theirs")
    assert (await put(folder, "f", change)).outcome == "stale"
    assert (folder / "f").read_text() == "theirs"
    assert names(folder) == ["f"]


async def test_a_file_in_the_place_of_a_folder_is_named(folder: Path) -> None:
    (folder / "f").write_text("x")
    with pytest.raises(WorkspaceError) as caught:
        await disk.read(at(folder, "f/x.txt"))
    assert caught.value.code == "INVALID_ARGS"
    assert "f is a file" in str(caught.value)
    applied = await put(folder, "f/x.txt", create(folder, "f/x.txt", "t"))
    assert (applied.outcome, applied.code) == ("failed", "INVALID_ARGS")


async def test_a_text_that_changed_is_left_alone(folder: Path) -> None:
    (folder / "f").write_text("a\n")
    change = edit(folder, "f", "a", "b")
    (folder / "f").write_text("a user\n")
    applied = await put(folder, "f", change)
    assert (applied.outcome, applied.after) == ("stale", digest_of("a user\n"))
    assert (folder / "f").read_text() == "a user\n"


async def test_a_file_that_went_away_is_not_made_again(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub/f").write_text("a\n")
    change = edit(folder, "sub/f", "a", "b")
    (folder / "sub/f").unlink()
    assert (await put(folder, "sub/f", change)).outcome == "stale"
    (folder / "sub").rmdir()
    assert (await put(folder, "sub/f", change)).outcome == "stale"
    assert names(folder) == []


async def test_hunks_are_applied_one_after_another(folder: Path) -> None:
    text = "".join(f"{n}\n" for n in range(9))
    (folder / "f").write_text(text)
    place = at(folder, "f")
    change = make_change(place.uri, text, text.replace("1", "one").replace("7", ""), "edit")
    first, second = ids(change)
    assert (await disk.apply(place, change, (second,))).outcome == "applied"
    assert (await disk.apply(place, change, (first,))).outcome == "stale"
    assert (await disk.apply(place, change, (first,), (second,))).outcome == "applied"
    assert (folder / "f").read_text() == change.result


@pytest.mark.parametrize("hard_link", [False, True])
async def test_a_file_that_somebody_else_writes_in_between_is_left_to_them(
    folder: Path, hard_link: bool
) -> None:
    path = folder.resolve() / "f"
    path.write_text("old\n")
    if hard_link:
        os.link(path, folder / "g")
    with opened(path.parent) as held:
        found = files_disk.read(held, "f", 100)
        path.write_text("theirs\n")
        with pytest.raises(files_disk.Changed):
            files_disk.replace(held, "f", b"ours\n", found)
    assert path.read_text() == "theirs\n"
    assert names(folder) == ["f", "g"][: 1 + hard_link]


@posix
async def test_a_read_only_file_is_read_and_never_written(folder: Path) -> None:
    (folder / "f").write_text("a\n")
    (folder / "f").chmod(0o444)
    assert (await disk.read(at(folder, "f"))).read_only
    applied = await put(folder, "f", edit(folder, "f", "a", "b"))
    assert (applied.outcome, applied.code) == ("failed", "READ_ONLY")
    assert (folder / "f").read_text() == "a\n"


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file may grow beyond so many bytes."""
    import resource  # not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@posix
@pytest.mark.parametrize("hard_link", [False, True])
async def test_a_full_disk_leaves_the_old_text_and_nothing_beside_it(
    folder: Path, hard_link: bool
) -> None:
    (folder / "f").write_text("old\n" * 10)
    if hard_link:
        os.link(folder / "f", folder / "g")
    change = edit(folder, "f", "old", "much longer than it was")
    with full_disk(100):
        applied = await put(folder, "f", change)
    assert (applied.outcome, applied.code) == ("failed", "TOOL_FAILED")
    assert applied.said
    assert (folder / "f").read_text() == "old\n" * 10
    assert names(folder) == ["f", "g"][: 1 + hard_link]


@posix
async def test_a_new_file_on_a_full_disk_leaves_nothing(folder: Path) -> None:
    change = create(folder, "f", "x" * 1000)
    with full_disk(100):
        assert (await put(folder, "f", change)).outcome == "failed"
    assert names(folder) == []


async def test_what_lies_outside_is_not_written(folder: Path) -> None:
    outside = folder.parent / "victim.txt"
    outside.write_text("orig")
    (folder / "notes.md").symlink_to(outside)
    (folder / "d").symlink_to(folder.parent)
    for name in ("../victim.txt", "notes.md"):
        applied = await put(folder, name, edit(folder, name, "orig", "OWN"))
        assert (applied.outcome, applied.code) == ("failed", "OUTSIDE")
    applied = await put(folder, "d/new.txt", create(folder, "d/new.txt", "OWN"))
    assert applied.code == "OUTSIDE"
    assert outside.read_text() == "orig"
    assert not (folder.parent / "new.txt").exists()


@posix
async def test_a_file_that_becomes_a_link_after_it_was_resolved_is_not_followed(
    folder: Path,
) -> None:
    outside = folder.parent / "victim.txt"
    outside.write_text("orig")
    (folder / "f").write_text("orig")
    place, change = at(folder, "f"), edit(folder, "f", "orig", "OWN")
    (folder / "f").unlink()
    (folder / "f").symlink_to(outside)
    applied = await disk.apply(place, change, ids(change))
    assert (applied.outcome, applied.code) == ("failed", "OUTSIDE")
    with pytest.raises(WorkspaceError) as caught:
        await disk.read(place)
    assert caught.value.code == "OUTSIDE"
    assert outside.read_text() == "orig"


@posix
async def test_a_folder_swapped_for_a_link_while_files_are_written_leads_nowhere(
    folder: Path,
) -> None:
    outside, sub, aside = folder.parent / "outside", folder / "sub", folder / "aside"
    for place in (outside, sub):
        place.mkdir()
        (place / "f").write_text("orig 0")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            sub.rename(aside)
            sub.symlink_to(outside)
            stop.wait(0.0005)
            sub.unlink()
            aside.rename(sub)
            stop.wait(0.0005)

    thread = threading.Thread(target=swap)
    thread.start()
    applied = 0
    try:
        for _ in range(500):
            old, new = f"orig {applied}", f"orig {applied + 1}"
            change = make_change("file:///sub/f", old, new, "edit")
            with suppress(WorkspaceError):  # it changes too fast to be told where it is
                outcome = await disk.apply(at(folder, "sub/f"), change, ids(change))
                applied += outcome.outcome == "applied"
    finally:
        stop.set()
        thread.join()
    assert (outside / "f").read_text() == "orig 0"
    assert names(outside) == ["f"]
    assert (sub / "f").read_text() == f"orig {applied}"
    change = make_change("file:///sub/f", f"orig {applied}", "end", "edit")
    assert (await disk.apply(at(folder, "sub/f"), change, ids(change))).outcome == "applied"


@posix
async def test_what_is_no_regular_file_is_refused_without_waiting(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "null").symlink_to("/dev/null")
    (folder / "folder").mkdir()
    for name, said in (("pipe", "regular"), ("null", "regular"), ("folder", "list_files")):
        with pytest.raises(WorkspaceError, match=said) as caught:
            await disk.read(at(folder, name))
        assert caught.value.code == "NOT_FOUND"
        assert not isinstance(caught.value, Missing)


@pytest.mark.parametrize("name", ["nothing", "no/folder/either", "x" * 300])
async def test_what_is_not_there_can_not_be_read(folder: Path, name: str) -> None:
    with pytest.raises(WorkspaceError) as caught:
        await disk.read(at(folder, name))
    assert isinstance(caught.value, Missing) == (len(name) < 300)


async def test_a_binary_file_is_named_as_what_it_is(folder: Path) -> None:
    (folder / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    with pytest.raises(WorkspaceError, match=r"x\.png \(image/png, 16 bytes\)") as caught:
        await disk.read(at(folder, "x.png"))
    assert caught.value.code == "BINARY"


async def test_a_file_in_another_encoding_is_refused_and_not_touched(folder: Path) -> None:
    data = b"# caf\xe9 men\xfa\nprice = 5\n"
    (folder / "f").write_bytes(data)
    with pytest.raises(WorkspaceError) as caught:
        await disk.read(at(folder, "f"))
    assert caught.value.code == "ENCODING"
    change = make_change("file:///f", "price = 5\n", "price = 7\n", "edit")
    assert (await put(folder, "f", change)).code == "ENCODING"
    assert (folder / "f").read_bytes() == data


async def test_a_file_over_the_limit_is_refused(folder: Path) -> None:
    (folder / "f").write_text("x" * 11)
    small = DiskTexts(limit=10)
    with pytest.raises(WorkspaceError, match="11 bytes") as caught:
        await small.read(at(folder, "f"))
    assert caught.value.code == "TOO_LARGE"


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="a file that says size 0")  # noqa: PTH110
async def test_a_file_that_lies_about_its_size_is_bounded() -> None:
    with pytest.raises(WorkspaceError) as caught:
        await DiskTexts(limit=10).read(at(Path("/proc/self"), "/proc/self/status"))
    assert caught.value.code == "TOO_LARGE"
