"""Whatever stands at a place: each tool answers, waits for nothing, and harms nothing beside it."""

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from turnbuckle.testing.workspace import Desk
from turnbuckle.tools.builtin.delete_file import DeleteFile, delete_file
from turnbuckle.tools.builtin.edit_file import EditFile, OneEdit, edit_file
from turnbuckle.tools.builtin.list_files import ListFiles, list_files
from turnbuckle.tools.builtin.read_file import ReadFile, read_file
from turnbuckle.tools.builtin.rename_file import RenameFile, rename_file
from turnbuckle.tools.builtin.search import Search, search
from turnbuckle.tools.builtin.write_file import WriteFile, write_file
from turnbuckle.tools.tool import Prepared, ToolError
from turnbuckle.workspace.port import Workspace
from turnbuckle.workspace.tree import walk

pytestmark = pytest.mark.skipif(os.name == "nt", reason="what POSIX has in its folders")

SOON = 20
"""Seconds in which every tool answers, whatever stands there; it is a bound for hangs."""


async def tool(name: str, path: str, workspace: Workspace) -> Prepared:
    """A call of a tool on a path."""
    match name:
        case "read":
            return await read_file().prepare(ReadFile(path=path), workspace)
        case "write":
            return await write_file().prepare(WriteFile(path=path, content="new\n"), workspace)
        case "edit":
            edits = [OneEdit(old="x", new="y")]
            return await edit_file().prepare(EditFile(path=path, edits=edits), workspace)
        case "delete":
            return await delete_file().prepare(DeleteFile(path=path), workspace)
        case "rename":
            return await rename_file().prepare(RenameFile(path=path, to="moved"), workspace)
        case "take":
            return await rename_file().prepare(RenameFile(path="known", to=path), workspace)
        case "list":
            return await list_files().prepare(ListFiles(path=path), workspace)
        case _:
            return await search().prepare(Search(pattern="x", path=path), workspace)


TOOLS = ("read", "write", "edit", "delete", "rename", "take", "list", "search")
CHANGING = ("write", "edit", "delete", "rename", "take")


@pytest.fixture
async def desk(tmp_path: Path) -> Desk:
    """A folder with one file that was read, `known`."""
    (tmp_path / "work").mkdir()
    made = Desk(tmp_path / "work")
    (made.folder / "known").write_text("x\n")
    await answer(made, "read", "known")
    return made


async def answer(desk: Desk, name: str, path: str) -> str:
    """What a tool says of a path, its refusals by their code."""
    with anyio.fail_after(SOON):
        try:
            return (await desk.perform(await tool(name, path, desk.workspace))).content
        except ToolError as error:
            return error.code


def fifo(path: Path) -> None:
    os.mkfifo(path)


def bound(path: Path) -> None:
    here = Path.cwd()
    with socket.socket(socket.AF_UNIX) as made:
        os.chdir(path.parent)  # the names of sockets are short
        made.bind(path.name)
        os.chdir(here)


def link(target: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.symlink_to(target)

    return make


def folder(path: Path) -> None:
    path.mkdir()


MADE: dict[str, Callable[[Path], None]] = {
    "pipe": fifo,
    "socket": bound,
    "folder": folder,
    "itself": link("thing"),
    "null": link("/dev/null"),
    "zero": link("/dev/zero"),
    "terminal": link("/dev/tty"),
    "outside": link("../beside"),
    "a link to nothing outside": link("../nothing"),
}


@pytest.mark.parametrize("kind", MADE)
async def test_what_is_no_file_is_not_waited_for_and_not_changed(desk: Desk, kind: str) -> None:
    thing, beside = desk.folder / "thing", desk.folder.parent / "beside"
    beside.write_text("x, as it was\n")
    MADE[kind](thing)
    was = thing.lstat()
    for name in TOOLS:
        said = await answer(desk, name, "thing")
        if name in CHANGING:
            assert said in ("NOT_FOUND", "OUTSIDE", "INVALID_ARGS"), (name, said)
    now = thing.lstat()
    assert (now.st_ino, now.st_mode, now.st_size) == (was.st_ino, was.st_mode, was.st_size)
    assert beside.read_text() == "x, as it was\n"
    assert names(desk.folder.parent) <= {"beside", "work", "work.blobs"}
    assert (desk.folder / "known").read_text() == "x\n"


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize(
    "path",
    ["x" * 300, "d/" * 3000 + "x", "known/x", "\0", "\ud800", "https://example.org/x", "~", "~/x"],
    ids=["long name", "long path", "below a file", "NUL", "half a character", "web", "~", "in ~"],
)
async def test_names_of_nothing_are_refused_and_nothing_is_made(
    desk: Desk, name: str, path: str
) -> None:
    assert await answer(desk, name, path) in ("INVALID_ARGS", "TOOL_FAILED", "NOT_FOUND")
    assert names(desk.folder) == {"known"}


async def test_a_folder_called_as_the_home_folder_is_used_where_it_is_there(desk: Desk) -> None:
    (desk.folder / "~").mkdir()
    assert "Created" in await answer(desk, "write", "~/x")
    assert (desk.folder / "~" / "x").read_text() == "new\n"


@pytest.mark.skipif(sys.platform != "linux", reason="files that the system makes up")
@pytest.mark.parametrize("path", ["/proc/self/mem", "/proc/self/environ", "/proc/kmsg"])
async def test_files_that_the_system_makes_up_are_read_or_refused(desk: Desk, path: str) -> None:
    said = await answer(desk, "read", path)
    assert said in ("TOOL_FAILED", "BINARY", "ENCODING", "NOT_FOUND") or "lines" in said
    for name in CHANGING:
        assert await answer(desk, name, path) == "OUTSIDE"


async def test_a_binary_file_without_a_size_is_not_said_to_have_none(desk: Desk) -> None:
    if not Path("/proc/self/environ").exists():
        pytest.skip("files that the system makes up")
    reading = await tool("read", "/proc/self/environ", desk.workspace)
    with pytest.raises(ToolError) as caught:
        await desk.perform(reading)
    assert "0 bytes" not in str(caught.value)


async def test_a_name_in_bytes_that_are_no_text_is_read_and_written(desk: Desk) -> None:
    if sys.platform == "darwin":
        pytest.skip("names are text there")
    raw = os.fsencode(desk.folder) + b"/\xff\xfe"
    Path(os.fsdecode(raw)).write_text("x\n")
    name = "\udcff\udcfe"
    assert "x" in await answer(desk, "read", name)
    assert "Changed" in await answer(desk, "edit", name)
    assert Path(os.fsdecode(raw)).read_text() == "y\n"


async def test_where_no_file_can_be_the_new_name_is_not_said_to_be_taken(desk: Desk) -> None:
    with pytest.raises(ToolError, match="known is a file and no folder"):
        await tool("take", "known/x", desk.workspace)


def test_a_folder_that_cannot_be_looked_into_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / ".gitignore").symlink_to("x" * 300)  # asking for it fails
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "f").touch()
    (tmp_path / "c").mkdir()
    os.mkfifo(tmp_path / "c" / ".gitignore")
    assert "b/f" in [entry.path for entry in walk(tmp_path)]
