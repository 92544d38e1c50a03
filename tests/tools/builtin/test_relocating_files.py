"""Deleting and renaming files: what is asked, what is kept, and what is refused."""

import sys
from pathlib import Path

import pytest

from turnbuckle.session.events import EditApplied, EditApplying
from turnbuckle.testing.workspace import Desk
from turnbuckle.tools.builtin.delete_file import DeleteFile, delete_file
from turnbuckle.tools.builtin.rename_file import RenameFile, rename_file
from turnbuckle.tools.subject import describe
from turnbuckle.tools.tool import Change, Prepared, ToolError
from turnbuckle.workspace.changes import digest_of, patch
from turnbuckle.workspace.paths import uri_of

TEXT = "one\r\ntwo\n"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk with a file that was read."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "f").write_bytes(TEXT.encode())
    return Desk(folder, digests={uri_of(folder / "f"): digest_of(TEXT)})


async def deletion(desk: Desk, path: str = "f") -> Prepared:
    return await delete_file().prepare(DeleteFile(path=path), desk.workspace)


async def renaming(desk: Desk, to: str, path: str = "f") -> Prepared:
    return await rename_file().prepare(RenameFile(path=path, to=to), desk.workspace)


async def test_a_deleted_file_is_gone_and_what_it_held_is_kept(desk: Desk) -> None:
    prepared = await deletion(desk)
    assert isinstance(prepared.subject, Change)
    (row,) = describe(prepared.subject)["files"]
    assert (row["kind"], row["hunks"][0]["oldText"], row["hunks"][0]["newText"]) == (
        "delete", TEXT, "",
    )  # fmt: skip
    assert "+++ /dev/null" in patch(prepared.subject.files[0])
    outcome = await desk.perform(prepared)
    assert outcome.content == "Deleted f (−2)."
    assert not (desk.folder / "f").exists()
    applying, applied = desk.facts
    assert isinstance(applying, EditApplying)
    assert isinstance(applied, EditApplied)
    assert await desk.blobs.get(applying.before or "") == TEXT.encode()
    assert (applied.outcome, applied.after) == ("applied", "")


async def test_a_file_that_was_changed_meanwhile_is_not_deleted(desk: Desk) -> None:
    prepared = await deletion(desk)
    (desk.folder / "f").write_text("mine\n")
    with pytest.raises(ToolError) as caught:
        await desk.perform(prepared)
    assert caught.value.code == "STALE"
    assert (desk.folder / "f").read_text() == "mine\n"


async def test_what_was_not_read_or_is_not_there_is_not_deleted(desk: Desk) -> None:
    (desk.folder / "g").write_text("g")
    for path, code in (("g", "UNREAD"), ("h", "NOT_FOUND"), ("..", "OUTSIDE")):
        with pytest.raises(ToolError) as caught:
            await deletion(desk, path)
        assert caught.value.code == code
    (desk.folder / "f").write_text("mine\n")
    with pytest.raises(ToolError) as caught:
        await deletion(desk)
    assert caught.value.code == "STALE"


async def test_a_renamed_file_keeps_its_bytes_and_folders_are_made(desk: Desk) -> None:
    old = desk.folder / "f"
    old.chmod(0o640)
    prepared = await renaming(desk, "a/b/g")
    assert isinstance(prepared.subject, Change)
    rows = describe(prepared.subject)["files"]
    target = desk.folder / "a" / "b" / "g"
    assert [(row["uri"], row["kind"]) for row in rows] == [
        (uri_of(old), "rename"),
        (uri_of(target), "create"),
    ]
    assert rows[0]["newUri"] == uri_of(target)
    assert len(prepared.subject.hunk_ids) == 1
    outcome = await desk.perform(prepared)
    assert outcome.content == "Renamed f to a/b/g."
    assert not old.exists()
    assert target.read_bytes() == TEXT.encode()
    if sys.platform != "win32":
        assert target.stat().st_mode & 0o777 == 0o640
    assert outcome.meta is not None
    assert outcome.meta["read"] == {"uri": uri_of(target), "digest": digest_of(TEXT)}
    told = [(f.uri, f.after) for f in desk.facts if isinstance(f, EditApplied)]
    assert told == [(uri_of(old), ""), (uri_of(target), digest_of(TEXT))]


async def test_nothing_is_replaced_by_renaming(desk: Desk) -> None:
    prepared = await renaming(desk, "g")
    (desk.folder / "g").write_text("mine")
    with pytest.raises(ToolError, match="something stands there already") as caught:
        await desk.perform(prepared)
    assert caught.value.code == "STALE"
    assert (desk.folder / "g").read_text() == "mine"
    assert (desk.folder / "f").exists()
    for to in ("g", "f", "."):
        with pytest.raises(ToolError) as caught:
            await renaming(desk, to)
        assert caught.value.code == "INVALID_ARGS"


async def test_a_place_outside_is_no_target(desk: Desk) -> None:
    with pytest.raises(ToolError) as caught:
        await renaming(desk, "../g")
    assert caught.value.code == "OUTSIDE"


async def test_a_link_that_appears_on_the_way_is_not_followed(desk: Desk) -> None:
    prepared = await renaming(desk, "sub/g")
    outside = desk.folder.parent / "outside"
    outside.mkdir()
    try:
        (desk.folder / "sub").symlink_to(outside, target_is_directory=True)
    except OSError:
        pytest.skip("links cannot be made here")
    with pytest.raises(ToolError):
        await desk.perform(prepared)
    assert (desk.folder / "f").exists()
    assert list(outside.iterdir()) == []
